// A user's file with a box, and with both versions of AI SDK. Each line after a @ts-expect-error must be an error.
import type { ChatTransport as ChatTransport6, UIMessage as UIMessage6 } from 'ai-6';
import type { ChatTransport, UIMessage } from 'ai-7';
import { load, transport, type BaileyConsentElement, type Reply } from '../../prebuilt/web/agent.mjs';

const bailey = await load({ panel: false });
const folder = await bailey.folder.memory();
const box = await bailey.box({
  model: { provider: 'anthropic', name: 'a model', key: 'a key' },
  folder,
  policy: { capabilities: { 'fs.read': ['.'] } },
  tools: {
    add: {
      parameters: { type: 'object', properties: { a: { type: 'number' } } },
      effects: ({ to }) => [{ capability: 'net.fetch', subject: to }],
      requires: ['net.fetch'],
      run: async (args, { folder, signal }) => ({ text: await folder?.text(args.path), signal: signal.aborted }),
    },
  },
  ask: async (question): Promise<Reply> => ({ answer: question.destroys ? 'reject' : 'once', reason: question.effects[0]?.text }),
  store: 'sessions',
});
const session = await box.session();
for await (const chunk of session.send({ text: 'hi', files: [new Blob()] }, { signal: AbortSignal.timeout(1000) })) {
  if (chunk.type === 'text-delta') chunk.delta.length;
  // @ts-expect-error a chunk of another type has no delta
  chunk.delta;
}
const chat: ChatTransport<UIMessage> = transport(session);
const chat6: ChatTransport6<UIMessage6> = transport(box, { version: 6, send: { steps: 5 } });
const messages: UIMessage[] = await session.messages();
const messages6: UIMessage6[] = await (await transport(box).session('chat')).messages();
const ran = await bailey.wasi.run(new URL('https://example.org/a.wasm'), { args: ['-n'], stdin: 'x', files: { 'a.txt': 'one', 'b.bin': new Uint8Array(1) }, limits: { time: 1000, memory: 1 << 24 } });
if (ran.error?.code === 'TIMEOUT') ran.files?.['a.txt']?.byteLength;
await bailey.wasi.run(new Uint8Array(8), { files: folder });
await bailey.box({ model: { provider: 'commands' }, shell: true, commands: '/tools/tools.json' });
await bailey.box({ model: { provider: 'commands' }, mcp: [{ name: 'a', url: 'https://mcp.example/', token: async () => 'x' }, { name: 'b', port: new MessageChannel().port1 }] });
// @ts-expect-error a server has an address or a port
await bailey.box({ model: { provider: 'commands' }, mcp: [{ name: 'a' }] });
// @ts-expect-error limits have names
await bailey.wasi.run('a.wasm', { limits: { cpu: 1 } });
// @ts-expect-error a program has bytes
await bailey.wasi.run(42);
const consent = document.querySelector('bailey-consent')!;
consent.whose = (session) => `In the chat ${session}`;
consent.addEventListener('ask', (event) => event.detail.title.length);
consent.addEventListener('stop', (event) => { if (event.detail.session) event.preventDefault(); });
await bailey.box({ model: { provider: 'commands' }, ask: consent });
const ref: { current: BaileyConsentElement | null } = { current: null };
await bailey.box({ model: { provider: 'commands' }, ask: () => ref.current });
await bailey.box({ model: { provider: 'commands' }, ask: async (question) => question.destroys ? consent : 'once' });
// @ts-expect-error another element shows no questions
await bailey.box({ model: { provider: 'commands' }, ask: document.body });
// @ts-expect-error whose is a text or a function
consent.whose = 1;
const skilled = await bailey.box({ model: { provider: 'commands' }, skills: ['---\nname: a\n---\n', folder, { folder, paths: ['skills'], trusted: true }, { text: 'x', name: 'b', trusted: true }], secrets: { github: { value: '12345678', hosts: ['api.example.org'] } }, secretStore: 'mine' });
(await skilled.skills()).skills[0].metadata.author?.length;
(await skilled.skills()).refused[0].reason.length;
(await skilled.skillText('a', 'x')).length;
(await skilled.secrets()).github.hosts.join();
await skilled.setSecret('github', { value: '12345678', hosts: [] });
await skilled.hideSecrets(await skilled.fillSecrets('x', 'api.example.org:443'), 'api.example.org:443');
const plan = await skilled.plan();
for (const c of await plan.changes()) if (c.kind === 'added') c.size.toFixed();
await (await plan.box.session()).close();
(await plan.apply()).length;
// @ts-expect-error a secret has hosts
await skilled.setSecret('github', { value: '12345678' });
// @ts-expect-error a skill is a text or a folder
await bailey.box({ model: { provider: 'commands' }, skills: [{ trusted: true }] });
// @ts-expect-error no method returns a value
(await skilled.secrets()).github.value;
export { chat, chat6, messages, messages6 };
// @ts-expect-error there is no such provider
await bailey.box({ model: { provider: 'acme', name: 'x' } });
// @ts-expect-error model is missing
await bailey.box({});
// @ts-expect-error an answer is a word
await bailey.box({ model: { provider: 'commands' }, ask: () => true });
// @ts-expect-error a tool has run
await bailey.box({ model: { provider: 'commands' }, tools: { bad: {} } });
// @ts-expect-error there is no such version
transport(box, { version: 5 });
