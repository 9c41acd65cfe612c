// The page's own mechanics, which need no program: panes, drawers, menus, widths and keys. What is chosen here
// is stored in localStorage, apart from the settings.
(() => {
  'use strict';
  const body = document.body;
  const root = document.documentElement;
  /** @param {string} id */
  const get = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
  /** @param {string} selector */
  const all = (selector) => /** @type {HTMLElement[]} */ ([...document.querySelectorAll(selector)]);
  const place = 'bailey-files-panes';
  /** @type {Record<string, string>} */
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem(place) ?? '{}');
  } catch {}
  /** @param {string} name @param {string} value */
  const keep = (name, value) => {
    kept[name] = value;
    try {
      localStorage.setItem(place, JSON.stringify(kept));
    } catch {}
  };

  // ---- panes ----------------------------------------------------------------------
  /** @param {string} name chat, files or activity: the one pane of a small window */
  const pane = (name) => {
    body.dataset.pane = name;
    for (const b of all('#bottom [data-pane]')) b.setAttribute('aria-pressed', String(b.dataset.pane === name));
  };
  /** @param {boolean} open the right pane, where it is a drawer */
  const drawer = (open) => {
    body.toggleAttribute('data-drawer', open);
    get('panes').setAttribute('aria-expanded', String(open));
  };
  /** @param {boolean} open */
  const side = (open) => {
    body.dataset.side = open ? 'on' : 'off';
    get('side').setAttribute('aria-expanded', String(open));
  };
  pane('chat');
  side(kept.side !== 'off');
  for (const b of all('#bottom [data-pane]')) b.addEventListener('click', () => pane(b.dataset.pane ?? 'chat'));
  get('side').addEventListener('click', () => {
    side(body.dataset.side === 'off');
    keep('side', body.dataset.side ?? 'on');
  });
  get('panes').addEventListener('click', () => drawer(!body.hasAttribute('data-drawer')));
  get('aside-close').addEventListener('click', () => {
    drawer(false);
    get('panes').focus();
  });
  for (const tab of all('#panels [role=tab]')) { // the program shows the pane by a click on one of its tabs
    tab.addEventListener('click', () => {
      drawer(true);
      pane('activity');
    });
  }
  for (const b of all('.fold [aria-controls]')) {
    const fold = (/** @type {boolean} */ open) => b.setAttribute('aria-expanded', String(open));
    const name = 'fold ' + b.getAttribute('aria-controls');
    fold(kept[name] !== 'no');
    b.addEventListener('click', () => {
      fold(b.getAttribute('aria-expanded') === 'false');
      keep(name, b.getAttribute('aria-expanded') === 'true' ? 'yes' : 'no');
    });
  }

  // ---- apps -------------------------------------------------------------------------
  // The page of a tool can take the focus at any time, and no browser has a way to forbid it: also an inert frame takes
  // it. So the page of a tool may have it where the pointer is, after Tab, and while it has it. Elsewhere its place is
  // inert, by which the page hears the pointer come. A focus that comes to an inert place is given back at once.
  const ask = get('ask'), modal = /** @type {HTMLDialogElement} */ (get('dialog'));
  /** @type {EventTarget | null} */
  let had = null; // the element whose focus ends now
  const used = () => document.activeElement?.closest('.stage:not([inert])');
  const secret = () => !!document.activeElement?.matches('[type=password]');
  /** @param {(Element | null | undefined)[]} may elements whose apps may have the focus */
  const hold = (...may) => {
    for (const stage of all('.app > .stage')) {
      const yes = !ask.hidden || !may.some((e) => e?.contains(stage));
      if (stage.inert !== yes) stage.inert = yes;
    }
  };
  addEventListener('focusin', (e) => { if (e.target instanceof Element && !e.target.closest('.stage')) hold(); }, true);
  addEventListener('keydown', (e) => hold(e.key === 'Tab' ? body : used()), true);
  addEventListener('input', () => hold(used()), true);
  addEventListener('pointerdown', (e) => { if (e.target instanceof Element) hold(e.target.closest('.app'), used()); }, true);
  addEventListener('pointermove', (e) => {
    if (e.target instanceof Element && (e.movementX || e.movementY)) hold(secret() ? null : e.target.closest('.app'), used());
  }, true);
  addEventListener('focusout', (e) => {
    const last = had = e.composedPath()[0];
    setTimeout(() => { if (had === last) had = null; });
  }, true);
  addEventListener('blur', () => {
    const stage = /** @type {HTMLElement | null} */ (document.activeElement?.closest('.app > .stage'));
    if (!stage) return;
    if (!stage.inert && !modal.open) return hold(stage);
    const back = had;
    setTimeout(() => { // Chromium ignores a change of the focus during this event
      if (back instanceof HTMLElement) back.focus({preventScroll: true});
      if (stage.contains(document.activeElement)) /** @type {HTMLElement} */ (document.activeElement).blur();
      stage.dispatchEvent(new CustomEvent('taken', {detail: modal.open || !ask.hidden || secret()}));
    });
  });
  addEventListener('keydown', (e) => {
    const back = e.key === 'Escape' && /** @type {HTMLElement | null} */ (document.querySelector('.app.large .enlarge'));
    if (!back) return;
    e.stopPropagation(); // it would stop the assistant
    back.click();
  }, true);
  new MutationObserver(() => hold()).observe(ask, {attributeFilter: ['hidden']});

  // ---- widths -----------------------------------------------------------------------
  for (const bar of all('.split')) {
    const name = bar.dataset.size ?? '';
    const right = name === '--right';
    const least = Number(bar.getAttribute('aria-valuemin')), most = Number(bar.getAttribute('aria-valuemax'));
    const set = (/** @type {number} */ px) => {
      const now = Math.round(Math.min(most, innerWidth * 0.6, Math.max(least, px)));
      root.style.setProperty(name, now + 'px');
      bar.setAttribute('aria-valuenow', String(now));
    };
    if (Number(kept[name]) > 0) set(Number(kept[name]));
    const done = () => keep(name, bar.getAttribute('aria-valuenow') ?? '');
    bar.addEventListener('pointerdown', (e) => bar.setPointerCapture(e.pointerId));
    bar.addEventListener('pointermove', (e) => {
      if (!bar.hasPointerCapture(e.pointerId)) return;
      const box = /** @type {HTMLElement} */ (bar.closest('.columns')).getBoundingClientRect();
      set(right ? box.right - e.clientX - 16 : e.clientX - box.left - 16);
    });
    bar.addEventListener('pointerup', done);
    bar.addEventListener('keydown', (e) => {
      const step = {ArrowLeft: -16, ArrowRight: 16}[e.key];
      if (!step) return;
      e.preventDefault();
      set(Number(bar.getAttribute('aria-valuenow')) + (right ? -step : step));
      done();
    });
  }

  // ---- menus -------------------------------------------------------------------------
  // A menu is put below the element that opened it, or above if there is no room.
  /** @type {Element | null} */
  let opener = null;
  addEventListener('click', (e) => {
    if (e.target instanceof Element) opener = e.target.closest('[popovertarget], [data-menu]') ?? opener;
  }, true);
  for (const menu of all('.menu')) {
    menu.addEventListener('toggle', (e) => {
      if (/** @type {ToggleEvent} */ (e).newState !== 'open') return;
      const from = (opener ?? document.querySelector(`[popovertarget=${menu.id}]`) ?? body).getBoundingClientRect();
      const box = menu.getBoundingClientRect();
      const below = from.bottom + 4 + box.height <= innerHeight;
      menu.style.left = Math.max(4, Math.min(from.left, innerWidth - box.width - 4)) + 'px';
      menu.style.top = Math.max(4, below ? from.bottom + 4 : from.top - box.height - 4) + 'px';
      /** @type {HTMLElement | null} */ (menu.querySelector('button:enabled'))?.focus();
    });
    menu.addEventListener('click', (e) => {
      if (e.target instanceof Element && e.target.closest('button')) menu.hidePopover();
    }, true); // before the program shows a dialogue, which gives the focus back to the menu's opener
    menu.addEventListener('keydown', (e) => {
      const list = /** @type {HTMLElement[]} */ ([...menu.querySelectorAll('button:enabled')]).filter((b) => b.checkVisibility());
      const step = {ArrowDown: 1, ArrowUp: list.length - 1}[e.key];
      if (!step || !list.length) return;
      e.preventDefault();
      list[(list.indexOf(/** @type {HTMLElement} */ (document.activeElement)) + step) % list.length].focus();
    });
  }

  // ---- the start screen ---------------------------------------------------------------
  for (const b of all('[data-press]')) b.addEventListener('click', () => get(b.dataset.press ?? '').click());
  const form = get('settings-form'), home = get('settings'), door = get('door'), connect = get('connect');
  const inline = (/** @type {boolean} */ open) => { // the one form to connect a model moves to where it is used
    connect.setAttribute('aria-expanded', String(open));
    door.hidden = !open;
    open ? door.append(form) : home.prepend(form);
  };
  connect.addEventListener('click', () => {
    inline(!!door.hidden);
    dispatchEvent(new Event('bailey-connect'));
  });
  get('tab-settings').addEventListener('click', () => inline(false));
  new MutationObserver(() => { if (get('welcome').hidden && !door.hidden) inline(false); }).observe(get('welcome'), {attributeFilter: ['hidden']});
  const provider = /** @type {HTMLSelectElement} */ (get('provider'));
  const cards = () => {
    for (const b of all('[data-provider]')) {
      b.setAttribute('aria-pressed', String(b.dataset.provider === provider.value));
      const option = /** @type {HTMLOptionElement | null} */ (provider.querySelector(`[value=${b.dataset.provider}]`));
      if (b.hasAttribute('disabled') !== !!option?.disabled) b.toggleAttribute('disabled'); // a change that is none would be seen as one
    }
    for (const id of ['test', 'wipe']) if (get(id).hidden !== get('remote').hidden) get(id).hidden = get('remote').hidden;
  };
  for (const b of all('[data-provider]')) {
    b.addEventListener('click', () => {
      provider.value = b.dataset.provider ?? '';
      provider.dispatchEvent(new Event('change'));
    });
  }
  new MutationObserver(cards).observe(form, {attributes: true, subtree: true, attributeFilter: ['hidden', 'disabled']});
  provider.addEventListener('change', cards);
  addEventListener('bailey-connect', cards);
  get('tab-settings').addEventListener('click', cards);
  for (const id of ['model-more', 'change-model']) get(id).addEventListener('click', () => get('tab-settings').click());

  // ---- the end of the talk -------------------------------------------------------------
  const talk = get('talk'), latest = get('latest');
  const atEnd = () => { latest.hidden = !get('welcome').hidden || talk.scrollHeight - talk.scrollTop - talk.clientHeight < 160; };
  talk.addEventListener('scroll', atEnd, {passive: true});
  new ResizeObserver(atEnd).observe(get('papers'));
  // The drawer ends above the message field, so that Stop and Send are never below it.
  const state = /** @type {HTMLElement} */ (document.querySelector('.state')), main = /** @type {HTMLElement} */ (document.querySelector('main'));
  const foot = new ResizeObserver(() => body.style.setProperty('--foot', `${main.getBoundingClientRect().bottom - state.getBoundingClientRect().top}px`));
  for (const el of [main, state, get('composer')]) foot.observe(el);
  latest.addEventListener('click', () => talk.scrollTo(0, talk.scrollHeight));

  // ---- the field -------------------------------------------------------------------------
  const text = /** @type {HTMLTextAreaElement} */ (get('text'));
  if (!CSS.supports('field-sizing', 'content')) {
    const grow = () => {
      text.style.height = 'auto';
      text.style.height = text.scrollHeight + 'px';
    };
    text.addEventListener('input', grow);
    text.addEventListener('focus', grow);
  }
  if (document.activeElement === body) text.focus();

  // ---- leaving -----------------------------------------------------------------------------
  addEventListener('beforeunload', (e) => {
    if (body.dataset.works) e.preventDefault();
  });

  // ---- keys ----------------------------------------------------------------------------------
  /** @type {Record<string, () => void>} */
  const keys = {
    'alt n': () => get('new').click(),
    'alt i': () => { pane('chat'); text.focus(); },
    'alt c': () => { pane('files'); side(true); get('find-chat').focus(); },
    'alt f': () => { pane('files'); side(true); get('tree').focus(); },
    'alt v': () => get('tab-file').click(),
    'alt a': () => get('tab-steps').click(),
    'alt h': () => get('tab-undo').click(),
    'alt s': () => get('tab-settings').click(),
    'alt b': () => get('side').click(),
    'alt end': () => latest.click(),
  };
  addEventListener('keydown', (e) => {
    if (e.defaultPrevented || e.isComposing || /** @type {HTMLDialogElement} */ (get('dialog')).open) return;
    const el = e.target instanceof Element ? e.target : body;
    if (e.key === '?' && !el.matches('input, textarea, select, [contenteditable]')) {
      e.preventDefault();
      get('help').click();
      return;
    }
    if (e.key === 'Escape' && body.hasAttribute('data-drawer') && !body.dataset.works && el.closest('aside')) {
      drawer(false);
      get('panes').focus();
      return;
    }
    if (!e.altKey || e.ctrlKey || e.metaKey) return;
    const act = keys['alt ' + (e.code.startsWith('Key') ? e.code.slice(3) : e.key).toLowerCase()];
    if (!act) return;
    e.preventDefault();
    act();
  });
})();
