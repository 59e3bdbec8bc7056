import base from './jest.config.js';
import { unitTestFiles } from './tests/setup/unit-files.ts';

/** The tests that need no PostgreSQL, no Temporal, no other process and no browser: `npm run test:unit`. */
export default { ...base, testMatch: unitTestFiles(), globalSetup: undefined, globalTeardown: undefined };
