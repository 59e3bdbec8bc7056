import { describe, expect, it } from '@jest/globals';
import { ACCEPTED, mailTo, NOT_TRIED, useFakeAttempts } from '../../tests/support/fake-attempts.ts';
import { MemoryBusyError } from './large-messages.ts';
import type { Question } from './permit/question.ts';
import type { EmailToSend, Speed } from './ports.ts';
import { NoWayError, SmtpUnavailableError, type SmtpOutcome } from './transport/smtp-pool.ts';
import { UnsendableAddressError, Utf8NotOfferedError } from './transport/wire-address.ts';

const { createTest, ended, pass } = useFakeAttempts();

const LATER: SmtpOutcome = { kind: 'deferred', stage: 'rcpt', replyCode: 451, reply: '451 4.4.4 No way' };
const away = (): Error => Object.assign(new Error('the connection is lost'), { code: '57P01' });

describe('an attempt', () => {
  it('records what was kept and carried before it claims, and releases what it did not decide', async () => {
    const carried = [{ claimToken: 'old', emailIds: ['a', 'b'] }];
    const test = createTest({ emails: [mailTo('c')], answer: () => ACCEPTED, carried });
    expect(await ended(test)).toMatchObject({ count: 1, sent: 1, putOff: 0, isStopped: false });
    const order = ['settled scope', 'recorded a b', 'claimed', 'recorded c', 'released after 1', 'followed up'];
    expect(test.log).toEqual(order);
    expect(test.carried()).toBeUndefined();
  });

  it('records the results of many emails together, and all of them once', async () => {
    const ids = Array.from({ length: 300 }, (_, n) => `e${n}`);
    const test = createTest({ emails: ids.map((id) => mailTo(id)), answer: () => ACCEPTED });
    await ended(test);
    const recordings = test.log.filter((line) => line.startsWith('recorded'));
    expect(recordings.flatMap((line) => line.split(' ').slice(1)).sort()).toEqual(ids.sort());
    expect(recordings.length).toBeLessThan(10);
  });

  it('has no more emails in flight than connections take', async () => {
    const test = createTest({ emails: ['a', 'b', 'c', 'd'].map((id) => mailTo(id)), capacity: 3 });
    await pass();
    expect(test.wire).toHaveLength(3);
    await test.wire[0]?.end(ACCEPTED);
    expect(test.wire).toHaveLength(4);
  });

  it('gives pages of campaigns that share the connections a part of them each', async () => {
    const emails = Array.from({ length: 20 }, (_, n) => mailTo(`e${n}`));
    const test = createTest({ emails, urgency: 'campaign' });
    await pass();
    expect(test.wire).toHaveLength(10);
    void test.attempt();
    await pass();
    expect(test.wire).toHaveLength(15);
  });

  it('at large messages waits until others leave memory for one', async () => {
    const memory = { sharedBytes: 20_000_000, messageBytes: 40_000_000 };
    const test = createTest({ batches: [{ size: 1, memory, load: () => [mailTo('a')] }] });
    await pass();
    const late = test.attempt();
    await pass(1_000);
    await expect(late).rejects.toThrow(MemoryBusyError);
    const next = test.attempt();
    await test.wire[0]?.end(ACCEPTED);
    await test.wire[1]?.end(ACCEPTED);
    await pass(1_000);
    expect(await next).toMatchObject({ sent: 1 });
  });

  it('takes answers of the sandbox, and results that are known, without a server', async () => {
    const skipped: EmailToSend = { emailId: 'x', subject: null, verdict: 'skipped', error: 'deleted' };
    const test = createTest({ emails: [mailTo('sandbox'), skipped] });
    await ended(test);
    expect(test.verdicts()).toEqual({ sandbox: 'sent', x: 'skipped' });
    expect(test.wire).toEqual([]);
  });

  it('puts off what the permit holds', async () => {
    const until = '2026-01-01T00:00:00.000Z';
    const hold = { level: 'provider', reason: 'provider paused', words: 'paused', until } as const;
    const test = createTest({ emails: [mailTo('a')], permit: { ask: async () => hold } });
    expect(await ended(test)).toMatchObject({ putOff: 1, hold });
    expect(test.verdicts()).toEqual({ a: 'held' });
  });

  it('sends nothing more once the claim is lost', async () => {
    const emails = ['a', 'b', 'c'].map((id) => mailTo(id));
    const test = createTest({ emails, capacity: 1, record: async () => ({ mayContinue: false }) });
    await pass();
    await test.wire[0]?.end(ACCEPTED);
    await pass(50);
    await test.wire[1]?.end(ACCEPTED);
    expect(await ended(test)).toMatchObject({ isStopped: true, count: 2 });
    expect(test.wire).toHaveLength(2);
  });
});

describe('an outage of PostgreSQL', () => {
  /** A sink that is away as often as `faults` says, at first. */
  const sinkAway = (faults: number) => {
    let left = faults;
    return async () => {
      left -= 1;
      if (left >= 0) throw away();
      return { mayContinue: true };
    };
  };

  it('repeats a recording until it is there, and claims of others wait meanwhile', async () => {
    const test = createTest({ emails: [mailTo('a')], answer: () => ACCEPTED, record: sinkAway(3) });
    await pass(200);
    expect(test.verdicts()).toEqual({});
    expect(test.log).toContain('held scope');
    expect(test.log.filter((line) => line === 'waits for PostgreSQL')).toHaveLength(2);
    expect(await ended(test)).toMatchObject({ count: 1 });
    expect(test.kept).toEqual([]);
  });

  it('keeps the results when the attempt must end, and carries those that servers accepted', async () => {
    const rejected: SmtpOutcome = { kind: 'deferred', stage: 'rcpt', replyCode: 451, reply: '451 Later', server: 'mx' };
    const test = createTest({
      emails: [mailTo('a'), mailTo('b')],
      answer: (to) => (to.startsWith('a') ? ACCEPTED : rejected),
      record: sinkAway(Infinity),
    });
    await pass(1_000);
    await test.stop();
    expect(await ended(test)).toMatchObject({ count: 0 });
    expect(test.kept.flatMap(({ results }) => results.map(({ emailId }) => emailId))).toEqual(['a', 'b']);
    expect(test.carried()).toEqual(['a']);
    // A release would make the kept results worthless.
    expect(test.log.filter((line) => line.startsWith('released'))).toEqual([]);
  });

  it('keeps what PostgreSQL does not answer soon after the attempt must end', async () => {
    const test = createTest({
      emails: [mailTo('a')],
      answer: () => ACCEPTED,
      record: () => new Promise(() => undefined),
    });
    await pass(1_000);
    await test.stop();
    await pass(1_900);
    expect(test.kept).toEqual([]);
    await ended(test);
    expect(test.kept).toHaveLength(1);
  });

  it('is not what another error is: nothing is sent after that', async () => {
    const emails = ['a', 'b', 'c'].map((id) => mailTo(id));
    const record = () => Promise.reject(new TypeError('a fault of ours'));
    const test = createTest({ emails, capacity: 1, record });
    await pass();
    await test.wire[0]?.end(ACCEPTED);
    await pass(50);
    await test.wire[1]?.end(ACCEPTED);
    await expect(ended(test)).rejects.toThrow('a fault of ours');
    expect(test.wire).toHaveLength(2);
  });
});

describe('connections that break', () => {
  const closing: SmtpOutcome = { kind: 'interrupted', stage: 'rcpt', mayHaveBeenAccepted: false, reply: '421 Busy' };
  const busy = (domain: (n: number) => string) =>
    [0, 1, 2, 3, 4, 5].map((n) => mailTo(`busy${n}`, { envelope: { from: 'a@a.test', to: `busy${n}@${domain(n)}` } }));
  const answer = (to: string) => (to.startsWith('busy') ? closing : ACCEPTED);

  it('stop no other email when a provider ends them with a reply', async () => {
    const test = createTest({ emails: [...busy(() => 'busy.test'), mailTo('other')], answer, capacity: 1 });
    await ended(test);
    expect(test.verdicts()).toMatchObject({ busy5: 'deferred', other: 'sent' });
  });

  it('stop no other email when they are those of several mail hosts', async () => {
    const silent = (to: string): SmtpOutcome =>
      to.startsWith('busy') ? { ...closing, reply: 'silent', server: `mx.${to.split('@')[1]}` } : ACCEPTED;
    const emails = [...busy((n) => `busy${n}.test`), mailTo('other')];
    const test = createTest({ emails, answer: silent, capacity: 1 });
    await ended(test);
    expect(test.verdicts()).toMatchObject({ busy5: 'deferred', other: 'sent' });
    const one = createTest({ emails: [...busy(() => 'busy.test'), mailTo('other')], answer: silent, capacity: 1 });
    await expect(ended(one)).rejects.toThrow(SmtpUnavailableError);
  });

  it('under five emails in a row end the attempt, after their results are recorded', async () => {
    const test = createTest({ emails: [...busy((n) => `busy${n}.test`), mailTo('last')], answer, capacity: 1 });
    await expect(ended(test)).rejects.toThrow(SmtpUnavailableError);
    expect(Object.keys(test.verdicts())).toEqual(['busy0', 'busy1', 'busy2', 'busy3', 'busy4']);
    expect(test.log).toEqual(expect.arrayContaining(['counted as unavailable', 'released after 5', 'followed up']));
  });

  it('end the attempt when no server is left, and the permit of the email is free again', async () => {
    const test = createTest({ emails: [mailTo('a')], answer: () => new SmtpUnavailableError('none') });
    await expect(ended(test)).rejects.toThrow('none');
    expect(test.log).toEqual(expect.arrayContaining(['abandoned mail.test', 'released after 0']));
  });
});

describe('a message that cannot be composed', () => {
  const cause = new TypeError('unexpected');
  const unmade = (id: string) =>
    mailTo(id, {
      compose: () => {
        throw cause;
      },
    });
  const unprepared: EmailToSend = { emailId: 'c', ...NOT_TRIED, cause };
  const emails = [mailTo('a'), unmade('b'), unprepared, mailTo('d')];

  it('does not delay others, and repeats the attempt', async () => {
    const test = createTest({ emails, answer: () => ACCEPTED });
    expect(await ended(test)).toMatchObject({ again: cause });
    expect(test.verdicts()).toEqual({ a: 'sent', d: 'sent' });
  });

  it('fails its email in the last attempt', async () => {
    const test = createTest({ emails, answer: () => ACCEPTED, isLastAttempt: true });
    expect((await ended(test)).again).toBeUndefined();
    expect(test.verdicts()).toEqual({ a: 'sent', b: 'failed', c: 'failed', d: 'sent' });
  });

  it('fails its email when its address can never be sent to', async () => {
    const test = createTest({ emails: [mailTo('a')], answer: () => new UnsendableAddressError('not an address') });
    await ended(test);
    expect(test.verdicts()).toEqual({ a: 'failed' });
  });
});

it.each([
  ['lacks SMTPUTF8 for', 'failed', (relay: string) => new Utf8NotOfferedError([relay], relay)],
  ['does not reach the hosts of', 'deferred', (relay: string) => new NoWayError([relay], LATER)],
] as const)('an email that a relay %s is offered to the others, then %s', async (_why, end, why) => {
  const asked: string[][] = [];
  const relays = ['a:25', 'b:25'];
  const ask = async (about: { projectId: string; recipient: string }, missed: readonly string[] = []) => {
    asked.push([...missed]);
    return relays.every((each) => missed.includes(each)) ? (undefined as never) : { ...about, provider: 'mail.test' };
  };
  const answers = relays.map((relay): Error => why(relay));
  const answer = (to: string) => (to.startsWith('j') && answers.shift()) || ACCEPTED;
  const test = createTest({ emails: ['j', 'k'].map((id) => mailTo(id)), capacity: 1, permit: { ask }, answer });
  expect((await ended(test)).again).toBeUndefined();
  expect([asked, test.verdicts()]).toEqual([[[], ['a:25'], relays, []], { j: end, k: 'sent' }]);
  expect(test.log.filter((line) => line.startsWith('abandoned'))).toHaveLength(2);
});

describe('an attempt that must end', () => {
  it('waits for the emails on the wire, and sends no others', async () => {
    const test = createTest({ emails: ['a', 'b', 'c'].map((id) => mailTo(id)), capacity: 2 });
    await pass();
    await test.stop();
    await test.wire[0]?.end(ACCEPTED);
    await test.wire[1]?.end(ACCEPTED);
    await ended(test);
    expect(test.wire).toHaveLength(2);
    expect(test.verdicts()).toEqual({ a: 'sent', b: 'sent' });
    expect(test.log).toContain('released after 2');
  });
});

describe('the speed of a project', () => {
  const speedOf = (size: number, log: string[]): Speed => ({
    size: () => size,
    take: async (count, waits) => {
      log.push(`took ${count}${waits ? ' patiently' : ''}`);
      return async () => void log.push('turn');
    },
    next: async (count) => new Error(`${count} later`),
  });

  it('lets an attempt send a part, and repeats it for the rest', async () => {
    const taken: string[] = [];
    const emails = ['a', 'b', 'c'].map((id) => mailTo(id));
    const test = createTest({ emails, answer: () => ACCEPTED, speed: speedOf(2, taken) });
    expect(await ended(test)).toMatchObject({ sent: 2, again: new Error('1 later') });
    expect(taken).toEqual(['took 2', 'turn', 'turn']);
    expect(test.log).toContain('released after 2');
  });

  it('is kept to beside an email whose host is silent for minutes', async () => {
    const taken: string[] = [];
    const emails = ['silent', 'b', 'c', 'd', 'e'].map((id) => mailTo(id));
    const permit = { ask: async ({ recipient }: Question) => ({ projectId: 'p', recipient, provider: recipient }) };
    const test = createTest({ emails, speed: speedOf(2, taken), permit });
    await pass();
    const answerAll = async () => {
      for (const { to, end } of test.wire) if (!to.startsWith('silent')) await end(ACCEPTED);
    };
    await answerAll();
    await pass(9_000);
    await answerAll();
    await pass(4_000);
    await answerAll();
    await pass(4_000);
    expect(taken.filter((line) => line !== 'turn')).toEqual(['took 2', 'took 2 patiently', 'took 1 patiently']);
    expect(test.verdicts()).toEqual({ b: 'sent', c: 'sent', d: 'sent', e: 'sent' });
    await test.wire[0]?.end(ACCEPTED);
    const recorded = await ended(test);
    expect(recorded).toMatchObject({ sent: 5 });
    expect(recorded.again).toBeUndefined();
  });

  it('is given up for the rest once a slow host has answered', async () => {
    const emails = ['slow', 'b', 'c', 'd', 'e'].map((id) => mailTo(id));
    const test = createTest({ emails, speed: speedOf(2, []) });
    await pass(9_000);
    expect(test.wire).toHaveLength(4);
    for (const { end } of test.wire) await end(ACCEPTED);
    expect(await ended(test)).toMatchObject({ sent: 4, again: new Error('1 later') });
  });

  it('asks for nothing more after the last part', async () => {
    const test = createTest({ emails: [mailTo('a')], answer: () => ACCEPTED, speed: speedOf(2, []) });
    expect((await ended(test)).again).toBeUndefined();
  });
});
