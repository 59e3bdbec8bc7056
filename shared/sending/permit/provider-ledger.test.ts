import { describe, expect, it } from '@jest/globals';
import { signsOf } from '../verdict/refusal-signs.ts';
import { createProviderLedger } from './provider-ledger.ts';

const PROVIDER = 'mail.test';
const signs = (recipient: string, reply: string) => signsOf(recipient, reply, 'rcpt');

/**
 * Notes refusals of each recipient with the same text.
 * @returns the number of refusals that are not doubted
 */
function believed(ledger: ReturnType<typeof createProviderLedger>, recipients: string[]): number {
  return recipients.filter(
    (to) =>
      !ledger.refused(PROVIDER, { recipient: to, projectId: 'p' }, signs(to, `550 5.1.1 <${to}> No such user`), []),
  ).length;
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
      mixed.accepted(PROVIDER, { recipient: `other-${to}`, projectId: 'p' });
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
  const none = new Set<string>();

  it('leave out providers with few refusals, and contain the results of others', () => {
    const ledger = createProviderLedger('w');
    ledger.accepted('quiet.test', { recipient: 'a@quiet.test', projectId: 'p' });
    ledger.accepted(PROVIDER, { recipient: 'a@mail.test', projectId: 'p' });
    for (const to of readers(3))
      ledger.refused(PROVIDER, { recipient: to, projectId: 'p' }, signs(to, '554 5.7.1 Blocklisted'), []);
    const reports = ledger.takeReports(none);
    expect([...reports.keys()]).toEqual([PROVIDER]);
    expect(reports.get(PROVIDER)).toMatchObject({ total: 4, accepted: 1, refused: 3 });
    expect(ledger.takeReports(none).size).toBe(0);
    expect([...ledger.takeReports(new Set(['quiet.test'])).keys()]).toEqual(['quiet.test']);
  });

  it('are requested at once at the tenth refusal', () => {
    const ledger = createProviderLedger('w');
    let calls = 0;
    ledger.onSurge = () => (calls += 1);
    for (const to of readers(12))
      ledger.refused(PROVIDER, { recipient: to, projectId: 'p' }, signs(to, '554 5.7.1 Blocklisted'), []);
    expect(calls).toBe(1);
  });

  it('count the results of each project, and a recipient that is refused again and again once', () => {
    const ledger = createProviderLedger('w');
    ledger.accepted('quiet.test', { recipient: 'a@quiet.test', projectId: 'p' });
    const refuse = (recipient: string, projectId: string) =>
      ledger.refused(PROVIDER, { recipient, projectId }, signs(recipient, '554 5.7.1 Blocklisted'), []);
    for (const to of readers(3)) refuse(to, 'loud');
    for (let n = 0; n < 20; n++) refuse('same@mail.test', 'quiet');
    ledger.accepted(PROVIDER, { recipient: 'other@mail.test', projectId: 'quiet' });
    expect(ledger.takeReports(none).get(PROVIDER)).toMatchObject({
      ...{ total: 5, accepted: 1, refused: 4 },
      projects: { loud: { total: 3, against: 3 }, quiet: { total: 2, against: 1 } },
    });
  });
});

describe('refusals for speed', () => {
  const tooFast = '421 4.7.0 You are rate limited';
  const at = (key: string, recipient: string) => [key, { recipient, projectId: 'p' }] as const;

  it('are a limit of the provider when most other recipients get them, and some emails are accepted', () => {
    const ledger = createProviderLedger('w');
    const refuse = (to: string) => ledger.refused(...at(PROVIDER, to), signs(to, tooFast), []);
    refuse('a@mail.test');
    refuse('b@mail.test');
    expect(ledger.isSlowing(PROVIDER, 'a@mail.test')).toBe(false);
    ledger.accepted(...at(PROVIDER, 'c@mail.test'));
    refuse('d@mail.test');
    expect(ledger.isSlowing(PROVIDER, 'a@mail.test')).toBe(true);
  });

  it('are those of the recipients when they are few among many', () => {
    const ledger = createProviderLedger('w');
    for (let n = 0; n < 30; n++) {
      ledger.accepted(...at(PROVIDER, `reader${n}@mail.test`));
      if (n % 10 === 0) ledger.refused(...at(PROVIDER, `slow${n}@mail.test`), signs('x@mail.test', tooFast), []);
    }
    expect(ledger.isSlowing(PROVIDER, 'slow20@mail.test')).toBe(false);
  });

  it('are a limit of the relay only when several providers get them', () => {
    const relay = 'relay.test:25 *';
    const ledger = createProviderLedger('w');
    ledger.accepted(...at(relay, 'a@one.test'));
    const refuse = (to: string) => ledger.refused(...at(relay, to), signs(to, tooFast), []);
    for (let n = 0; n < 12; n++) refuse(`reader${n}@one.test`);
    ledger.accepted(...at(relay, 'b@one.test'));
    expect(ledger.isSlowing(relay, 'z@four.test')).toBe(false);
    for (let n = 0; n < 24; n++) refuse(`reader${n}@${['one', 'two', 'three'][n % 3] ?? ''}.test`);
    expect(ledger.isSlowing(relay, 'z@four.test')).toBe(true);
  });
});
