// Runs ./main.mjs with the built client in a context that has only the APIs that edge runtimes share, and nothing of
// Node.
import { readFileSync } from 'node:fs';
import vm from 'node:vm';

const WEB = [
  'fetch',
  'Request',
  'Response',
  'Headers',
  'FormData',
  'Blob',
  'URL',
  'URLSearchParams',
  'AbortController',
  'AbortSignal',
  'DOMException',
  'Event',
  'EventTarget',
  'TextEncoder',
  'TextDecoder',
  'ReadableStream',
  'atob',
  'btoa',
  'structuredClone',
  'console',
  'crypto',
  'performance',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'queueMicrotask',
];
const context = vm.createContext(Object.fromEntries(WEB.map((name) => [name, Reflect.get(globalThis, name)])));
const loaded = new Map();

/** @returns the module of a file, which may import only files beside it */
function load(url) {
  if (!loaded.has(url.href)) {
    loaded.set(url.href, new vm.SourceTextModule(readFileSync(url, 'utf8'), { context, identifier: url.href }));
  }
  return loaded.get(url.href);
}

function resolve(specifier, parent) {
  if (!specifier.startsWith('./')) throw new Error(`${parent.identifier} imports ${specifier}`);
  return load(new URL(specifier, parent.identifier));
}

const main = load(new URL('main.mjs', `file://${process.cwd()}/`));
await main.link(resolve);
await main.evaluate();
