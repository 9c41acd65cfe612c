import { load } from 'bailey';
import { use } from 'bailey/element';
import wasm from 'bailey/bailey.wasm';
import typescript from 'bailey/typescript.txt';
import { show } from './outcome.mjs';

const bailey = load({ wasm: new URL(wasm, import.meta.url), typescript: new URL(typescript, import.meta.url) });
use(bailey);
show(bailey);
