import { describe, expect, it } from '@jest/globals';
import { recipientProviderOf } from '../verdict/recipient-provider.ts';
import { signsOf } from '../verdict/refusal-signs.ts';
import { healthKey } from './keys.ts';
import { Ledger } from './ledger.ts';

const RELAY = 'relay.test:25';
const MAIL = healthKey(RELAY, 'mail.test');
const WHOLE = healthKey(RELAY, '*');

let nowMs = 0;
const createLedger = () => new Ledger('w', () => nowMs);
const emailTo = (recipient: string, projectId = 'p') => ({
  recipient,
  projectId,
  relay: RELAY,
  provider: recipientProviderOf(recipient),
});
const refuse = (ledger: Ledger, recipient: string, reply: string, { key = MAIL, projectId = 'p' } = {}) =>
  ledger.refused(key, emailTo(recipient, projectId), signsOf(recipient, { reply, stage: 'rcpt' }), []);
const LISTED = '554 5.7.1 Blocklisted';

/**
 * Notes refusals of each recipient with the same text.
 * @returns the number of refusals that are not doubted
 */
function believed(ledger: Ledger, recipients: string[]): number {
  return recipients.filter((to) => !refuse(ledger, to, `550 5.1.1 <${to}> No such user`)).length;
}
const readers = (count: number) => Array.from({ length: count }, (_, n) => `reader${n}@mail.test`);

describe('hard refusals with the same text', () => {
  it('are doubted from the twentieth recipient on', () => {
    expect(believed(createLedger(), readers(100))).toBe(19);
  });

  it('are believed for one recipient, however often', () => {
    expect(believed(createLedger(), Array<string>(100).fill('a@mail.test'))).toBe(100);
  });

  it('are believed among accepted emails, and when they come slowly', () => {
    const mixed = createLedger();
    for (const to of readers(100)) {
      expect(believed(mixed, [to])).toBe(1);
      mixed.accepted(emailTo(`other-${to}`));
    }
    const slow = createLedger();
    for (const to of readers(100)) {
      nowMs += 4_000;
      expect(believed(slow, [to])).toBe(1);
    }
  });
});

describe('reports', () => {
  const none = new Set<string>();

  it('leave out providers with few refusals, and contain the results of others', () => {
    const ledger = createLedger();
    ledger.accepted(emailTo('a@quiet.test'));
    ledger.accepted(emailTo('a@mail.test'));
    for (const to of readers(3)) refuse(ledger, to, LISTED);
    nowMs += 1_000;
    const { reports } = ledger.takeReports(none);
    expect([...reports.keys()]).toEqual([MAIL]);
    expect(reports.get(MAIL)).toMatchObject({ total: 4, accepted: 1, refused: 3 });
    expect(ledger.takeReports(none).reports.size).toBe(0);
    ledger.accepted(emailTo('b@quiet.test'));
    const known = healthKey(RELAY, 'quiet.test');
    expect([...ledger.takeReports(new Set([known])).reports]).toMatchObject([[known, { accepted: 1 }]]);
  });

  it('come with the numbers of accepted emails, which are kept when they could not be stored', () => {
    const ledger = createLedger();
    for (const projectId of ['p', 'q', 'p']) ledger.accepted(emailTo('a@mail.test', projectId));
    const counts = [
      { projectId: 'p', provider: 'mail.test', count: 2 },
      { projectId: 'q', provider: 'mail.test', count: 1 },
    ];
    // More exchanges in a second store nothing.
    expect(ledger.takeReports(none).counts.sent()).toEqual([]);
    nowMs += 1_000;
    const taken = ledger.takeReports(none);
    expect(taken.counts.sent()).toEqual(counts);
    ledger.putBack(taken);
    nowMs += 1_000;
    expect(ledger.takeReports(none).counts.sent()).toEqual(counts);
  });

  it('are requested at once at the tenth refusal', () => {
    const ledger = createLedger();
    let calls = 0;
    ledger.onSurge = () => (calls += 1);
    for (const to of readers(12)) refuse(ledger, to, LISTED);
    expect(calls).toBe(1);
  });

  it('count the results of each project, and a recipient that is refused again and again once', () => {
    const ledger = createLedger();
    ledger.accepted(emailTo('a@quiet.test'));
    for (const to of readers(3)) refuse(ledger, to, LISTED, { projectId: 'loud' });
    for (let n = 0; n < 20; n++) refuse(ledger, 'same@mail.test', LISTED, { projectId: 'quiet' });
    ledger.accepted(emailTo('other@mail.test', 'quiet'));
    expect(ledger.takeReports(none).reports.get(MAIL)).toMatchObject({
      total: 5,
      accepted: 1,
      refused: 4,
      projects: { loud: { total: 3, against: 3 }, quiet: { total: 2, against: 1 } },
    });
  });
});

describe('refusals for speed', () => {
  const TOO_FAST = '421 4.7.0 You are rate limited';

  it('are a limit of the provider when most other recipients get them, and some emails are accepted', () => {
    const ledger = createLedger();
    refuse(ledger, 'a@mail.test', TOO_FAST);
    refuse(ledger, 'b@mail.test', TOO_FAST);
    expect(ledger.isSlowing(MAIL, 'a@mail.test')).toBe(false);
    ledger.accepted(emailTo('c@mail.test'));
    refuse(ledger, 'd@mail.test', TOO_FAST);
    expect(ledger.isSlowing(MAIL, 'a@mail.test')).toBe(true);
  });

  it('are those of the recipients when they are few among many', () => {
    const ledger = createLedger();
    for (let n = 0; n < 30; n++) {
      ledger.accepted(emailTo(`reader${n}@mail.test`));
      if (n % 10 === 0) refuse(ledger, `slow${n}@mail.test`, TOO_FAST);
    }
    expect(ledger.isSlowing(MAIL, 'slow20@mail.test')).toBe(false);
  });

  it('are a limit of the relay only when several providers get them', () => {
    const ledger = createLedger();
    const slow = (recipient: string) => refuse(ledger, recipient, TOO_FAST, { key: WHOLE });
    for (let n = 0; n < 12; n++) slow(`reader${n}@one.test`);
    ledger.accepted(emailTo('b@one.test'));
    expect(ledger.isSlowing(WHOLE, 'z@four.test')).toBe(false);
    for (let n = 0; n < 24; n++) slow(`reader${n}@${['one', 'two', 'three'][n % 3] ?? ''}.test`);
    expect(ledger.isSlowing(WHOLE, 'z@four.test')).toBe(true);
  });
});
