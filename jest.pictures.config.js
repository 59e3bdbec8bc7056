import base from './jest.config.js';

/** Takes pictures of the console instead of testing: `npm run pictures`. */
export default { ...base, testMatch: ['<rootDir>/tests/record/*.pictures.ts'] };
