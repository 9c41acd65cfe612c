import { copyFileSync } from 'node:fs';
import webpack from 'webpack';

webpack({ mode: 'production', entry: './app.mjs' }, (error, stats) => {
  if (error || stats.hasErrors() || stats.compilation.warnings.some((w) => !w.name.includes('Limit') && !w.name.includes('NoAsyncChunks'))) {
    console.error(error || stats.toString());
    process.exit(1);
  }
  copyFileSync('index.html', 'dist/index.html');
});
