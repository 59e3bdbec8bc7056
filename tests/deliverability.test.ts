import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { recordComplaint, recordHardBounce, recordSoftBounce } from '../shared/domain/emails/feedback.ts';
import { listSourceDays, resultsOf, type SourceResults } from '../shared/domain/emails/source-days.ts';
import { updateProject } from '../shared/domain/lifecycle/update-project.ts';
import { sql } from '../shared/database/sql.ts';
import { ANSWER_NUMBERS } from '../shared/pure/deliverability.ts';
import { addReaders, sendToAll } from './support/campaigns.ts';
import { query } from './support/rows.ts';
import { createSmtpSink, type SmtpSink } from './support/smtp-sink.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { startTcpProxy, type TcpProxy } from './support/tcp-proxy.ts';
import { startWorkerProcess, type WorkerProcess } from './support/worker-process.ts';

const PATIENCE_MS = 60_000;
const READERS = 40;
const STEPS = { slow: 12, dead: 5 };
const BULK = 'bulk';

let bulk: SmtpSink;
let stack: TestStack;
let proxy: TcpProxy;
let workers: WorkerProcess[] = [];
let main: string;

beforeAll(async () => {
  bulk = await createSmtpSink();
  stack = await startTestStack({
    hasWorkers: false,
    moreRelays: [`${bulk.url}?pool=bulk&name=${BULK}`],
    config: { DELIVERY_RETRY_SECONDS: [1, 1, 1, 1, 1, 1] },
  });
  main = new URL(stack.sink.url).hostname;
  proxy = await startTcpProxy(stack.database.url);
  workers = [1, 2].map(() => startWorkerProcess({ ...stack.config, DATABASE_URL: proxy.url }, stack.temporal));
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill()));
  await stack.stop();
  await proxy.close();
  await bulk.close();
});

const TODAY = () => new Date().toISOString().slice(0, 10);

/** What is known of a provider and a source, once so many of its emails have an outcome. */
async function countsOf(source: string, provider: string, decided: number) {
  const { deliveryMs, ...counts }: SourceResults = await eventually(async () => {
    const [found] = await resultsOf(stack.em(), [{ source, provider, day: TODAY() }]);
    return found && found.accepted + found.refusedMailbox >= decided && found;
  }, PATIENCE_MS);
  const numbers = ANSWER_NUMBERS.filter((name) => name !== 'deliveryMs' && counts[name] !== 0);
  return {
    numbers: Object.fromEntries(numbers.map((name) => [name, counts[name as keyof typeof counts]])),
    deliveryMs,
  };
}
const reader = (n: number, domain: string) => `reader${n}@${domain}`;

describe('the results of two workers', () => {
  it('are counted for each source and provider, with what was deferred once, through an outage of PostgreSQL', async () => {
    for (let n = 1; n <= STEPS.slow; n++) {
      bulk.replyTo(reader(n, 'slow.test'), { code: 451, text: '4.7.1 Greylisted', stage: 'rcpt', times: 2 });
    }
    for (let n = 1; n <= STEPS.dead; n++) {
      bulk.replyTo(reader(n, 'mixed.test'), { code: 550, text: `5.1.1 User unknown (${n})`, stage: 'rcpt' });
    }
    const project = await stack.createProject();
    await updateProject(stack.em(), project.project.id, { pools: { marketing: BULK } });
    for (const domain of ['taking.test', 'slow.test', 'mixed.test']) {
      await addReaders(stack.em(), project.project.id, READERS, domain);
    }
    const campaign = await sendToAll(project);
    await bulk.waitForMessages(5, PATIENCE_MS);
    await proxy.cut();
    await eventually(async () => bulk.messageCount() > 10, PATIENCE_MS);
    await proxy.restore();
    await eventually(async () => (await campaign.read()).status === 'SENT', 2 * PATIENCE_MS);

    const [taking, slow, mixed] = [
      await countsOf(BULK, 'taking.test', READERS),
      await countsOf(BULK, 'slow.test', READERS),
      await countsOf(BULK, 'mixed.test', READERS),
    ];
    expect(taking.numbers).toEqual({ offered: READERS, accepted: READERS });
    expect(slow.numbers).toEqual({ offered: READERS, accepted: READERS, deferredOther: STEPS.slow });
    expect(slow.deliveryMs).toBeGreaterThanOrEqual(STEPS.slow * 2 * 1_000);
    expect(mixed.numbers).toEqual({
      offered: READERS,
      accepted: READERS - STEPS.dead,
      refusedMailbox: STEPS.dead,
    });
    expect(await listSourceDays(stack.em(), { from: TODAY(), to: TODAY(), source: main })).toEqual([]);
  }, 240_000);

  it('have the source and the provider of reports that come later, each once', async () => {
    const from = 'hello@example.com';
    for (const name of ['ann', 'bob', 'cyd']) {
      const body = { to: `${name}@later.test`, from, subject: 'S', body: 'B' };
      expect((await stack.api('POST', '/v1/send', { body })).status).toBe(200);
    }
    await countsOf(main, 'later.test', 3);
    const emails = await eventually(async () => {
      const rows = await query(
        stack.em(),
        sql`select id from email where to_address like '%@later.test' and status = 'SENT' order by to_address`,
      );
      return rows.length === 3 && rows.map(({ id }) => String(id));
    }, PATIENCE_MS);
    const [ann = '', bob = '', cyd = ''] = emails;
    for (let times = 0; times < 2; times++) {
      await recordComplaint(stack.em(), ann);
      await recordHardBounce(stack.em(), bob, { kind: 'hard', rule: 'no-such-user', diagnostic: 'gone' });
      await recordSoftBounce(stack.em(), cyd, { kind: 'sender', rule: 'spam', diagnostic: 'spam' }, `report ${times}`);
    }
    const { numbers } = await countsOf(main, 'later.test', 4);
    expect(numbers).toEqual({ offered: 3, accepted: 3, complaints: 1, refusedMailbox: 1, refusedReputation: 1 });
  }, 120_000);

  it('are stored to the last one when a worker is told to stop', async () => {
    const [stopping, other] = workers;
    await other?.terminate();
    for (const name of ['one', 'two', 'three']) {
      const body = { to: `${name}@last.test`, from: 'hello@example.com', subject: 'S', body: 'B' };
      expect((await stack.api('POST', '/v1/send', { body })).status).toBe(200);
    }
    await eventually(
      () => Promise.resolve(stack.sink.messages().filter(({ to }) => to.join().endsWith('@last.test')).length === 3),
      PATIENCE_MS,
    );
    expect(await stopping?.terminate()).toBe(0);
    const [found] = await resultsOf(stack.em(), [{ source: main, provider: 'last.test', day: TODAY() }]);
    expect(found).toMatchObject({ offered: 3, accepted: 3 });
    const [sent] = await query(
      stack.em(),
      sql`select sum(sent)::int as sent from provider_day where provider = 'last.test'`,
    );
    expect(sent).toEqual({ sent: 3 });
  }, 120_000);
});
