import { expect } from '@jest/globals';
import { Everpost } from '../../../clients/typescript/src/index.ts';
import { sql } from '../../../shared/database/sql.ts';
import { callsTo, type TestProject, type TestReply } from '../api.ts';
import { createAutomation, createTemplate } from '../automations.ts';
import { eventually } from '../eventually.ts';
import { query, queryOne } from '../rows.ts';
import { addressesOf, expectArrived, PATIENCE_MS, type KillPoint, type KillWorld, type Load } from './load.ts';
import { expectStoredOnce, submitAll } from './submissions.ts';

/** `CLIENT_SENDS=10000 npm test -- tests/kills` sends more. */
const SENDS = Number(process.env['CLIENT_SENDS'] ?? 200);
const EVENTS = SENDS * 0.75;
const CLIENTS_MS = PATIENCE_MS + SENDS * 50;

/** The kills while clients send: of the API, and of its connections to PostgreSQL, in turn. */
export const CLIENT_KILLS = Object.fromEntries(
  Array.from({ length: Math.max(4, SENDS / 500) }, (_, n) => [
    `kill ${n + 1}`,
    n % 2 === 0 ? ('api' as const) : ('postgresql of the api' as const),
  ]),
);

/** Tracks an event as a careful client does, which repeats a request under its key until there is an answer. */
async function trackOnce(url: string, project: TestProject, email: string, event: string): Promise<void> {
  const request = { key: 'public', body: { email, event }, headers: { 'idempotency-key': `${event} ${email}` } };
  await eventually(async () => {
    const reply: TestReply = await callsTo(url, project.keys)('POST', '/v1/track', request);
    if (reply.status === 409 && reply.body.error.code === 'IDEMPOTENCY_KEY_REUSED') {
      // With null, the first request may still be under way.
      return reply.body.error.details.originalStatusCode === 200;
    }
    if (reply.status !== 200) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
    return true;
  }, CLIENTS_MS);
}

/** Waits until all work of a project's executions is done, and checks that each event had each effect once. */
async function expectOnceEach(
  world: KillWorld,
  { project, api }: TestProject,
  automationId: string,
  addresses: string[],
): Promise<void> {
  await eventually(async () => {
    const { body } = await api('GET', `/workflows/${automationId}/executions?status=COMPLETED`);
    // The dispatcher deletes a row a moment after the workflow that the row asked for has started.
    const left = await query(world.em(), sql`select from outbox where project_id = ${project.id}`);
    return body.total === addresses.length && left.length === 0;
  }, CLIENTS_MS);
  await expectArrived(world, addresses);
  const outcomes = await query(
    world.em(),
    sql`
      select
        (select count(*) from automation_execution x where x.contact_id = c.id) as executions,
        (select count(*) from automation_execution x where x.contact_id = c.id and x.status = 'COMPLETED') as completed,
        (select count(*) from event e where e.contact_id = c.id and e.email_id is null) as events,
        (select count(*) from email m where m.contact_id = c.id) as mails
      from contact c where c.project_id = ${project.id}`,
  );
  expect(outcomes).toEqual(addresses.map(() => ({ executions: 1, completed: 1, events: 1, mails: 1 })));
}

/** A project whose contacts get one email for each event. Only the engine itself prevents a second execution. */
async function createEmailer(world: KillWorld, event: string): Promise<TestProject & { automationId: string }> {
  const project = await world.createProject();
  const templateId = await createTemplate(project);
  const steps = { Mail: { type: 'SEND_EMAIL', templateId } };
  return { ...project, automationId: await createAutomation(project, event, steps, { allowReentry: true }) };
}

/** Events that were tracked before the API was killed, and before there was a worker. */
export function orphanLoad(world: KillWorld): Load {
  const addresses = addressesOf(30, 'orphaned.test');
  let project: TestProject & { automationId: string };
  return {
    name: 'leaves outbox rows, which a worker dispatches',
    isHeld: true,
    points: {
      first: {
        async hold() {
          project = await createEmailer(world, 'orphaned');
          await Promise.all(addresses.map((address) => trackOnce(world.apiUrl, project, address, 'orphaned')));
        },
        async letGo() {
          const rows = await query(world.em(), sql`select from outbox where project_id = ${project.project.id}`);
          expect(rows).toHaveLength(addresses.length);
          world.workerProcess.start();
          await expectOnceEach(world, project, project.automationId, addresses);
          expect(world.apiProcess.isRunning()).toBe(false);
        },
      },
    },
    check: () => expectOnceEach(world, project, project.automationId, addresses),
  };
}

/** Clients that work through a list. */
interface Clients {
  name: string;
  addresses: string[];
  /** How many clients there are. */
  count: number;
  prepare: (world: KillWorld) => Promise<void>;
  /** Works through a list, and says when each is done. */
  run: (queue: string[], isDone: () => void) => Promise<void>;
  check: () => Promise<void>;
}

const each =
  (work: (address: string) => Promise<unknown>): Clients['run'] =>
  async (queue, isDone) => {
    for (let address = queue.shift(); address !== undefined; address = queue.shift()) {
      await work(address);
      isDone();
    }
  };

function trackers(world: KillWorld): Clients {
  const addresses = addressesOf(EVENTS, 'killed.test');
  let project: TestProject & { automationId: string };
  return {
    name: 'loses no event and does nothing twice',
    addresses,
    count: 12,
    prepare: async () => void (project = await createEmailer(world, 'killed')),
    run: each((address) => trackOnce(world.apiUrl, project, address, 'killed')),
    check: () => expectOnceEach(world, project, project.automationId, addresses),
  };
}

function senders(world: KillWorld): Clients {
  const addresses = addressesOf(SENDS, 'client.test');
  const mail = { from: 'hello@example.com', subject: 'Hello', body: '<p>Hello</p>' };
  let project: TestProject;
  let everpost: Everpost;
  return {
    name: 'loses and repeats no email, also when requests fail',
    addresses,
    count: 25,
    async prepare() {
      project = await world.createProject();
      everpost = new Everpost({ url: world.faulty.url, ...project.keys, maxRetries: 30 });
    },
    run: each((to) => everpost.send({ to, ...mail })),
    async check() {
      const faults = Object.values(world.faulty.counts).reduce((sum, count) => sum + count);
      expect(faults).toBeGreaterThan(SENDS * 0.2);
      await expectArrived(world, addresses);
      const stored = await queryOne(
        world.em(),
        sql`
          select count(*)::int as emails, count(distinct to_address)::int as addresses from email
          where project_id = ${project.project.id}`,
      );
      expect(stored).toEqual({ emails: SENDS, addresses: SENDS });
    },
  };
}

function submitters(world: KillWorld): Clients {
  const addresses = addressesOf(SENDS, 'submitted.test');
  let project: TestProject;
  return {
    name: 'loses no message that was submitted, and sends none twice',
    addresses,
    count: 8,
    prepare: async () => void (project = await world.createProject()),
    run: (queue, isDone) => submitAll(world.submissionPort, project.keys.secretKey, queue, isDone),
    check: () => expectStoredOnce(world, addresses),
  };
}

/** Clients of all kinds, which work at the same time. The kills come when one kind has done its share. */
export function clientLoads(world: KillWorld): Load[] {
  const kills = Object.keys(CLIENT_KILLS);
  const all = [trackers(world), senders(world), submitters(world)].map((clients) => ({ clients, done: 0 }));
  return all.map((mine) => {
    const { clients } = mine;
    const total = clients.addresses.length;
    let working: Promise<unknown>;
    const pointAt = (share: number): KillPoint => ({
      hold: () =>
        eventually(
          () => Promise.resolve(all.some((each) => each.done >= share * each.clients.addresses.length)),
          CLIENTS_MS,
        ),
      letGo: async () => expect(mine.done).toBeLessThan(total),
    });
    return {
      name: clients.name,
      isHeld: true,
      async begin() {
        await clients.prepare(world);
        const queue = [...clients.addresses];
        working = Promise.all(
          Array.from({ length: clients.count }, () => clients.run(queue, () => void (mine.done += 1))),
        );
      },
      points: Object.fromEntries(kills.map((kill, index) => [kill, pointAt((index + 1) / (kills.length + 1))])),
      async check() {
        await working;
        await clients.check();
      },
    };
  });
}
