// @ts-check
// Gives a textarea the keys of an editor. Edits use insertText, so the browser's undo works. Escape
// and then Tab moves the focus out of it.
'use strict';
(() => {
  const code = /** @type {HTMLTextAreaElement} */ (document.getElementById('code'));
  const form = /** @type {HTMLFormElement} */ (document.getElementById('form'));
  const insert = (/** @type {string} */ text) => document.execCommand(text ? 'insertText' : 'delete', false, text);
  let leaving = false;

  /** Changes each line of the selection. @param {(line: string) => string} change */
  const lines = (change) => {
    const { value, selectionStart, selectionEnd } = code;
    const from = value.lastIndexOf('\n', selectionStart - 1) + 1;
    const to = value.indexOf('\n', Math.max(selectionEnd - (selectionEnd > selectionStart ? 1 : 0), from));
    const end = to < 0 ? value.length : to;
    const before = value.slice(from, end).split('\n'), after = before.map(change);
    if (before.join('\n') === after.join('\n')) return;
    code.setSelectionRange(from, end);
    insert(after.join('\n'));
    if (before.length > 1) code.setSelectionRange(from, from + after.join('\n').length);
    else {
      const at = Math.max(from, selectionEnd + after[0].length - before[0].length);
      code.setSelectionRange(at, at);
    }
  };

  code.addEventListener('keydown', (e) => {
    const command = e.ctrlKey || e.metaKey;
    if (e.key === 'Escape') return void (leaving = true);
    if (e.key === 'Tab' && !leaving && !command && !e.altKey) {
      e.preventDefault();
      if (e.shiftKey) lines((l) => l.replace(/^ {1,2}|^\t/, ''));
      else if (code.value.slice(code.selectionStart, code.selectionEnd).includes('\n')) lines((l) => l && '  ' + l);
      else insert('  ');
    } else if (e.key === 'Enter' && command) {
      e.preventDefault();
      form.requestSubmit();
    } else if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
      const line = code.value.slice(code.value.lastIndexOf('\n', code.selectionStart - 1) + 1, code.selectionStart);
      const indent = /^\s*/.exec(line)?.[0] ?? '';
      e.preventDefault();
      insert('\n' + indent + (/[{([]\s*$/.test(line) ? '  ' : ''));
    } else if (e.key === '/' && command) {
      e.preventDefault();
      const on = code.value.slice(code.value.lastIndexOf('\n', code.selectionStart - 1) + 1).trimStart().startsWith('//');
      lines((l) => (on ? l.replace(/^(\s*)\/\/ ?/, '$1') : l.replace(/^(\s*)/, '$1// ')));
    }
    if (e.key !== 'Shift') leaving = false;
  });
})();
