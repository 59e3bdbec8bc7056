import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { findFreePort } from '../local/processes/free-port.ts';
import { sql } from '../shared/database/sql.ts';
import { updateProject } from '../shared/domain/lifecycle/update-project.ts';
import { emailDeliveryWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { callsTo, type TestProject } from './support/api.ts';
import { addReaders, sendToAll } from './support/campaigns.ts';
import { uploadContacts } from './support/csv-files.ts';
import { testEnvironment } from './support/environment.ts';
import { startEverpostProcess, type EverpostProcess } from './support/everpost-process.ts';
import { reconcile } from './support/reconcile.ts';
import { query, queryOne } from './support/rows.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const OTHER_CLOCK = fileURLToPath(new URL('support/other-clock-main.ts', import.meta.url));
const BLOCKED = { code: 554, text: '5.7.1 Your address is on a blocklist', stage: 'rcpt' } as const;
const RECIPIENTS = 100;
const TEN_MINUTES = 600_000;

let stack: TestStack;
let running: EverpostProcess[] = [];
beforeAll(async () => {
  stack = await startTestStack({ hasWorkers: false });
});
beforeEach(() => stack.sink.clear());
afterAll(() => stack.stop());

async function killAll(): Promise<void> {
  await Promise.all(running.map((process) => process.kill()));
  running = [];
}

/** Starts a process whose clock is so far ahead of those of PostgreSQL and Temporal. */
function start(name: 'api' | 'worker', aheadMs: number, environment: NodeJS.ProcessEnv = {}): EverpostProcess {
  const bundle = { WORKFLOW_BUNDLE: testEnvironment().workflowBundlePath };
  const own = { ...bundle, OTHER_CLOCK_MS: String(aheadMs), ...environment };
  const process = startEverpostProcess(name, stack.config, stack.temporal, own, ['--import', OTHER_CLOCK]);
  running.push(process);
  return process;
}

/** Calls of an API process whose clock is so far ahead. */
async function callsToApi(aheadMs: number) {
  const port = await findFreePort(0);
  const process = start('api', aheadMs, { HOST: '127.0.0.1', PORT: String(port) });
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => (await fetch(`${url}/ready`)).ok || !process.isRunning(), 60_000);
  return callsTo(url, stack.keys);
}

describe.each([
  ['ahead', TEN_MINUTES],
  ['behind', -TEN_MINUTES],
])('the clock of a process that is ten minutes %s', (_which, aheadMs) => {
  let api: TestProject['api'];
  let worker: EverpostProcess | undefined;
  beforeAll(async () => {
    api = await callsToApi(aheadMs);
  }, 60_000);
  afterAll(killAll);
  const useWorker = () => (worker ??= start('worker', aheadMs));

  it('decides neither what a contact was deleted after nor what an import brings back', async () => {
    const owner = { ...stack, api };
    const [before, after] = [randomUUID(), randomUUID()].map((name) => `${name}@mail.test`) as [string, string];
    const remove = async (email: string) => {
      const { body } = await api('POST', '/contacts', { body: { email } });
      expect((await api('DELETE', `/contacts/${body.id}`)).status).toBe(204);
    };
    await remove(before);
    const jobId = await uploadContacts(owner, `email\n${before}\n${after}\n`);
    await remove(after);
    useWorker();
    await eventually(async () => (await api('GET', `/contacts/import/${jobId}`)).body.state === 'completed', 60_000);
    const there = async (email: string) => (await api('GET', `/contacts?search=${email}`)).body.data.length;
    expect([await there(before), await there(after)]).toEqual([1, 0]);
  }, 120_000);

  it('leaves no contact of this moment out of a segment, its file and a campaign', async () => {
    const email = `${randomUUID()}@mail.test`;
    await api('POST', '/contacts', { body: { email, data: { case: email } } });
    const own = { field: 'data.case', operator: 'equals', value: email };
    const recent = { field: 'createdAt', operator: 'within', value: 5, unit: 'minutes' };
    const condition = { logic: 'AND', groups: [{ filters: [own, recent] }] };
    const segment = { name: email, type: 'DYNAMIC', condition, trackMembership: true };
    const { id } = (await api('POST', '/segments', { body: segment })).body;
    expect((await api('POST', `/segments/${id}/compute`)).body).toMatchObject({ total: 1 });
    expect((await api('GET', `/segments/${id}/contacts`)).body).toMatchObject({ total: 1 });
    const file = await api('GET', `/contacts/export?segmentId=${id}&format=csv`);
    expect(file.body).toContain(email);
    const draft = { name: 'News', subject: 'News', body: '<p>News</p>', from: 'news@example.com' };
    const audience = { audienceType: 'FILTERED', audienceCondition: condition };
    const campaign = (await api('POST', '/campaigns', { body: { ...draft, ...audience } })).body.data;
    expect((await api('POST', `/campaigns/${campaign.id}/send`, { body: {} })).status).toBe(200);
  }, 120_000);

  it('changes neither why a campaign waits, nor until when', async () => {
    useWorker();
    const [domain, project] = [`${randomUUID()}.test`, await stack.createProject()];
    await addReaders(stack.em(), project.project.id, RECIPIENTS, domain);
    for (let n = 1; n <= RECIPIENTS; n++) stack.sink.replyTo(`reader${n}@${domain}`, BLOCKED);
    const campaign = await sendToAll(project);
    const waiting = await eventually(async () => (await campaign.read()).waiting ?? false, 60_000);
    expect(waiting).toMatchObject({ provider: domain });
    expect(Math.abs(Date.parse(waiting.until) - Date.now())).toBeLessThan(120_000);
    stack.sink.clear();
    await eventually(async () => (await campaign.read()).status === 'SENT', 120_000);
    expect(stack.sink.messageCount()).toBe(RECIPIENTS);
  }, 200_000);

  it('does not change when a campaign of limited speed goes on that another worker sends', async () => {
    const project = await stack.createProject();
    const { id } = project.project;
    await updateProject(stack.em(), id, { emailsPerSecond: 20 });
    await addReaders(stack.em(), id, RECIPIENTS, `${randomUUID()}.test`);
    await query(
      stack.em(),
      sql`insert into project_permit (project_id, next_free_at) values (${id}, now() + interval '15 seconds')`,
    );
    const first = useWorker();
    const campaign = await sendToAll(project);
    const held = sql`select from project_permit where project_id = ${id} and holds -> 'campaign' ->> 'reason' = 'throttled'`;
    await eventually(async () => (await query(stack.em(), held)).length === 1, 60_000);
    await first.terminate();
    start('worker', 0);
    await eventually(async () => (await campaign.read()).status === 'SENT', 60_000);
    expect(stack.sink.messageCount()).toBe(RECIPIENTS);
  }, 150_000);

  it('lets no email go a second time while its attempt may be sending', async () => {
    await killAll();
    start('worker', aheadMs, { DELIVERY_RETRY_SECONDS: '3600' });
    const to = `${randomUUID()}@mail.test`;
    stack.sink.replyTo(to, { code: 451, stage: 'rcpt', times: 1 });
    const body = { to, subject: 'Hello', body: '<p>Hi</p>', from: 'hello@example.com' };
    const id = (await stack.api('POST', '/v1/send', { body })).body.data.emails[0].email as string;
    const find = () =>
      queryOne(stack.em(), sql`select deferrals, delivery_id as "deliveryId" from email where id = ${id}`);
    await eventually(async () => (await find())?.deferrals === 1, 60_000);
    await query(
      stack.em(),
      sql`
        update email set status = 'SENDING', claim_token = ${randomUUID()}, delivery_due_at = now() - interval '2 hours'
        where id = ${id}`,
    );
    await stack.temporal.client.workflow.getHandle(emailDeliveryWorkflowId(id)).terminate('lost');
    await reconcile(stack);
    expect(await find()).toMatchObject({ deliveryId: id });
    await query(stack.em(), sql`delete from email where id = ${id}`);
  }, 120_000);
});
