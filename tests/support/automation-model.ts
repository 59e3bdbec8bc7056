import fc from 'fast-check';
import { v7 as uuidV7 } from 'uuid';
import {
  nextStep,
  type AutomationGraph,
  type GraphStep,
  type GraphTransition,
} from '../../shared/pure/automations/automation-graph.ts';
import type { Branch, ExecutionStatus } from '../../shared/pure/automations/automation-status.ts';
import { json, sql, type Em } from '../../shared/database/sql.ts';
import { query, queryOne } from './rows.ts';

const HOUR = 3_600_000;

/** An event of a contact at a moment. */
export interface TimedEvent {
  name: string;
  atMs: number;
  y: number;
}

/** What became of an execution. */
export interface Story {
  path: string[];
  status: ExecutionStatus;
  exitReason: string | null;
  context: Record<string, unknown>;
  x: number | null;
  mails: number;
  /** Webhooks called. */
  calls: number;
}

/** Simulates an execution, without a database, a clock or Temporal. */
export function tell(graph: AutomationGraph, events: TimedEvent[], startMs: number): Story {
  const story: Story = {
    path: [],
    status: 'COMPLETED',
    exitReason: null,
    context: { y: 0 },
    x: null,
    mails: 0,
    calls: 0,
  };
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
      case 'WEBHOOK':
        story.calls += 1;
        break;
      case 'DELAY':
        now += config['amount'] * HOUR;
        break;
      case 'WAIT_FOR_EVENT': {
        const until = config['timeout'] === undefined ? Infinity : now + config['timeout'] * 1_000;
        const since = now;
        const event = events.find(({ name, atMs }) => name === config['eventName'] && atMs > since && atMs < until);
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

type Draft = Pick<GraphStep, 'type' | 'config'>;

const drafts: fc.Arbitrary<Draft>[] = [
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
];

/**
 * Random graphs whose transitions lead only to later steps, so that there is no loop.
 * @param webhookUrl adds WEBHOOK steps that call it
 */
export function drawGraphs(options: { templateId: string; webhookUrl?: string }): fc.Arbitrary<AutomationGraph> {
  const { templateId, webhookUrl } = options;
  const webhook = fc.constant<Draft>({ type: 'WEBHOOK', config: { url: webhookUrl } });
  const draft = fc.oneof(...drafts, ...(webhookUrl === undefined ? [] : [webhook]));
  return fc
    .array(fc.record({ draft, jumps: fc.tuple(fc.nat(3), fc.nat(3)), isPlain: fc.boolean() }), {
      minLength: 1,
      maxLength: 9,
    })
    .map((items) => {
      const steps: GraphStep[] = [{ id: uuidV7(), type: 'TRIGGER', name: 'Trigger', config: {}, templateId }];
      for (const [index, { draft: step }] of items.entries()) {
        steps.push({ ...step, id: uuidV7(), name: `S${index} ${step.type}`, templateId });
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
}

/** Random events of a contact, in order, at whole hours. The caller shifts them, because delays end at whole hours. */
export const drawnEvents = fc
  .array(fc.record({ name: fc.constantFrom('e0', 'e1'), hour: fc.nat(15), y: fc.integer({ min: 0, max: 2 }) }), {
    maxLength: 8,
  })
  .map((items) => items.toSorted((a, b) => a.hour - b.hour));

/** Creates an enabled automation that runs a graph. @returns its id and the event that starts it */
export async function createGraphAutomation(
  em: Em,
  projectId: string,
  graph: AutomationGraph,
): Promise<{ id: string; event: string }> {
  const [id, graphId, event] = [uuidV7(), uuidV7(), `start_${uuidV7()}`];
  await query(
    em,
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

/** Creates a contact. @returns its id */
export async function createModelContact(em: Em, projectId: string): Promise<string> {
  const id = uuidV7();
  await query(
    em,
    sql`
      insert into contact (id, project_id, email, subscribed, created_at, updated_at)
      values (${id}, ${projectId}, ${`${id}@mail.test`}, true, now(), now())`,
  );
  return id;
}

/** What became of an execution according to PostgreSQL. */
export async function readStory(em: Em, executionId: string, graph: AutomationGraph): Promise<Story> {
  const row = await queryOne(
    em,
    sql`
      select status, exit_reason as "exitReason", context, (c.data ->> 'x')::int as x,
        (select count(*) from email e where e.execution_id = x.id) as mails,
        (select count(*) from step_execution r where r.execution_id = x.id and r.output ->> 'statusCode' = '200') as calls
      from automation_execution x join contact c on c.id = x.contact_id where x.id = ${executionId}`,
  );
  const records = await query(
    em,
    sql`select step_id, status from step_execution where execution_id = ${executionId} order by step_number`,
  );
  const nameOf = (id: string) => graph.steps.find((step) => step.id === id)!.name;
  return { ...row!, path: records.map((record) => `${nameOf(record.step_id)} ${record.status}`) };
}
