import { copyFileSync } from 'node:fs';
import resolve from '@rollup/plugin-node-resolve';
import { rollup } from 'rollup';

const bundle = await rollup({ input: 'app.mjs', plugins: [resolve()], onwarn: (w) => { throw new Error(w.message); } });
await bundle.write({ dir: 'dist', format: 'es' });
for (const file of ['bailey.wasm', 'agent.wasm', 'typescript.txt']) copyFileSync(`node_modules/bailey/${file}`, `dist/${file}`);
copyFileSync('index.html', 'dist/index.html');
