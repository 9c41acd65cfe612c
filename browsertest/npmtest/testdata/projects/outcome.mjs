// What each project shows, and reports to the test: the violations of the page's policy, and what the user sees.
globalThis.violations = [];
addEventListener('securitypolicyviolation', (e) => globalThis.violations.push(`${e.effectiveDirective} ${e.blockedURI}`));

export const text = '# Hello\n\n*you* <script>x</script> [a link](https://example.org/)\n';

export const report = async (element, bailey) => {
  await element.flush();
  const outcome = { html: await element.section('1').html(), height: element.height > 0 };
  if (bailey) outcome.sum = (await (await bailey).run('const a: number = args.a\nreturn a + args.b', { args: { a: 1, b: 2 }, language: 'typescript' })).value;
  globalThis.outcome = outcome;
};

/** Shows the text as a stream in an element of the page, without a framework. */
export const show = (bailey) => {
  const element = document.createElement('bailey-document');
  element.label = 'Answer';
  element.addEventListener('link', (e) => { globalThis.link = e.detail.url; });
  element.addEventListener('error', (e) => { globalThis.failed = e.detail.message; });
  document.getElementById('app').append(element);
  for (const token of text.match(/[^]{1,7}/gu)) element.append(token);
  report(element, bailey).catch((e) => { globalThis.failed = e.message; });
};
