// Lets MCP's conformance suite start in Node 20, whose module fs lacks a name that only another command of the
// suite uses.
import {register} from 'node:module';

const fs = "import fs from 'node:fs'; export * from 'node:fs'; export default fs; export const globSync = () => []";
const hooks = `export async function resolve(name, context, next) {
  if (name === 'fs' && context.parentURL.includes('/conformance/dist/')) return {url: 'data:text/javascript,' + ${JSON.stringify(encodeURIComponent(fs))}, shortCircuit: true};
  return next(name, context);
}`;
if (!(await import('node:fs')).globSync) register('data:text/javascript,' + encodeURIComponent(hooks));
