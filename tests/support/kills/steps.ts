import { expect } from '@jest/globals';
import pg from 'pg';
import { sql } from '../../../shared/database/sql.ts';
import type { TestProject } from '../api.ts';
import { createAutomation, createTemplate, executionOf, executionsOf, stepsOf, track } from '../automations.ts';
import { eventually } from '../eventually.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../webhook-receiver.ts';
import { expectArrived, PATIENCE_MS, type KillWorld, type Load } from './load.ts';
import { query, queryOne } from '../rows.ts';

const KINDS = ['SEND_EMAIL', 'UPDATE_CONTACT', 'CONDITION', 'EXIT', 'DELAY', 'WAIT_FOR_EVENT', 'WEBHOOK'] as const;
type Kind = (typeof KINDS)[number];

const eventOf = (kind: Kind) => `crash_in_${kind.toLowerCase()}`;
const addressOf = (kind: Kind) => `${eventOf(kind)}@steps.test`;

/** Creates an automation for each type of step, with that step first, so that a transaction of each type is blocked. */
async function createAutomations(project: TestProject, hook: WebhookReceiver): Promise<Record<Kind, string>> {
  const templateId = await createTemplate(project);
  const configs: Record<Kind, object> = {
    SEND_EMAIL: {},
    UPDATE_CONTACT: { subscribed: false, data: { noted: true } },
    CONDITION: { field: 'event.plan', operator: 'equals', value: 'pro' },
    EXIT: { reason: 'left' },
    // The delay still runs when its end is blocked for the second kill.
    DELAY: { amount: 0.2, unit: 'minutes' },
    WAIT_FOR_EVENT: { eventName: 'answer', timeout: 3_600 },
    WEBHOOK: { url: hook.url },
  };
  const ids: Partial<Record<Kind, string>> = {};
  for (const kind of KINDS) {
    const step = { type: kind, config: configs[kind], ...(kind === 'SEND_EMAIL' && { templateId }) };
    ids[kind] = await createAutomation(project, eventOf(kind), {
      Step: { ...step, ...(kind === 'CONDITION' && { branches: { yes: 'Out' } }) },
      ...(kind === 'CONDITION' && { Out: { type: 'EXIT' } }),
    });
  }
  return ids as Record<Kind, string>;
}

/**
 * Blocks every transaction that records a step at its last statement, after all effects of the step.
 * @returns the connection whose end lets them continue
 */
async function holdRecords(world: KillWorld): Promise<pg.Client> {
  const holder = await openHolder(world);
  await holder.query('lock table step_execution in share row exclusive mode');
  return holder;
}

async function openHolder(world: KillWorld): Promise<pg.Client> {
  const holder = new pg.Client({ connectionString: world.database.url });
  await holder.connect();
  await holder.query('begin');
  return holder;
}

/** Waits until the holder blocks so many transactions of the worker. */
async function untilHeld(world: KillWorld, holder: pg.Client, count: number): Promise<void> {
  const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
  await eventually(async () => {
    const row = await queryOne(
      world.em(),
      sql`
        select count(*) as held from pg_stat_activity
        where datname = current_database() and application_name like 'everpost-worker%'
          and ${rows[0]?.pid} = any(pg_blocking_pids(pid))`,
    );
    return row?.held === count;
  }, PATIENCE_MS);
}

/** Checks the only execution of the automation whose step is of a type. */
async function checkExecution(project: TestProject, automationId: string, kind: Kind): Promise<void> {
  const [only, ...others] = await executionsOf(project, automationId);
  expect(others).toEqual([]);
  const execution = await executionOf(project, automationId, only.id);
  const path = ['Trigger COMPLETED', 'Step COMPLETED', ...(kind === 'CONDITION' ? ['Out COMPLETED'] : [])];
  expect([kind, ...stepsOf(execution)]).toEqual([kind, ...path]);
  if (kind === 'WAIT_FOR_EVENT') expect(execution.context).toEqual({ plan: 'pro', text: 'yes' });
  if (kind === 'CONDITION') expect(execution.stepExecutions[1].output).toEqual({ result: true, branch: 'yes' });
}

/**
 * An execution in a step of each type. At the first kill it is in the transaction that reaches the step, at the second
 * in the one that ends its wait.
 */
export function stepsLoad(world: KillWorld): Load {
  let project: TestProject;
  let hook: WebhookReceiver;
  let ids: Record<Kind, string>;
  let holder: pg.Client;

  async function effects(): Promise<unknown> {
    const { id } = project.project;
    return queryOne(
      world.em(),
      sql`
        select (select count(*) from email where project_id = ${id}) as emails,
          (select count(*) from event_wait w join contact c on c.id = w.contact_id where c.project_id = ${id}) as waits`,
    );
  }

  async function statusesOf(kinds: readonly Kind[]): Promise<string[]> {
    return Promise.all(kinds.map(async (kind) => (await executionsOf(project, ids[kind]))[0]?.status as string));
  }

  /** Blocks the transaction that ends the step of this type, once the step is stored and the condition holds. */
  async function holdEnd(kind: Kind, isReady: () => boolean): Promise<void> {
    const lock = `
      select s.id from step_execution s join automation_execution x on x.id = s.execution_id
      where x.automation_id = $1 and s.status in ('RUNNING', 'WAITING') for update of s`;
    await eventually(async () => isReady() && (await holder.query(lock, [ids[kind]])).rowCount === 1, PATIENCE_MS);
  }

  return {
    name: 'leaves no step of any type half done, and repeats nothing but a webhook call, under the same id',
    isHeld: true,
    async begin() {
      project = await world.createProject();
      hook = await startWebhookReceiver();
      ids = await createAutomations(project, hook);
    },
    points: {
      first: {
        async hold() {
          holder = await holdRecords(world);
          for (const kind of KINDS) await track(project, addressOf(kind), eventOf(kind), { plan: 'pro' });
          await untilHeld(world, holder, KINDS.length);
        },
        async letGo() {
          await holder.end();
          expect(await effects()).toEqual({ emails: 0, waits: 0 });
          hook.hold();
        },
      },
      second: {
        async hold() {
          holder = await openHolder(world);
          // Each end is blocked as soon as the step waits: nothing says which step is repeated first after the first kill.
          await Promise.all([
            holdEnd('DELAY', () => true),
            holdEnd('WAIT_FOR_EVENT', () => true).then(() =>
              track(project, addressOf('WAIT_FOR_EVENT'), 'answer', { text: 'yes' }),
            ),
            holdEnd('WEBHOOK', () => hook.calls.size === 1).then(() => hook.release()),
          ]);
          await untilHeld(world, holder, 3);
        },
        letGo: () => holder.end(),
      },
    },
    async check() {
      const done = KINDS.map((kind) => (kind === 'EXIT' || kind === 'CONDITION' ? 'EXITED' : 'COMPLETED'));
      await eventually(async () => (await statusesOf(KINDS)).join() === done.join(), PATIENCE_MS);
      for (const kind of KINDS) await checkExecution(project, ids[kind], kind);
      await expectArrived(world, [addressOf('SEND_EMAIL')]);
      expect(await effects()).toEqual({ emails: 1, waits: 0 });
      const unsubscribed = sql`
        select from event where name = 'contact.unsubscribed' and project_id = ${project.project.id}`;
      expect(await query(world.em(), unsubscribed)).toHaveLength(1);
      // The call whose answer was not recorded is repeated under the same id.
      expect([...hook.calls.values()]).toEqual([2]);
      await hook.close();
    },
  };
}
