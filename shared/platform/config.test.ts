import { expect, it } from '@jest/globals';
import { publicUrlWarning } from './config.ts';

it.each([
  ['https://mail.example.com', false],
  ['http://mail.example.com', true],
  ['http://10.0.0.1:3000', true],
  ['http://localhost:3000', false],
  ['http://127.0.0.1:3000', false],
  ['http://[::1]:3000', false],
])('links below %s are warned about: %s', (publicUrl, isWarnedAbout) => {
  expect(publicUrlWarning({ publicUrl }) !== undefined).toBe(isWarnedAbout);
});
