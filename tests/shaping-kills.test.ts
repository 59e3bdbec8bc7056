import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { addReaders, sendToAll } from './support/campaigns.ts';
import { testEnvironment } from './support/environment.ts';
import { startEverpostProcess, type EverpostProcess } from './support/everpost-process.ts';
import type { RelayEvent } from './support/faulty-relay.ts';
import { createMailWorld, type MailHost, type MailWorld } from './support/mail-hosts.ts';
import { query } from './support/rows.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const PATIENCE_MS = 90_000;
const WARMING = '127.0.1.2';
const SOURCES = ['127.0.1.1', WARMING];
/** Emails that the source that warms up may send to a provider on its first day. */
const FIRST_DAY = 9;
/** The rules of providers, each for every source. */
const RULES = {
  narrow: { connections: 3, messagesPerConnection: 5 },
  steady: { perSecond: 10 },
  minute: { perMinute: 30 },
} as const;
type Name = keyof typeof RULES;
const NAMES = Object.keys(RULES) as Name[];
const WORKERS = 3;
/** A campaign of this size is one page, which one worker sends. So several of them make the workers share the rules. */
const CAMPAIGNS = 2 * WORKERS;
/** Of each provider. */
const READERS = 60;

interface Provider {
  domains: string[];
  host: MailHost;
  events: RelayEvent[];
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'everpost-shaping-kills-'));
const lag = monitorEventLoopDelay({ resolution: 5 });
let mail: MailWorld;
let stack: TestStack;
const workers: EverpostProcess[] = [];
/** While set, no host replies to a message. */
let held: { count: number; letGo: Promise<unknown> } | undefined;

beforeAll(async () => {
  lag.enable();
  mail = await createMailWorld();
  const file = path.join(folder, 'shaping.json');
  const rules = NAMES.map((name) => ({ provider: `${name}.test`, ...RULES[name] }));
  writeFileSync(
    file,
    JSON.stringify({ defaults: 'none', rules, plans: [{ name: 'tiny', perDay: [FIRST_DAY, 1_000] }] }),
  );
  const [warm] = SOURCES;
  const config = {
    SMTP_URL: [`${mail.url}&source=${warm}`, `${mail.url}&source=${WARMING}&warmup=tiny`],
    SMTP_CONNECTIONS: 12,
    DNS_SERVERS: [mail.dns.address],
    SHAPING_FILE: file,
  };
  stack = await startTestStack({ hasWorkers: false, config });
}, PATIENCE_MS);
afterAll(async () => {
  lag.disable();
  await Promise.all(workers.map((worker) => worker.kill()));
  await Promise.all([stack.stop(), mail.close()]);
  rmSync(folder, { recursive: true });
});

function startWorker(): void {
  const environment = {
    WORKFLOW_BUNDLE: testEnvironment().workflowBundlePath,
    SHAPING_FILE: stack.config.SHAPING_FILE,
    DATABASE_POOL_SIZE: '5',
  };
  workers.push(startEverpostProcess('worker', stack.config, stack.temporal, environment));
}

/** A provider with one mail host, and a domain for each campaign that it takes mail for. */
async function createProvider(name: Name): Promise<Provider> {
  const domains = Array.from({ length: CAMPAIGNS }, (_, n) => (n === 0 ? `${name}.test` : `${n}.${name}.example`));
  const events: RelayEvent[] = [];
  const host = await mail.host(`mx.${name}.test`, {
    watch: (event) => void events.push(event),
    beforeReply: async () => {
      if (!held) return;
      held.count += 1;
      await held.letGo;
    },
  });
  for (const domain of domains) mail.domain(domain, `mx.${name}.test`);
  return { domains, host, events };
}

/** Kills a worker while messages of all workers wait for a reply and all earlier results are stored, and replaces it. */
async function killInTheMiddle(campaignIds: readonly string[], providers: readonly Provider[]): Promise<void> {
  const gate = Promise.withResolvers<undefined>();
  const hold = { count: 0, letGo: gate.promise };
  held = hold;
  const sent = sql`select from email where campaign_id = any(${campaignIds}::uuid[]) and status = 'SENT'`;
  const taken = (): number => providers.reduce((sum, { host }) => sum + host.deliveries().size, 0);
  await eventually(
    async () => hold.count > 0 && (await query(stack.em(), sql`${sent}`)).length === taken(),
    PATIENCE_MS,
  );
  await workers.shift()?.kill();
  // The hosts see its connections end.
  await new Promise(setImmediate).then(() => new Promise(setImmediate));
  held = undefined;
  gate.resolve(undefined);
  startWorker();
}

/** Whether a message arrived, or a connection began or ended. */
type Kind = RelayEvent['kind'];
const eventsOf = ({ events }: Provider, source: string, ...kinds: Kind[]): RelayEvent[] =>
  events.filter((event) => event.source === source && kinds.includes(event.kind));

/** The most messages of a source within any window of a length. */
function mostWithin(provider: Provider, source: string, windowMs: number): number {
  const arrived = eventsOf(provider, source, 'message').map(({ atMs }) => atMs);
  return Math.max(0, ...arrived.map((at) => arrived.filter((each) => each >= at && each < at + windowMs).length));
}

/** The most connections of a source at a time; the host may see each end so much later than it came. */
function mostOpen(provider: Provider, source: string, lateMs: number): number {
  const steps = eventsOf(provider, source, 'open', 'over').map(({ kind, atMs }) =>
    kind === 'open' ? { atMs, by: 1 } : { atMs: atMs - lateMs, by: -1 },
  );
  let open = 0;
  return Math.max(0, ...steps.sort((one, other) => one.atMs - other.atMs).map(({ by }) => (open += by)));
}

/** The most messages of one connection. */
function mostCarried({ events }: Provider): number {
  const counts = new Map<number, number>();
  for (const { kind, connection } of events)
    if (kind === 'message') counts.set(connection, (counts.get(connection) ?? 0) + 1);
  return Math.max(...counts.values());
}

it(
  'workers keep every rule and the day of a warm-up while one is killed, lose no email and repeat none',
  async () => {
    const [narrow, steady] = [await createProvider('narrow'), await createProvider('steady')];
    const minute = await createProvider('minute');
    const providers = [narrow, steady, minute];
    lag.reset();
    while (workers.length < WORKERS) startWorker();
    const projects = await Promise.all(Array.from({ length: CAMPAIGNS }, () => stack.createProject()));
    for (const { domains } of providers)
      for (const [n, domain] of domains.entries())
        await addReaders(stack.em(), projects[n]?.project.id ?? '', READERS / CAMPAIGNS, domain);
    const campaigns = await Promise.all(projects.map(sendToAll));
    const ids = campaigns.map(({ id }) => id);
    await eventually(async () => providers.every(({ host }) => host.deliveries().size >= READERS / 5), PATIENCE_MS);
    await killInTheMiddle(ids, providers);
    const statuses = sql`
      select status, to_address as to from email
      where campaign_id = any(${ids}::uuid[]) and (status = 'SENT' or wait_reason = 'traffic rule')`;
    const isDone = () => [narrow, steady].every(({ host }) => host.deliveries().size === READERS);
    await eventually(async () => isDone() && (await query(stack.em(), statuses)).length === 3 * READERS, PATIENCE_MS);
    await Promise.all(projects.map(({ api }, n) => api('POST', `/campaigns/${ids[n]}/cancel`)));

    // No email is lost, and none comes twice: those of the rule for a minute wait, all others were sent.
    const rows = await query(stack.em(), statuses);
    const sent = rows.flatMap(({ status, to }) => (status === 'SENT' ? [String(to)] : []));
    const received = providers.flatMap(({ host }) => [...host.deliveries()]);
    expect(new Map(received)).toEqual(new Map(sent.map((to) => [to, 1])));

    // The moments are of this process, which may have been late for so long.
    const lateMs = lag.max / 1_000_000;
    for (const source of SOURCES) {
      expect(mostOpen(narrow, source, lateMs)).toBeLessThanOrEqual(RULES.narrow.connections);
      expect(mostWithin(steady, source, 1_000 - lateMs)).toBeLessThanOrEqual(RULES.steady.perSecond);
      expect(mostWithin(steady, source, 5_000 - lateMs)).toBeLessThanOrEqual(RULES.steady.perSecond * 5);
      expect(mostWithin(minute, source, 60_000)).toBeLessThanOrEqual(RULES.minute.perMinute);
    }
    expect(mostCarried(narrow)).toBeLessThanOrEqual(RULES.narrow.messagesPerConnection);
    for (const provider of providers) {
      const ofDay = eventsOf(provider, WARMING, 'message').length;
      expect(ofDay).toBeLessThanOrEqual(FIRST_DAY);
      // A killed worker takes with it what it was lent.
      expect(ofDay).toBeGreaterThan(0);
    }
  },
  2 * PATIENCE_MS,
);
