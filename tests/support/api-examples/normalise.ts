const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const MOMENT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const DAY = /^\d{4}-\d\d-\d\d$/;

const EXAMPLE_MOMENT = '2026-02-03T09:30:00.000Z';
/** For times in the future, and the ends of periods. */
const EXAMPLE_LATER = '2026-02-04T09:30:00.000Z';
const LATER_KEYS = [
  'until',
  'endDate',
  'scheduledFor',
  'nextAttemptAt',
  'retryAt',
  'previousSecretExpiresAt',
  'expiresAt',
];
const DAY_KEYS = ['date', 'from', 'to', 'since'];
const EXAMPLE_CURSOR = 'eyJpZCI6IjAxOThjMGRlIn0';

/** Keys, signatures and addresses differ from run to run; real keys would also be secrets. */
const TEXTS: [RegExp, string][] = [
  [/\b(sk|pk)_[0-9a-f]{64}/g, `$1_${'0123456789abcdef'.repeat(4)}`],
  [/\bwhsec_[\w+/=-]+/g, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  [/\bp=[\w+/]{100,}={0,2}/g, 'p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA'],
  [/\bmsg_[0-9a-f]{32}\b/g, 'msg_0198c0de00000000000000000000004f'],
  [/\bep[0-9a-f]{10}\b/g, 'ep0198c0de00'],
  [/\b\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000/g, 'Tue, 03 Feb 2026 09:30:00 +0000'],
  [/(=_\w\d_)[0-9a-f]{32}/g, '$10198c0de'],
  [/127\.0\.0\.1:\d+/g, 'mail.example.net:25'],
  [/127\.0\.0\.1/g, 'mail.example.net'],
];

const idOf = (number: number) => `0198c0de-0000-7000-8000-${String(number).padStart(12, '0')}`;

/**
 * Replaces ids, times and secrets, so that the value is the same in each run. Ids are numbered in the order of their
 * first occurrence, and there are two different times.
 */
export function normalise(value: unknown): unknown {
  const ids = new Map<string, string>();
  const textOf = (text: string): string => {
    let plain = text.replaceAll(MOMENT, EXAMPLE_MOMENT);
    for (const [pattern, replacement] of TEXTS) plain = plain.replaceAll(pattern, replacement);
    return plain.replaceAll(UUID, (id) => {
      const number = ids.get(id) ?? idOf(ids.size + 1);
      ids.set(id, number);
      return number;
    });
  };
  const walk = (inner: unknown, key: string): unknown => {
    if (Array.isArray(inner)) return inner.map((item) => walk(item, key));
    if (typeof inner === 'object' && inner !== null) {
      return Object.fromEntries(Object.entries(inner).map(([name, item]) => [name, walk(item, name)]));
    }
    if (key === 'durationMs' && typeof inner === 'number') return 42;
    if (typeof inner !== 'string') return inner;
    if (key === 'cursor' && inner !== '') return EXAMPLE_CURSOR;
    if (DAY_KEYS.includes(key) && DAY.test(inner)) return EXAMPLE_MOMENT.slice(0, 10);
    return LATER_KEYS.includes(key) ? inner.replaceAll(MOMENT, EXAMPLE_LATER) : textOf(inner);
  };
  return walk(value, '');
}
