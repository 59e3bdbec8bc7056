import { availableParallelism } from 'node:os';

/** @type {import('jest').Config} */
export default {
  rootDir: import.meta.dirname,
  testEnvironment: 'node',
  testMatch: ['<rootDir>/**/*.test.ts'],
  runtime: '<rootDir>/tests/setup/native-runtime.ts',
  testSequencer: '<rootDir>/tests/setup/long-files-first.ts',
  transform: {},
  injectGlobals: false,
  // Ends in .mts so that Jest imports it as Node does instead of transforming it.
  globalSetup: '<rootDir>/tests/setup/global-setup.mts',
  globalTeardown: '<rootDir>/tests/setup/global-teardown.mts',
  setupFiles: ['<rootDir>/tests/setup/properties.ts'],
  // The client is a package of the same name.
  modulePathIgnorePatterns: [
    '<rootDir>/.everpost',
    '<rootDir>/dist',
    '<rootDir>/clients/typescript/(package.json|dist)',
  ],
  testTimeout: 60_000,
  // Tests that run beside each other mostly wait.
  maxConcurrency: 20,
  // The tests of whole processes mostly wait, so four files at a time suit two cores. Each may take 2 GB of memory.
  maxWorkers: Math.max(4, Math.floor(availableParallelism() / 2) + 1),
  // Every file that starts a worker leaves some 40 MB of native runtime in its process.
  workerIdleMemoryLimit: '1GB',
  // A process that ends writes what it has compiled into Node's cache of compiled files.
  workerGracefulExitTimeout: 10_000,
  watchman: false,
};
