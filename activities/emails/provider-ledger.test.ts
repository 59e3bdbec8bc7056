import { describe, expect, it } from '@jest/globals';
import { signsOf } from '../../shared/pure/emails/refusal-signs.ts';
import { createProviderLedger } from './provider-ledger.ts';

const PROVIDER = 'mail.test';
const signs = (recipient: string, reply: string) => signsOf(recipient, reply, 'rcpt');

/**
 * Notes refusals of each recipient with the same text.
 * @returns the number of refusals that are not doubted
 */
function believed(ledger: ReturnType<typeof createProviderLedger>, recipients: string[]): number {
  return recipients.filter((to) => !ledger.refused(PROVIDER, to, signs(to, `550 5.1.1 <${to}> No such user`), []))
    .length;
}
const readers = (count: number) => Array.from({ length: count }, (_, n) => `reader${n}@${PROVIDER}`);

describe('hard refusals with the same text', () => {
  it('are doubted from the twentieth recipient on', () => {
    expect(believed(createProviderLedger('w'), readers(100))).toBe(19);
  });

  it('are believed for one recipient, however often', () => {
    expect(believed(createProviderLedger('w'), Array<string>(100).fill('a@mail.test'))).toBe(100);
  });

  it('are believed among accepted emails, and when they come slowly', () => {
    const mixed = createProviderLedger('w');
    for (const to of readers(100)) {
      expect(believed(mixed, [to])).toBe(1);
      mixed.accepted(PROVIDER, `other-${to}`);
    }
    let now = 0;
    const slow = createProviderLedger('w', () => now);
    for (const to of readers(100)) {
      now += 4_000;
      expect(believed(slow, [to])).toBe(1);
    }
  });
});

describe('reports', () => {
  const none = () => false;

  it('leave out providers with few refusals, and contain the results of others', () => {
    const ledger = createProviderLedger('w');
    ledger.accepted('quiet.test', 'a@quiet.test');
    ledger.accepted(PROVIDER, 'a@mail.test');
    for (const to of readers(3)) ledger.refused(PROVIDER, to, signs(to, '554 5.7.1 Blocklisted'), []);
    const reports = ledger.takeReports(none);
    expect([...reports.keys()]).toEqual([PROVIDER]);
    expect(reports.get(PROVIDER)).toMatchObject({ total: 4, accepted: 1, refused: 3 });
    expect(ledger.takeReports(none).size).toBe(0);
    expect([...ledger.takeReports((provider) => provider === 'quiet.test').keys()]).toEqual(['quiet.test']);
  });

  it('are requested at once at the tenth refusal', () => {
    const ledger = createProviderLedger('w');
    let calls = 0;
    ledger.onSurge = () => (calls += 1);
    for (const to of readers(12)) ledger.refused(PROVIDER, to, signs(to, '554 5.7.1 Blocklisted'), []);
    expect(calls).toBe(1);
  });
});
