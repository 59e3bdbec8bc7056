import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../../tests/support/eventually.ts';
import type { FaultyRelayOptions, RelayEvent } from '../../../tests/support/faulty-relay.ts';
import type { MailHost } from '../../../tests/support/mail-hosts.ts';
import { useMailWorld } from '../../../tests/support/mx-pools.ts';
import { ConnectionBudget } from '../transport/connection-budget.ts';
import { StalePermitError } from '../transport/errors.ts';
import { MESSAGES_PER_CONNECTION_AT_ONCE, type SmtpOutcome } from '../transport/smtp-pool.ts';

const { world, poolOf, send, fresh } = useMailWorld();

describe('many destinations', () => {
  it('keeps to the connections of the process, and gives each destination its turn', async () => {
    const names = Array.from({ length: 12 }, fresh);
    const started: MailHost[] = [];
    for (const name of names) started.push(await world().host(name, { messageMs: 5 }));
    const pool = poolOf({ maxConnections: 4 });
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(
        most,
        started.reduce((sum, host) => sum + host.openConnectionCount(), 0),
      );
    }, 2);
    const finished: string[] = [];
    const jobs = names.flatMap((name, index) =>
      Array.from({ length: index === 0 ? 300 : 5 }, async (_, email) => {
        await send(pool, `${email}@${name}`);
        finished.push(name);
      }),
    );
    await Promise.all(jobs);
    clearInterval(watch);
    expect(started.reduce((sum, host) => sum + host.deliveries().size, 0)).toBe(355);
    expect(started.every((host) => [...host.deliveries().values()].every((count) => count === 1))).toBe(true);
    // A connection that says goodbye is not counted, so a few more may be open for a moment.
    expect(pool.usage().connections).toBeLessThanOrEqual(4);
    expect(finished.findLastIndex((name) => name !== names[0])).toBeLessThan(300);
    expect(most).toBeLessThanOrEqual(12);
  });

  it('keep their connections while there are enough for all', async () => {
    const names = Array.from({ length: 9 }, fresh);
    const hosts: MailHost[] = [];
    for (const name of names) hosts.push(await world().host(name, { messageMs: 1 }));
    // Campaigns may use 15.
    const pool = poolOf({ maxConnections: 20 });
    const emails = Array.from({ length: 80 * names.length }, (_, n) => `${n}@${names[n % names.length]}`);
    const lane = async (): Promise<void> => {
      for (let to = emails.shift(); to; to = emails.shift())
        expect(await send(pool, to, undefined, 'campaign')).toMatchObject({ kind: 'accepted' });
    };
    await Promise.all(Array.from({ length: 4 * names.length }, lane));
    // The first ones open a second one before the others are known.
    expect(hosts.reduce((sum, host) => sum + host.connectionCount(), 0)).toBeLessThan(3 * names.length);
  });

  it('have a connection from each source that messages need, also while another one is busy', async () => {
    const names = Array.from({ length: 4 }, fresh);
    for (const name of names) await world().host(name, { messageMs: 1 });
    const sources = ['127.0.0.1', '127.0.1.1'];
    const pool = poolOf({ urls: sources.map((source) => `${world().url}&source=${source}`), maxConnections: 6 });
    const [busy = '', other = ''] = pool.relays().map(({ label }) => label);
    const to = (n: number, source: string) =>
      pool.send({ from: 'a@sender.test', to: `${n}@${names[n % names.length]}` }, 'Subject: x\r\n\r\nx\r\n', {
        urgency: 'campaign',
        avoid: new Set([source === busy ? other : busy]),
      });
    let isOver = false;
    const lanes = Array.from({ length: 3 * names.length }, async (_, lane) => {
      for (let n = lane; !isOver; n += 3 * names.length) await to(n, busy);
    });
    await delay(200);
    const startMs = performance.now();
    for (let n = 0; n < names.length; n++) expect(await to(n, other)).toMatchObject({ kind: 'accepted', relay: other });
    const tookMs = performance.now() - startMs;
    isOver = true;
    await Promise.all(lanes);
    // A busy connection ended only after 500 messages.
    expect(tookMs).toBeLessThan(1_000);
  });

  it('gives back a message that waited too long for its connection', async () => {
    const name = fresh();
    const host = await world().host(name);
    const limits = { provider: name, isStale: true };
    await expect(send(poolOf(), `a@${name}`, limits)).rejects.toThrow(StalePermitError);
    expect(host.attempts().size).toBe(0);
  });

  it('of one provider never have more connections than a rule, also while some are idle or end', async () => {
    const [names, most] = [Array.from({ length: 6 }, fresh), 3];
    let [open, opened, allowed] = [0, 0, most];
    const watch = ({ kind }: RelayEvent): void => {
      if (kind !== 'message') open += kind === 'open' ? 1 : -1;
      opened = Math.max(opened, open);
    };
    for (const name of names) await world().host(name, { watch });
    const pool = poolOf();
    const budget = new ConnectionBudget(() => allowed);
    const limits = { provider: 'one.test', messagesPerConnection: 4, budget };
    const emails = names.flatMap((name) => Array.from({ length: 12 }, (_, email) => `${email}@${name}`));
    const mixed = emails.toSorted((a, b) => a.length - b.length || a.localeCompare(b));
    const lane = async (): Promise<void> => {
      for (let to = mixed.shift(); to; to = mixed.shift())
        expect(await send(pool, to, limits)).toMatchObject({ kind: 'accepted' });
    };
    // The permit lets so many messages go at a time.
    await Promise.all(Array.from({ length: most * MESSAGES_PER_CONNECTION_AT_ONCE }, lane));
    expect(opened).toBe(most);
    expect(budget.used).toBeGreaterThan(0);
    allowed = 0;
    budget.adjust();
    await eventually(() => Promise.resolve(open === 0 && budget.used === 0));
    const waiting = Promise.all(names.map((name) => send(pool, `late@${name}`, limits)));
    await eventually(() => Promise.resolve(pool.usage().queued === names.length));
    allowed = 1;
    budget.adjust();
    expect((await waiting).every(({ kind }) => kind === 'accepted')).toBe(true);
    expect(opened).toBe(most);
  });

  it('lets destinations that never answer hold two connections each at most', async () => {
    const [silent, alive] = [fresh(), fresh()];
    const host = await world().host(silent, { fault: ({ step }) => (step === 'greeting' ? 'silence' : undefined) });
    await world().host(alive);
    const pool = poolOf({ maxConnections: 4 });
    const waiting = Promise.all(Array.from({ length: 30 }, (_, index) => send(pool, `${index}@${silent}`)));
    await eventually(() => Promise.resolve(host.connectionCount() > 0));
    expect(await send(pool, `a@${alive}`)).toMatchObject({ kind: 'accepted' });
    expect(host.connectionCount()).toBeLessThanOrEqual(2);
    expect((await waiting).every(({ kind }) => kind === 'deferred')).toBe(true);
  });

  it.each(['greeting', 'end'])('keeps no connection from others for many that are silent at %s', async (at) => {
    const alive = fresh();
    await world().host(alive);
    const silent = Array.from({ length: 12 }, fresh);
    const hosts: MailHost[] = [];
    for (const name of silent) {
      hosts.push(await world().host(name, { fault: ({ step }) => (step === at ? 'silence' : undefined) }));
    }
    const pool = poolOf({ maxConnections: 2, replyTimeoutMs: 9_000 });
    let ended = 0;
    const waiting = Promise.all(silent.map((name) => send(pool, `a@${name}`).finally(() => (ended += 1))));
    await eventually(() => Promise.resolve(hosts.some((host) => host.connectionCount() > 0)));
    expect(await send(pool, `a@${alive}`)).toMatchObject({ kind: 'accepted' });
    expect(ended).toBe(0);
    await waiting;
    expect(pool.usage()).toMatchObject({ sending: 0, queued: 0 });
    expect(hosts.flatMap((host) => [...host.deliveries().values()]).every((count) => count === 1)).toBe(true);
  });

  it('counts a connection again once its host goes on', async () => {
    const slow = fresh();
    await world().host(slow, { beforeReply: () => delay(1_500) });
    const pool = poolOf();
    const slowly = send(pool, `a@${slow}`);
    await eventually(() => Promise.resolve(pool.usage().sending === 1));
    const used: number[] = [];
    const watch = setInterval(() => used.push(pool.usage().connections), 20);
    expect(await slowly).toMatchObject({ kind: 'accepted' });
    clearInterval(watch);
    expect(new Set(used)).toEqual(new Set([1, 0]));
    expect(pool.usage().connections).toBe(1);
  });

  it('has one for others when very many are silent, but never gives up a message that may have arrived', async () => {
    const alive = fresh();
    await world().host(alive);
    const silentAt = (at: string): FaultyRelayOptions => ({
      fault: ({ step }) => (step === at ? 'silence' : undefined),
    });
    const start = async (count: number, at: string) => {
      const names = Array.from({ length: count }, fresh);
      const hosts: MailHost[] = [];
      for (const name of names) hosts.push(await world().host(name, silentAt(at)));
      return { hosts, names };
    };
    const [apart, early, late] = [await start(100, 'end'), await start(20, 'rcpt'), await start(20, 'end')];
    const pool = poolOf({ maxConnections: 40, replyTimeoutMs: 60_000 });
    const outcomes: SmtpOutcome[] = [];
    const begin = ({ names }: { names: string[] }): void => {
      for (const name of names) {
        // Those on their way are rejected when the pool is closed.
        send(pool, `a@${name}`)
          .then((outcome) => outcomes.push(outcome))
          .catch(() => undefined);
      }
    };
    begin(apart);
    await eventually(() => Promise.resolve(pool.usage().sending === 100 && pool.usage().connections === 0));
    for (const each of [early, late]) begin(each);
    await eventually(() => Promise.resolve(pool.usage().sending === 140));
    expect(pool.usage().connections).toBe(40);
    expect(await send(pool, `a@${alive}`)).toMatchObject({ kind: 'accepted' });
    expect(outcomes.length).toBeGreaterThan(0);
    expect(outcomes.every((each) => each.kind === 'interrupted' && !each.mayHaveBeenAccepted)).toBe(true);
    const counts = [...apart.hosts, ...late.hosts].flatMap((host) => [...host.deliveries().values()]);
    expect(counts).toEqual(Array.from({ length: 120 }, () => 1));
    await pool.close({ timeoutMs: 100 });
  }, 60_000);
});
