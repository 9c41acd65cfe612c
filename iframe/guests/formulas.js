// A formula that Temml does not understand has no drawing, so its TeX stays.
return args.map(({ text, display }) => {
  try {
    return temml.renderToString(text, { displayMode: display, throwOnError: true, trust: false, maxExpand: 500 });
  } catch (e) {
    return null;
  }
});
