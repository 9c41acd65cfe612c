// Runs @imagemagick/magick-wasm as a command: magick IN [-option value]... OUT. It is loaded after
// index.umd.cjs of that package, which is a library without a command line. A name is only ever the
// name of a file: ImageMagick gets the bytes, and never a name that could be a coder's (https:, msl:, @list).
self.baileyProgram = async ({ args, read, write, print, module, ready }) => {
  const m = self['magick-wasm'], usage = 'usage: magick IN [options] OUT; options: ';
  const geometry = (s) => new m.MagickGeometry(s);
  const number = (s) => {
    if (!/^-?\d+(\.\d+)?$/.test(s)) throw new Error(JSON.stringify(s) + ' is no number');
    return +s;
  };
  const OPTIONS = {
    '-resize': [1, (i, v) => i.resize(geometry(v))],
    '-thumbnail': [1, (i, v) => i.thumbnail(geometry(v))],
    '-crop': [1, (i, v) => i.crop(geometry(v))],
    '-rotate': [1, (i, v) => i.rotate(number(v))],
    '-blur': [1, (i, v) => i.blur(...v.split('x').map(number))],
    '-quality': [1, (i, v) => void (i.quality = number(v))],
    '-strip': [0, (i) => i.strip()],
    '-auto-orient': [0, (i) => i.autoOrient()],
    '-flip': [0, (i) => i.flip()],
    '-flop': [0, (i) => i.flop()],
    '-negate': [0, (i) => i.negate()],
  };
  const fail = (why) => (print(2, 'magick: ' + why), 1);
  const identify = args[0] === 'identify', names = [], steps = [];
  for (let n = identify ? 1 : 0; n < args.length; n++) {
    const option = OPTIONS[args[n]];
    if (args[n][0] !== '-') names.push(args[n]);
    else if (!option || identify) return fail(args[n] + ' is no option here. ' + usage + Object.keys(OPTIONS).join(' '));
    else if (option[0] && n + 1 === args.length) return fail(args[n] + ' needs a value');
    else steps.push([option[1], option[0] ? args[++n] : '']);
  }
  for (const name of names) if (name[0] === '@' || /^[A-Za-z0-9-]+:/.test(name)) return fail(name + ': a name is that of a file, without a format: or @ before it');
  if (names.length !== (identify ? 1 : 2)) return fail(usage + Object.keys(OPTIONS).join(' ') + '; or magick identify IN');
  const Instance = WebAssembly.Instance;
  WebAssembly.Instance = function (of, imports) {
    const made = new Instance(of, imports);
    ready(made);
    return made;
  };
  await m.initializeImageMagick(module);
  m.ResourceLimits.width = m.ResourceLimits.height = 16384n;
  m.ResourceLimits.area = m.ResourceLimits.maxMemoryRequest = 256n << 20n;
  try {
    let data;
    try {
      data = await read(names[0]);
    } catch (e) {
      return fail(names[0] + ': ' + e.message);
    }
    const info = identify && m.MagickImageInfo.create(data);
    if (info) return print(1, names[0] + ' ' + info.format + ' ' + info.width + 'x' + info.height), 0;
    const ext = names[1].slice(names[1].lastIndexOf('.') + 1).toUpperCase(), format = m.Magick.supportedFormats.find((f) => f.format === ext && f.supportsWriting);
    if (!format) return fail(names[1] + ': there is no format ' + ext);
    const out = m.ImageMagick.read(data, (image) => {
      for (const [step, value] of steps) step(image, value);
      return image.write(format.format, (bytes) => bytes.slice());
    });
    await write(names[1], out);
    return 0;
  } catch (e) {
    if (e instanceof WebAssembly.RuntimeError) throw e;
    return fail(names[0] + ': ' + (e.message ?? e));
  }
};
