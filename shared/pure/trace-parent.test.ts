import { expect, it } from '@jest/globals';
import { formatTraceParent, parseTraceParent } from './trace-parent.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

it.each([
  [`00-${traceId}-${spanId}-01`, true],
  [`00-${traceId}-${spanId}-00`, false],
  [`00-${traceId}-${spanId}-03`, true],
  [`cc-${traceId}-${spanId}-01-more`, true],
])('parseTraceParent reads %s', (text, isSampled) => {
  expect(parseTraceParent(text)).toEqual({ traceId, spanId, isSampled });
});

it.each([
  undefined,
  '',
  'ada@example.com',
  `ff-${traceId}-${spanId}-01`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${traceId}-${spanId}`,
  `00-${traceId}-${spanId}-01-more`,
  `00-${traceId}-${spanId}-01\n`,
])('parseTraceParent refuses %j', (text) => {
  expect(parseTraceParent(text)).toBeUndefined();
});

it('formatTraceParent writes what parseTraceParent reads', () => {
  const text = `00-${traceId}-${spanId}-01`;
  expect(formatTraceParent(parseTraceParent(text)!)).toBe(text);
});
