import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { v7 as uuidV7 } from 'uuid';
import type { AutomationGraph, GraphStep } from '../../pure/automations/automation-graph.ts';
import type { Branch } from '../../pure/automations/automation-status.ts';
import { createLinkSigner } from '../../sending/compose/links.ts';
import { createEmailCompiler } from '../../sending/compose/compiled-email.ts';
import {
  createGraphAutomation,
  createModelContact,
  drawGraphs,
  drawnEvents,
  readStory,
  tell,
  type Story,
  type TimedEvent,
} from '../../../tests/support/automation-model.ts';
import { untilBlocked, useTestDatabase } from '../../../tests/support/database.ts';
import { randomFrom } from '../../../tests/support/seed.ts';
import { trustDomain } from '../domains/sender-domains.ts';
import { recordEvents } from '../events/events.ts';
import { createProject } from '../projects/projects.ts';
import { sql } from '../../database/sql.ts';
import { query, queryOne } from '../../../tests/support/rows.ts';
import { createTemplate } from '../templates/templates.ts';
import { createExecutionEngine, type ExecutionEngine, type AdvanceOptions } from './execution-engine.ts';

const HOUR = 3_600_000;

let projectId: string;
let templateId: string;
const { em } = useTestDatabase();
beforeAll(async () => {
  projectId = (await createProject(em(), 'Test')).project.id;
  await trustDomain(em(), projectId, 'example.com');
  const content = { name: 'T', subject: 'S', body: 'B', from: 'a@example.com', type: 'TRANSACTIONAL' } as const;
  templateId = (await createTemplate(em(), projectId, content)).id;
});

class Crash extends Error {}

/** An engine whose transactions fail just before their commit when `crashes` returns true. */
function engineOn(crashes: () => boolean): ExecutionEngine {
  return createExecutionEngine({
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
    compileEmail: createEmailCompiler(),
    messageBytesMax: 1_000_000,
  });
}

const optionsAt = (ms: number): AdvanceOptions => ({ now: () => new Date(ms), runId: null, isRepetition: false });

const createAutomation = (graph: AutomationGraph) => createGraphAutomation(em(), projectId, graph);
const createContact = () => createModelContact(em(), projectId);

async function enter(event: string, contactId: string, data: Record<string, unknown> = {}): Promise<string> {
  await recordEvents(em(), [{ projectId, contactId, name: event, data }]);
  const row = await queryOne(
    em(),
    sql`select id from automation_execution where contact_id = ${contactId} order by id desc limit 1`,
  );
  return row!.id;
}

/** Runs a graph on PostgreSQL, with calls that crash, run twice at once, or come when nothing has happened. */
async function run(
  graph: AutomationGraph,
  events: TimedEvent[],
  startMs: number,
  chance: () => number,
): Promise<Story> {
  const { event } = await createAutomation(graph);
  const contactId = await createContact();
  const executionId = await enter(event, contactId, { y: 0 });
  const engine = engineOn(() => chance() < 0.15);
  const pending = [...events];
  const call = async (ms: number) => {
    const attempts = chance() < 0.3 ? 2 : 1;
    const results = await Promise.allSettled(
      Array.from({ length: attempts }, () => engine.advance(executionId, optionsAt(ms))),
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
  return readStory(em(), executionId, graph);
}

describe('an execution engine', () => {
  it('does what the graph says when calls crash, run twice at once, or come when nothing has happened', async () => {
    const startMs = Date.now();
    await fc.assert(
      fc.asyncProperty(drawGraphs({ templateId }), drawnEvents, fc.integer({ min: 1 }), async (graph, drawn, seed) => {
        // Between the whole hours of delays and timeouts, so that nothing comes at the same moment.
        const events = drawn.map(({ name, hour, y }, index) => ({
          name,
          y,
          atMs: startMs + (hour + 0.5) * HOUR + index,
        }));
        const story = await run(graph, events, startMs, randomFrom(seed));
        expect(story).toEqual(tell(graph, events, startMs));
      }),
      // Shrinking means nothing while the crashes are random.
      { numRuns: 120, endOnFailure: true },
    );
  });
});

describe('a step that sends an email', () => {
  it('fails when the message has more octets than it may have, in fewer characters', async () => {
    const content = { name: 'T', subject: 'S', from: 'a@example.com', type: 'TRANSACTIONAL' } as const;
    const large = await createTemplate(em(), projectId, { ...content, body: '€'.repeat(200_000) });
    const step = (type: GraphStep['type']): GraphStep => ({
      id: uuidV7(),
      type,
      name: type,
      config: {},
      templateId: type === 'SEND_EMAIL' ? large.id : null,
    });
    const steps = [step('TRIGGER'), step('SEND_EMAIL')] as const;
    const graph = {
      steps: [...steps],
      transitions: [{ fromStepId: steps[0].id, toStepId: steps[1].id, branch: null }],
    };
    const { event } = await createAutomation(graph);
    const executionId = await enter(event, await createContact());
    await engineOn(() => false).advance(executionId, optionsAt(Date.now()));
    const row = await queryOne(
      em(),
      sql`select status, exit_reason as reason from automation_execution where id = ${executionId}`,
    );
    expect(row).toMatchObject({ status: 'FAILED', reason: expect.stringContaining('larger than 1000000 bytes') });
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

  it('meet whenever the event is recorded after the wait; an earlier event does not end the wait', async () => {
    const engine = engineOn(() => false);
    const { event } = await createAutomation(waiting);
    const outcomes: Record<'before' | 'after', number> = { before: 0, after: 0 };
    for (let round = 0; round < 120; round++) {
      const contactId = await createContact();
      const executionId = await enter(event, contactId);
      const go = () => recordEvents(em(), [{ projectId, contactId, name: 'go' }]);
      const begin = () => engine.advance(executionId, optionsAt(Date.now()));
      if (round % 4 === 0) await go().then(begin);
      else if (round % 4 === 1) await begin().then(go);
      else await Promise.all(round % 4 === 2 ? [go(), begin()] : [begin(), go()]);
      const [wait] = await query(em(), sql`select event_id from event_wait where execution_id = ${executionId}`);
      const outboxRows = await queryOne(
        em(),
        sql`select count(*) from outbox where subject_id = ${executionId} and kind = 'executionEvent'`,
      );
      // A resolved wait got the event; an unresolved one still waits and gets the next event.
      expect(outboxRows?.count).toBe(wait?.event_id === null ? 0 : 1);
      outcomes[wait?.event_id === null ? 'before' : 'after'] += 1;
      if (wait?.event_id === null) await go();
      await engine.advance(executionId, optionsAt(Date.now()));
      expect(await readStory(em(), executionId, waiting)).toMatchObject({ status: 'EXITED', exitReason: 'event' });
    }
    expect(Math.min(outcomes.before, outcomes.after)).toBeGreaterThanOrEqual(30);
  });

  it('miss each other when the event commits after the wait was stored; the next event ends the wait', async () => {
    const engine = engineOn(() => false);
    const { event } = await createAutomation(waiting);
    const contactId = await createContact();
    const executionId = await enter(event, contactId);
    // The event's statement has looked for waits, and commits after the wait was recorded.
    await em().transactional(async (tx) => {
      await recordEvents(tx, [{ projectId, contactId, name: 'go' }]);
      await engine.advance(executionId, optionsAt(Date.now()));
    });
    const outcome = await engine.advance(executionId, optionsAt(Date.now()));
    expect(outcome.kind).toBe('wait');
    await recordEvents(em(), [{ projectId, contactId, name: 'go' }]);
    await engine.advance(executionId, optionsAt(Date.now()));
    expect(await readStory(em(), executionId, waiting)).toMatchObject({ status: 'EXITED', exitReason: 'event' });
  });

  it.each([
    ['is committed', 'event'],
    ['is rolled back', 'timeout'],
  ])(
    'have one outcome when the transaction of the event is open at the timeout and then %s',
    async (how, exitReason) => {
      const engine = engineOn(() => false);
      const { event } = await createAutomation(waiting);
      const contactId = await createContact();
      const executionId = await enter(event, contactId);
      const startMs = Date.now();
      await engine.advance(executionId, optionsAt(startMs));
      let late: Promise<unknown> = Promise.resolve();
      await em()
        .transactional(async (tx) => {
          await recordEvents(tx, [{ projectId, contactId, name: 'go' }]);
          late = engine.advance(executionId, optionsAt(startMs + 2 * HOUR));
          // The execution is still at the wait that the event has ended.
          await untilBlocked(em);
          if (how === 'is rolled back') throw new Crash();
        })
        .catch((error: unknown) => {
          if (!(error instanceof Crash)) throw error;
        });
      await late;
      expect(await readStory(em(), executionId, waiting)).toMatchObject({ status: 'EXITED', exitReason });
    },
  );

  it('have one outcome when the event is recorded at the time of the timeout', async () => {
    const engine = engineOn(() => false);
    const { event } = await createAutomation(waiting);
    for (let round = 0; round < 40; round++) {
      const contactId = await createContact();
      const executionId = await enter(event, contactId);
      const startMs = Date.now();
      await engine.advance(executionId, optionsAt(startMs));
      const late = optionsAt(startMs + 2 * HOUR);
      await Promise.all([
        recordEvents(em(), [{ projectId, contactId, name: 'go' }]),
        engine.advance(executionId, late),
        engine.advance(executionId, late),
      ]);
      const story = await readStory(em(), executionId, waiting);
      expect(story.status).toBe('EXITED');
      expect(story.path).toEqual(['TRIGGER COMPLETED', 'WAIT_FOR_EVENT COMPLETED', 'EXIT COMPLETED']);
      expect(await query(em(), sql`select from event_wait where execution_id = ${executionId}`)).toEqual([]);
    }
  });
});

describe('a late answer of a webhook', () => {
  it('fails no step that the execution has moved on to meanwhile', async () => {
    const step = (type: GraphStep['type'], config = {}): GraphStep => ({
      id: uuidV7(),
      type,
      name: type,
      config,
      templateId: null,
    });
    const steps = [
      step('TRIGGER'),
      step('WEBHOOK', { url: 'https://example.com' }),
      step('DELAY', { amount: 1, unit: 'hours' }),
    ] as const;
    const lead = (from: GraphStep, to: GraphStep) => ({ fromStepId: from.id, toStepId: to.id, branch: null });
    const engine = engineOn(() => false);
    const { event } = await createAutomation({
      steps: [...steps],
      transitions: [lead(steps[0], steps[1]), lead(steps[1], steps[2])],
    });
    const contactId = await createContact();
    const executionId = await enter(event, contactId);
    const options = optionsAt(Date.now());
    expect(await engine.advance(executionId, options)).toMatchObject({ kind: 'webhook' });
    const pending = (await engine.findWebhook(executionId, options))!;
    const fault = { output: {}, fault: 'the server answered 422' };
    let late: Promise<unknown> = Promise.resolve();
    await em().transactional(async (tx) => {
      await query(
        tx,
        sql`update automation_execution set step_number = 3, current_step_id = ${steps[2].id} where id = ${executionId}`,
      );
      late = engine.finishWebhook(pending, fault, options);
      await untilBlocked(em);
    });
    expect(await late).toMatchObject({ kind: 'delay' });
  });
});

describe('an event that is recorded', () => {
  it('starts an automation once for many events of one statement, and for each contact', async () => {
    const { id, event } = await createAutomation({ steps: [], transitions: [] });
    const contactIds = await Promise.all(Array.from({ length: 3 }, createContact));
    await recordEvents(
      em(),
      [0, 1, 2, 3].flatMap((n) => contactIds.map((contactId) => ({ projectId, contactId, name: event, data: { n } }))),
    );
    const rows = await query(em(), sql`select context from automation_execution where automation_id = ${id}`);
    expect(rows.map((row) => row.context.n)).toEqual([0, 0, 0]);
  });

  it('does not start an automation when it is about an email that the automation sent', async () => {
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
