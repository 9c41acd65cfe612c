// Runs @ffmpeg/core as a command. It is loaded after ffmpeg-core.js of that package.
self.baileyProgram = async ({ args, into, back, print, module, ready }) => {
  const core = await createFFmpegCore({
    instantiateWasm: (imports, receive) => void WebAssembly.instantiate(module, imports).then(async (instance) => (await ready(instance), receive(instance))),
  });
  core.setLogger(({ type, message }) => print(type === 'stdout' ? 1 : 2, message));
  await into(core.FS);
  const code = core.exec(...args);
  if (code === 0) await back(core.FS);
  return code;
};
