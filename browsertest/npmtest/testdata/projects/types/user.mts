// A user's file. Each line after a @ts-expect-error must be an error.
import { load, type DocumentOptions } from 'bailey';
import { load as loadAgent, transport, type Question } from 'bailey/agent';
import { use, type LinkEvent } from 'bailey/element';

const bailey = load({ panel: false });
use(bailey);
const options: DocumentOptions = { follow: true, onHeight: (px) => px.toFixed() };
const view = await (await bailey).document(document.body, options);
await (await view.section('1')).setKind('user');
const element = document.createElement('bailey-document');
await element.append('# Hello');
element.theme = { scheme: 'dark', variables: { '--bailey-text': 'red' } };
element.addEventListener('link', (event: LinkEvent) => event.detail.host.length);
// @ts-expect-error text is a string
element.text = 1;
// @ts-expect-error append takes Markdown
element.append(document.body);
// @ts-expect-error there is no such option
await load({ waasm: 'x' });
// @ts-expect-error the first argument is an element
await (await bailey).document(42);

const agent = await loadAgent();
const box = await agent.box({ model: { provider: 'browser' }, folder: await agent.folder.memory(), ask: (q: Question) => q.answers[0] });
const consent = document.createElement('bailey-consent');
await agent.box({ model: { provider: 'browser' }, ask: consent });
transport(await box.session()).sendMessages satisfies Function;
for await (const chunk of (await box.session()).send('hi')) chunk.type.length;
// @ts-expect-error a program without a box has none
(await bailey).box;
// @ts-expect-error model is missing
await agent.box({});
