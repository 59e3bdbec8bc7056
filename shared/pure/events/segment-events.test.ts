import { describe, expect, it } from '@jest/globals';
import { isReservedEventName } from './reserved-events.ts';
import { segmentEventName } from './segment-events.ts';

const id = '0190e000-0000-7000-8000-000000000001';

describe('the event of a segment entry', () => {
  it.each([
    ['VIP Customers!', 'segment.vip-customers.entry'],
    ['  a__b  c.d ', 'segment.a__b-c-d.entry'],
    ['10% off & more', 'segment.10-off-more.entry'],
    ['Ünïcode', 'segment.n-code.entry'],
    ['日本', `segment.${id}.entry`],
    ['---', `segment.${id}.entry`],
  ])('of %j is %s', (name, expected) => {
    expect(segmentEventName({ id, name }, 'entry')).toBe(expected);
  });

  it('has a name that callers may not track', () => {
    expect(isReservedEventName(segmentEventName({ id, name: 'VIP' }, 'entry'))).toBe(true);
    expect(isReservedEventName(segmentEventName({ id, name: 'VIP' }, 'exit'))).toBe(true);
  });
});
