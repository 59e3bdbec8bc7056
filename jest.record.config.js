import base from './jest.config.js';

/** Records histories for the replay test instead of testing: `npm run record-histories`. */
export default { ...base, testMatch: ['<rootDir>/tests/record/*.record.ts'] };
