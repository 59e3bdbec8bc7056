import { describe, expect, it } from '@jest/globals';
import { inferFieldType, readDataPatch } from './custom-data.ts';

describe('readDataPatch', () => {
  it('stores primitives, nested objects and arrays, and unwraps persistent values', () => {
    const patch = readDataPatch({
      plan: 'pro',
      seats: 3,
      paid: false,
      profile: { tier: 'gold' },
      tags: ['a'],
      x: { value: 1, persistent: true },
    });
    expect({ ...patch.stored }).toEqual({
      plan: 'pro',
      seats: 3,
      paid: false,
      profile: { tier: 'gold' },
      tags: ['a'],
      x: 1,
    });
    expect({ ...patch.values }).toEqual({ ...patch.stored });
    expect(patch.removed).toEqual([]);
  });

  it('uses a non-persistent value for this request only', () => {
    const patch = readDataPatch({ code: { value: 'A1', persistent: false }, plan: 'pro' });
    expect({ ...patch.stored }).toEqual({ plan: 'pro' });
    expect({ ...patch.values }).toEqual({ code: 'A1', plan: 'pro' });
  });

  it('removes a key with null, ignores an empty string, and drops reserved keys', () => {
    const patch = readDataPatch({
      old: null,
      name: '',
      email: 'x@y.z',
      id: 1,
      svc_id: 1,
      svc_email: 1,
      unsubscribeUrl: 1,
      subscribeUrl: 1,
      manageUrl: 1,
    });
    expect({ ...patch.stored }).toEqual({});
    expect(patch.removed).toEqual(['old']);
  });

  it('keeps a key named __proto__ as data and leaves the prototype alone', () => {
    const patch = readDataPatch(JSON.parse('{"__proto__": {"polluted": true}}') as Record<string, unknown>);
    expect(Object.keys(patch.stored)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('stores an object that only happens to have a key named value as nested data', () => {
    expect({ ...readDataPatch({ price: { value: 3, currency: 'EUR' } }).stored }).toEqual({
      price: { value: 3, currency: 'EUR' },
    });
  });
});

describe('inferFieldType', () => {
  it.each([
    [42, 'number'],
    [3.14, 'number'],
    [true, 'boolean'],
    ['2026-01-31', 'date'],
    ['2026-01-31T10:00:00Z', 'date'],
    ['2026-01-31T10:00:00.123Z', 'date'],
    ['2026-13-45', 'string'],
    ['2026-01-31 10:00', 'string'],
    ['hello', 'string'],
    [['a'], 'string'],
    [{ a: 1 }, 'string'],
  ])('infers that %j is a %s', (value, type) => {
    expect(inferFieldType(value)).toBe(type);
  });
});
