import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { jsonBytes } from './json-bytes.ts';

describe('jsonBytes', () => {
  it('counts what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const stored: unknown = JSON.parse(JSON.stringify(value));
        expect(jsonBytes(stored, Number.MAX_SAFE_INTEGER)).toBe(Buffer.byteLength(JSON.stringify(stored)));
      }),
    );
  });

  it('tells for every bound whether the value is larger', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(300), (value, bound) => {
        const stored: unknown = JSON.parse(JSON.stringify(value));
        expect(jsonBytes(stored, bound) > bound).toBe(Buffer.byteLength(JSON.stringify(stored)) > bound);
      }),
    );
  });

  it('stops reading a value once it is larger than the bound', () => {
    let reads = 0;
    const watched = new Proxy(
      Array.from({ length: 1_000_000 }, () => 1),
      {
        get(target, key) {
          reads += 1;
          return Reflect.get(target, key) as unknown;
        },
      },
    );
    expect(jsonBytes(watched, 100)).toBeGreaterThan(100);
    expect(reads).toBeLessThan(200);
  });
});
