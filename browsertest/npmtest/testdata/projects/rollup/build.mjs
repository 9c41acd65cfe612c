import { copyFileSync } from 'node:fs';
import resolve from '@rollup/plugin-node-resolve';
import { rollup } from 'rollup';

const bundle = await rollup({ input: 'app.mjs', plugins: [resolve()], onwarn: (w) => { throw new Error(w.message); } });
await bundle.write({ dir: 'dist', format: 'es' });
for (const program of ['bailey.wasm', 'agent.wasm']) copyFileSync(`node_modules/bailey/${program}`, `dist/${program}`);
copyFileSync('index.html', 'dist/index.html');
