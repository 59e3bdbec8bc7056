import { expect, it } from '@jest/globals';
import { readPort } from './free-port.ts';

it.each(['0', '3000', '65535'])('reads the port %s', (text) => expect(readPort('PORT', text)).toBe(Number(text)));

it.each(['abc', '65536', '-1', '3000.5', '3e3', '127.0.0.1:3000'])('says of %s that it is none', (text) => {
  expect(() => readPort('PORT', text)).toThrow(`PORT must be a port number from 0 to 65535; it is "${text}".`);
});
