// A user's file. TypeScript finds the types beside api.mjs, so a wrong argument is an error.
import { load } from '../../prebuilt/web/api.mjs';

const bailey = await load();
const view = await bailey.document(document.body, {});
const answer = await view.section('1');
await answer.write('# Hello');
// @ts-expect-error the first argument is an element
await bailey.document(42);
