import { copyFileSync } from 'node:fs';
import { build } from 'esbuild';

await build({ entryPoints: ['app.mjs'], bundle: true, minify: true, format: 'esm', outdir: 'dist', loader: { '.wasm': 'file', '.txt': 'file' } });
copyFileSync('index.html', 'dist/index.html');
