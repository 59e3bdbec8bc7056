import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { v7 as uuidV7 } from 'uuid';
import { nextStep, type AutomationGraph, type GraphStep, type GraphTransition } from '../../pure/automation-graph.ts';
import type { Branch, ExecutionStatus } from '../../pure/automation-status.ts';
import { createLinkSigner } from '../../platform/links.ts';
import { createMailCompiler } from '../../platform/mail/mail-content.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { trustDomain } from '../domains/sender-domains.ts';
import { recordEvents } from '../events/events.ts';
import { createProject } from '../projects/projects.ts';
import { json, query, queryOne, sql } from '../sql.ts';
import { createTemplate } from '../templates/templates.ts';
import { createWalker, type Walker, type WalkOptions } from './walk.ts';

const HOUR = 3_600_000;

let database: TestDatabase;
let projectId: string;
let templateId: string;
const em = () => database.orm.em.fork();
beforeAll(async () => {
  database = await createTestDatabase();
  projectId = (await createProject(em(), 'Test')).project.id;
  await trustDomain(em(), projectId, 'example.com');
  const content = { name: 'T', subject: 'S', body: 'B', from: 'a@example.com', type: 'TRANSACTIONAL' } as const;
  templateId = (await createTemplate(em(), projectId, content)).id;
});
afterAll(() => database.drop());

class Crash extends Error {}

/** A walker whose transactions are lost at the last moment when `crashes` says so. */
function walkerOn(crashes: () => boolean): Walker {
  return createWalker({
    em() {
      const unit = em();
      if (!crashes()) return unit;
      const transactional = unit.transactional.bind(unit);
      unit.transactional = (work) =>
        transactional(async (tx) => {
          await work(tx);
          throw new Crash();
        });
      return unit;
    },
    links: createLinkSigner({ appSecret: 'x'.repeat(32), publicUrl: 'https://everpost.test' }),
    compileMail: createMailCompiler(),
    messageBytesMax: 1_000_000,
  });
}

const optionsAt = (ms: number): WalkOptions => ({ now: () => new Date(ms), runId: null, isFinal: () => false });

async function createAutomation(graph: AutomationGraph): Promise<{ id: string; event: string }> {
  const [id, graphId, event] = [uuidV7(), uuidV7(), `start_${uuidV7()}`];
  await query(
    em(),
    sql`
      with a as (
        insert into automation (id, project_id, name, enabled, trigger_event, graph_id, created_at, updated_at)
        values (${id}, ${projectId}, 'A', true, ${event}, ${graphId}, now(), now())
      )
      insert into automation_graph (id, automation_id, graph, created_at)
      values (${graphId}, ${id}, ${json(graph)}::jsonb, now())`,
  );
  return { id, event };
}

async function createContact(): Promise<string> {
  const id = uuidV7();
  await query(
    em(),
    sql`
      insert into contact (id, project_id, email, subscribed, created_at, updated_at)
      values (${id}, ${projectId}, ${`${id}@mail.test`}, true, now(), now())`,
  );
  return id;
}

async function enter(event: string, contactId: string, data: Record<string, unknown> = {}): Promise<string> {
  await recordEvents(em(), [{ projectId, contactId, name: event, data }]);
  const row = await queryOne<{ id: string }>(
    em(),
    sql`select id from automation_execution where contact_id = ${contactId} order by id desc limit 1`,
  );
  return row!.id;
}

interface TimedEvent {
  name: string;
  atMs: number;
  y: number;
}

interface Story {
  path: string[];
  status: ExecutionStatus;
  exitReason: string | null;
  context: Record<string, unknown>;
  x: number | null;
  mails: number;
}

/** What a graph means, without a database, a clock or Temporal. */
function tell(graph: AutomationGraph, events: TimedEvent[], startMs: number): Story {
  const story: Story = { path: [], status: 'COMPLETED', exitReason: null, context: { y: 0 }, x: null, mails: 0 };
  let now = startMs;
  let step: GraphStep | undefined = graph.steps[0];
  while (step) {
    const { config } = step as { config: Record<string, any> };
    let branch: Branch | null = null;
    switch (step.type) {
      case 'UPDATE_CONTACT':
        story.x = config['data'].x;
        break;
      case 'CONDITION':
        branch = (config['field'] === 'data.x' ? story.x : story.context['y']) === config['value'] ? 'yes' : 'no';
        break;
      case 'SEND_EMAIL':
        story.mails += 1;
        break;
      case 'DELAY':
        now += config['amount'] * HOUR;
        break;
      case 'WAIT_FOR_EVENT': {
        const until = config['timeout'] === undefined ? Infinity : now + config['timeout'] * 1_000;
        const since = now;
        const event = events.find((it) => it.name === config['eventName'] && it.atMs > since && it.atMs < until);
        if (!event && until === Infinity) {
          story.path.push(`${step.name} WAITING`);
          return { ...story, status: 'WAITING' };
        }
        if (event) story.context = { ...story.context, y: event.y };
        branch = event ? 'event' : 'timeout';
        now = event ? event.atMs : until;
        break;
      }
      case 'EXIT':
        story.path.push(`${step.name} COMPLETED`);
        return { ...story, status: 'EXITED', exitReason: config['reason'] };
      default:
    }
    story.path.push(`${step.name} COMPLETED`);
    step = nextStep(graph, step.id, branch);
  }
  return story;
}

/** A row of numbers between 0 and 1 that a seed repeats (Park and Miller). */
function chanceFrom(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Runs a graph on PostgreSQL, with calls that crash, come twice at once, or come although nothing happened. */
async function run(
  graph: AutomationGraph,
  events: TimedEvent[],
  startMs: number,
  chance: () => number,
): Promise<Story> {
  const { event } = await createAutomation(graph);
  const contactId = await createContact();
  const executionId = await enter(event, contactId, { y: 0 });
  const walker = walkerOn(() => chance() < 0.15);
  const pending = [...events];
  const call = async (ms: number) => {
    const attempts = chance() < 0.3 ? 2 : 1;
    const results = await Promise.allSettled(
      Array.from({ length: attempts }, () => walker.walk(executionId, optionsAt(ms))),
    );
    for (const result of results) {
      if (result.status === 'fulfilled') continue;
      if (!(result.reason instanceof Crash)) throw result.reason;
    }
    return results.findLast((result) => result.status === 'fulfilled')?.value;
  };
  let now = startMs;
  for (;;) {
    const outcome = await call(now);
    if (!outcome || outcome.kind === 'more') continue;
    if (outcome.kind === 'ended' || outcome.kind === 'webhook') break;
    const until = outcome.untilMs ?? Infinity;
    const next = pending[0];
    if (next && next.atMs < until) {
      pending.shift();
      if (next.atMs > now) now = next.atMs;
      await recordEvents(em(), [{ projectId, contactId, name: next.name, data: { y: next.y } }]);
    } else if (until === Infinity) {
      break;
    } else {
      now = until;
    }
  }
  return readStory(executionId, graph);
}

async function readStory(executionId: string, graph: AutomationGraph): Promise<Story> {
  const row = await queryOne<Omit<Story, 'path'>>(
    em(),
    sql`
      select status, exit_reason as "exitReason", context, (c.data ->> 'x')::int as x,
        (select count(*) from email e where e.execution_id = x.id) as mails
      from automation_execution x join contact c on c.id = x.contact_id where x.id = ${executionId}`,
  );
  const records = await query<{ step_id: string; status: string }>(
    em(),
    sql`select step_id, status from step_execution where execution_id = ${executionId} order by visit`,
  );
  const nameOf = (id: string) => graph.steps.find((step) => step.id === id)!.name;
  return { ...row!, path: records.map((record) => `${nameOf(record.step_id)} ${record.status}`) };
}

type Draft = Pick<GraphStep, 'type' | 'config'>;

const draft: fc.Arbitrary<Draft> = fc.oneof(
  fc.integer({ min: 0, max: 2 }).map((x): Draft => ({ type: 'UPDATE_CONTACT', config: { data: { x } } })),
  fc
    .record({ field: fc.constantFrom('data.x', 'event.y'), value: fc.integer({ min: 0, max: 2 }) })
    .map(({ field, value }): Draft => ({ type: 'CONDITION', config: { field, operator: 'equals', value } })),
  fc.integer({ min: 1, max: 5 }).map((amount): Draft => ({ type: 'DELAY', config: { amount, unit: 'hours' } })),
  fc
    .record({ eventName: fc.constantFrom('e0', 'e1'), hours: fc.option(fc.integer({ min: 1, max: 6 })) })
    .map(({ eventName, hours }): Draft => ({
      type: 'WAIT_FOR_EVENT',
      config: { eventName, ...(hours !== null && { timeout: hours * 3_600 }) },
    })),
  fc.constant<Draft>({ type: 'SEND_EMAIL', config: {} }),
  fc.constantFrom('a', 'b').map((reason): Draft => ({ type: 'EXIT', config: { reason } })),
);

/** Steps whose transitions lead to later ones only, so that no loop can be. */
const graphs: fc.Arbitrary<AutomationGraph> = fc
  .array(fc.record({ draft, jumps: fc.tuple(fc.nat(3), fc.nat(3)), isPlain: fc.boolean() }), {
    minLength: 1,
    maxLength: 9,
  })
  .map((items) => {
    const steps: GraphStep[] = [{ id: uuidV7(), type: 'TRIGGER', name: 'Trigger', config: {}, templateId: null }];
    for (const [index, { draft: step }] of items.entries()) {
      steps.push({ ...step, id: uuidV7(), name: `S${index} ${step.type}`, templateId: null });
    }
    const transitions: GraphTransition[] = [];
    const connect = (from: number, jump: number, branch: Branch | null) => {
      const [source, target] = [steps[from], steps[from + 1 + jump]];
      if (source && target) transitions.push({ fromStepId: source.id, toStepId: target.id, branch });
    };
    connect(0, 0, null);
    for (const [index, { draft: step, jumps, isPlain }] of items.entries()) {
      const branches: [Branch | null, Branch | null] =
        step.type === 'CONDITION'
          ? ['yes', 'no']
          : step.type === 'WAIT_FOR_EVENT' && !isPlain
            ? ['event', 'timeout']
            : [null, null];
      if (step.type === 'EXIT') continue;
      connect(index + 1, jumps[0], branches[0]);
      if (branches[1] !== null) connect(index + 1, jumps[1], branches[1]);
    }
    return { steps, transitions };
  });

/** Half hours: delays and timeouts are whole ones, so nothing comes at the same moment. */
const schedules = fc
  .array(fc.record({ name: fc.constantFrom('e0', 'e1'), halfHour: fc.nat(30), y: fc.integer({ min: 0, max: 2 }) }), {
    maxLength: 8,
  })
  .map((items) => items.sort((a, b) => a.halfHour - b.halfHour));

describe('a walk', () => {
  it('does what the graph says, whatever crashes, comes twice, or comes for nothing', async () => {
    const startMs = Date.now();
    await fc.assert(
      fc.asyncProperty(graphs, schedules, fc.integer({ min: 1 }), async (drawn, schedule, seed) => {
        const graph = { ...drawn, steps: drawn.steps.map((step) => ({ ...step, templateId })) };
        const events = schedule.map(({ name, halfHour, y }, index) => ({
          name,
          y,
          atMs: startMs + (halfHour + 0.5) * HOUR + index,
        }));
        const story = await run(graph, events, startMs, chanceFrom(seed));
        expect(story).toEqual(tell(graph, events, startMs));
      }),
      // A case that is shrunk while its luck changes says nothing.
      { numRuns: 120, endOnFailure: true },
    );
  });
});

describe('a wait and its event', () => {
  const waiting: AutomationGraph = (() => {
    const step = (type: GraphStep['type'], config = {}): GraphStep => ({
      id: uuidV7(),
      type,
      name: type,
      config,
      templateId: null,
    });
    const steps = [
      step('TRIGGER'),
      step('WAIT_FOR_EVENT', { eventName: 'go', timeout: 3_600 }),
      step('EXIT', { reason: 'event' }),
      step('EXIT', { reason: 'timeout' }),
    ] as const;
    const lead = (from: GraphStep, to: GraphStep, branch: Branch | null) => ({
      fromStepId: from.id,
      toStepId: to.id,
      branch,
    });
    return {
      steps: [...steps],
      transitions: [
        lead(steps[0], steps[1], null),
        lead(steps[1], steps[2], 'event'),
        lead(steps[1], steps[3], 'timeout'),
      ],
    };
  })();

  it('meet whenever the event is recorded after the wait stands; one that comes before is not waited for', async () => {
    const walker = walkerOn(() => false);
    const { event } = await createAutomation(waiting);
    const outcomes = new Set<string>();
    for (let round = 0; round < 60; round++) {
      const contactId = await createContact();
      const executionId = await enter(event, contactId);
      const go = () => recordEvents(em(), [{ projectId, contactId, name: 'go' }]);
      const begin = () => walker.walk(executionId, optionsAt(Date.now()));
      await Promise.all(round % 2 === 0 ? [go(), begin()] : [begin(), go()]);
      const [wait] = await query<{ event_id: string | null }>(
        em(),
        sql`select event_id from event_wait where execution_id = ${executionId}`,
      );
      const told = await queryOne<{ count: number }>(
        em(),
        sql`select count(*) from outbox where subject_id = ${executionId} and kind = 'executionEvent'`,
      );
      // Who is resolved is told, who is not is still waiting and gets the next one.
      expect(told?.count).toBe(wait?.event_id === null ? 0 : 1);
      outcomes.add(wait?.event_id === null ? 'before' : 'after');
      if (wait?.event_id === null) await go();
      await walker.walk(executionId, optionsAt(Date.now()));
      expect(await readStory(executionId, waiting)).toMatchObject({ status: 'EXITED', exitReason: 'event' });
    }
    expect(outcomes.size).toBeGreaterThan(0);
  });

  it('that come with the timeout have one outcome', async () => {
    const walker = walkerOn(() => false);
    const { event } = await createAutomation(waiting);
    for (let round = 0; round < 40; round++) {
      const contactId = await createContact();
      const executionId = await enter(event, contactId);
      const startMs = Date.now();
      await walker.walk(executionId, optionsAt(startMs));
      const late = optionsAt(startMs + 2 * HOUR);
      await Promise.all([
        recordEvents(em(), [{ projectId, contactId, name: 'go' }]),
        walker.walk(executionId, late),
        walker.walk(executionId, late),
      ]);
      const story = await readStory(executionId, waiting);
      expect(story.status).toBe('EXITED');
      expect(story.path).toEqual(['TRIGGER COMPLETED', 'WAIT_FOR_EVENT COMPLETED', 'EXIT COMPLETED']);
      expect(await query(em(), sql`select from event_wait where execution_id = ${executionId}`)).toEqual([]);
    }
  });
});

describe('the fan-out', () => {
  it('starts an automation once for many events of one statement, and for each contact', async () => {
    const { id, event } = await createAutomation({ steps: [], transitions: [] });
    const contactIds = await Promise.all(Array.from({ length: 3 }, createContact));
    await recordEvents(
      em(),
      [0, 1, 2, 3].flatMap((n) => contactIds.map((contactId) => ({ projectId, contactId, name: event, data: { n } }))),
    );
    const rows = await query<{ context: { n: number } }>(
      em(),
      sql`select context from automation_execution where automation_id = ${id}`,
    );
    expect(rows.map((row) => row.context.n)).toEqual([0, 0, 0]);
  });

  it('does not start an automation by mail that it sent itself', async () => {
    const { id, event } = await createAutomation({ steps: [], transitions: [] });
    const contactId = await createContact();
    const record = (workflowId: string | null) =>
      recordEvents(em(), [{ projectId, contactId, emailId: uuidV7(), name: event, data: { workflowId } }]);
    const count = async () =>
      (await query(em(), sql`select from automation_execution where automation_id = ${id}`)).length;
    await record(id);
    expect(await count()).toBe(0);
    await record(null);
    expect(await count()).toBe(1);
  });
});
