// A user's file. TypeScript finds the types beside api.mjs, so a wrong argument is an error.
import { load } from '../../prebuilt/web/api.mjs';

const bailey = await load();
const view = await bailey.document(document.body, {});
const answer = await view.section('1');
await answer.write('# Hello');
// @ts-expect-error the first argument is an element
await bailey.document(42);

const notes = await bailey.folder.storage('notes', { undo: 'notes' });
const version: string = await notes.write('a.txt', 'text');
await notes.group('two files', async (work) => { await work.write('b.txt', new Uint8Array(3), { version }); });
// @ts-expect-error a group's folder has no history of its own
await notes.group('nested', (work) => work.undo());
new Blob([await notes.read('a.txt'), await notes.zip()]);
