// highlight.js writes HTML: spans with a class, and text with five references. This returns
// the text of the pieces with their innermost class.
const references = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#x27;': "'" };
const pieces = (html) => {
  const out = [], classes = [''];
  for (const [, open, end, text] of html.matchAll(/<span class="([^"]*)">|(<\/span>)|([^<]+)/g)) {
    if (end) { classes.pop(); continue; }
    if (open !== undefined) {
      // hljs-title function_ becomes title-function
      const [first, ...rest] = open.split(' ');
      classes.push(first.startsWith('hljs-') ? [first.slice(5), ...rest].join('-').replaceAll('_', '') : classes.at(-1));
      continue;
    }
    const plain = text.replace(/&(?:amp|lt|gt|quot|#x27);/g, (s) => references[s]);
    const last = out.length - 2;
    if (last >= 0 && (out[last] === classes.at(-1) || last >= 2 * 4999)) out[last + 1] += plain;
    else out.push(classes.at(-1), plain);
  }
  return out;
};
return args.map(({ lang, text }) => {
  try {
    return pieces(hljs.highlight(text, { language: lang, ignoreIllegals: true }).value);
  } catch (e) {
    return null;
  }
});
