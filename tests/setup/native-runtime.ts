import { createRequire, flushCompileCache, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type * as jestRuntime from 'jest-runtime';

const load = createRequire(import.meta.url);
const { default: JestRuntime } = load('jest-runtime') as (typeof jestRuntime)['default'];
type Globals = Parameters<InstanceType<typeof JestRuntime>['setGlobalsForRuntime']>[0];

const GLOBALS_MODULE = '@jest/globals';
const GLOBALS_URL = 'everpost:jest-globals';
const NAMES = ['afterAll', 'afterEach', 'beforeAll', 'beforeEach', 'describe', 'expect', 'it', 'test'] as const;
/** Jest keeps its event handlers under this symbol. They would stay from one test file to the next. */
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');

/** Jest's functions for the current file. A process runs one file at a time. */
let current: Globals;
let filesRun = 0;

/** A function that calls Jest's function of the current file, because modules stay loaded from one file to the next. */
function forward(name: (typeof NAMES)[number]): unknown {
  const target = () => current[name] as (...args: unknown[]) => unknown;
  return new Proxy(function () {}, {
    apply: (_, self, args) => Reflect.apply(target(), self, args),
    get: (_, property) => Reflect.get(target(), property),
  });
}

(globalThis as Record<string, unknown>)[GLOBALS_URL] = forward;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === GLOBALS_MODULE ? { url: GLOBALS_URL, shortCircuit: true } : next(specifier, context),
  load(url, context, next) {
    if (url !== GLOBALS_URL) return next(url, context);
    const lines = NAMES.map((name) => `export const ${name} = globalThis['${GLOBALS_URL}']('${name}');`);
    return { format: 'module', source: lines.join('\n'), shortCircuit: true };
  },
});

// Jest itself may be ended by a signal. A process of test files would go on with its tests.
const endWithJest = () => process.exit(1);
process.once('disconnect', endWithJest);
// Jest lets a process go by removing its listener. This one would keep it.
process.on('removeListener', (event) => {
  if (event === 'message') process.off('disconnect', endWithJest);
});

/**
 * Runs test files as Node runs the product. Jest's own runtime loads every module again for each file, which took more
 * time than the tests. Here all files of a process share the modules. Environment variables are restored after each
 * file; a file must itself restore other globals that it changes.
 */
export default class NativeRuntime extends JestRuntime {
  readonly #env = { ...process.env };

  override teardown(): void {
    for (const name of Object.keys(process.env)) if (!(name in this.#env)) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, this.#env);
    super.teardown();
  }

  override requireInternalModule(from: string): never {
    Reflect.set(globalThis, EVENT_HANDLERS, undefined);
    Reflect.deleteProperty(load.cache, from);
    return load(from) as never;
  }

  override setGlobalsForRuntime(globals: Globals): void {
    super.setGlobalsForRuntime(globals);
    current = globals;
  }

  override unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  override async unstable_importModule(from: string): Promise<void> {
    await import(`${pathToFileURL(from).href}?run=${++filesRun}`);
    // The processes that tests start load the same modules. Those that are killed do not write what they have compiled.
    if (filesRun === 1) flushCompileCache();
  }
}
