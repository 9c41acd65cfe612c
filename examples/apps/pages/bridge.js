// The client's side of MCP Apps (SEP-1865), without a library.
const waits = new Map();
let number = 0;
const post = (m) => parent.postMessage({jsonrpc: '2.0', ...m}, '*');
const ask = (method, params) => new Promise((ok, no) => { waits.set(++number, {ok, no}); post({id: number, method, params}); });
const say = (data, level = 'info') => post({method: 'notifications/message', params: {level, data}});
const call = (name, args) => ask('tools/call', {name, arguments: args});
const heard = {};
addEventListener('message', ({source, data: m}) => {
  if (source !== parent) return;
  const w = waits.get(m.id);
  if (w && !m.method) {
    waits.delete(m.id);
    return m.error ? w.no(new Error(m.error.message)) : w.ok(m.result);
  }
  if (m.method === 'ui/resource-teardown') return post({id: m.id, result: {}});
  if (m.method === 'ui/notifications/host-context-changed') paint(m.params);
  heard[m.method]?.(m.params);
});
const paint = (context) => { if (context?.theme) document.documentElement.style.colorScheme = context.theme; };
const start = async () => {
  const r = await ask('ui/initialize', {appInfo: {name: document.title, version: '1'}, appCapabilities: {}, protocolVersion: '2026-01-26'});
  paint(r.hostContext);
  post({method: 'ui/notifications/initialized'});
  const tell = () => post({method: 'ui/notifications/size-changed', params: {height: Math.ceil(document.body.getBoundingClientRect().height), width: innerWidth}});
  new ResizeObserver(tell).observe(document.body);
  tell();
};
