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

  it('says of every bound whether the value is larger', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(300), (value, bound) => {
        const stored: unknown = JSON.parse(JSON.stringify(value));
        expect(jsonBytes(stored, bound) > bound).toBe(Buffer.byteLength(JSON.stringify(stored)) > bound);
      }),
    );
  });

  it('looks at no more of a value than it has to', () => {
    let looks = 0;
    const watched = new Proxy(
      Array.from({ length: 1_000_000 }, () => 1),
      {
        get(target, key) {
          looks += 1;
          return Reflect.get(target, key) as unknown;
        },
      },
    );
    expect(jsonBytes(watched, 100)).toBeGreaterThan(100);
    expect(looks).toBeLessThan(200);
  });
});
