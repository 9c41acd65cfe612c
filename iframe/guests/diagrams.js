// The library's colours are variables of a style, which is left out. A shape that the text fills with a colour
// has it as its border, so that texts stay legible in both colour schemes.
const names = { bg: 'background', fg: 'text', _text: 'text', '_text-sec': 'muted', '_text-muted': 'muted', '_text-faint': 'muted', _line: 'muted', _arrow: 'muted',
  '_node-fill': 'surface', '_node-stroke': 'border', '_group-fill': 'background', '_group-hdr': 'surface', '_inner-stroke': 'border', '_key-badge': 'surface' };
const own = (tag) => {
  const fill = / fill="(#[0-9a-fA-F]{3,8})"/.exec(tag);
  if (!fill) return tag;
  if (/^<(text|tspan)/.test(tag)) return tag.replace(fill[0], ' fill="var(--bailey-text)"');
  return tag.replace(fill[0], ' fill="var(--bailey-surface)"').replace(/ stroke="var[^"]*"/, ' stroke="' + fill[1] + '"');
};
return Promise.all(args.map(async ({ text }) => {
  try {
    const svg = await beautifulMermaid.renderMermaid(text, { transparent: true, padding: 8 });
    return svg.replace(/<style>[^]*?<\/style>/, '').replace(/var\(--([\w-]+)\)/g, (_, name) => 'var(--bailey-' + (names[name] ?? 'text') + ')').replace(/<\w[^>]*>/g, own);
  } catch (e) {
    return null;
  }
}));
