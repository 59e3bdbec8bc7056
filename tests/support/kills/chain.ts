import { expect } from '@jest/globals';
import { sql } from '../../../shared/database/sql.ts';
import { callsTo, type TestApi, type TestProject } from '../api.ts';
import { createAutomation, createTemplate, track } from '../automations.ts';
import { eventually } from '../eventually.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../webhook-receiver.ts';
import { expectArrived, PATIENCE_MS, type KillWorld, type Load } from './load.ts';
import { query, queryOne } from '../rows.ts';

/** Contacts that enter while Temporal runs, and during each of its two outages. */
const ENTERED_BEFORE = 30;
const ENTERED_MEANWHILE = 10;
const CONTACTS = ENTERED_BEFORE + 2 * ENTERED_MEANWHILE;
/** Six steps and the trigger. */
const RECORDS = 7;

const addressOf = (number: number) => `chain${number}@chain.test`;
const ADDRESSES = Array.from({ length: CONTACTS }, (_, number) => addressOf(number));

/** @returns the id of the automation */
async function createChainAutomation(project: TestProject, url: string): Promise<string> {
  const templateId = await createTemplate(project);
  return createAutomation(project, 'restart', {
    First: { type: 'SEND_EMAIL', templateId, next: 'Answer?' },
    'Answer?': {
      type: 'WAIT_FOR_EVENT',
      config: { eventName: 'answer', timeout: 3_600 },
      branches: { event: 'Rest' },
    },
    Rest: { type: 'DELAY', config: { amount: 0.05, unit: 'minutes' }, next: 'Leave' },
    Leave: { type: 'UPDATE_CONTACT', config: { subscribed: false }, next: 'Call' },
    Call: { type: 'WEBHOOK', config: { url }, next: 'Second' },
    Second: { type: 'SEND_EMAIL', templateId },
  });
}

/** Checks that each contact had each effect once. */
async function checkOutcomes(prepared: TestApi, projectId: string): Promise<void> {
  const outcomes = await query(
    prepared.em(),
    sql`
      select c.email,
        (select count(*) from automation_execution x where x.contact_id = c.id) as executions,
        (select string_agg(r.status, ' ' order by r.step_number) from step_execution r
          join automation_execution x on x.id = r.execution_id where x.contact_id = c.id) as path,
        (select count(*) from email m where m.contact_id = c.id) as mails,
        (select count(*) from event e where e.contact_id = c.id and name = 'contact.unsubscribed') as unsubscribed
      from contact c where c.project_id = ${projectId}`,
  );
  const expected = ADDRESSES.map((email) => ({
    email,
    executions: 1,
    mails: 2,
    unsubscribed: 1,
    path: Array.from({ length: RECORDS }, () => 'COMPLETED').join(' '),
  }));
  const byAddress = (a: { email: string }, b: { email: string }) => (a.email < b.email ? -1 : 1);
  expect(outcomes.toSorted(byAddress)).toEqual(expected.toSorted(byAddress));
}

/** The addresses of the contacts that wait for an event. */
async function waitingAddresses(prepared: TestApi, projectId: string): Promise<string[]> {
  const rows = await query(
    prepared.em(),
    sql`
      select c.email from event_wait w join contact c on c.id = w.contact_id
      where w.event_id is null and c.project_id = ${projectId}`,
  );
  return rows.map((row) => row.email);
}

/** How many executions of an automation have reached its step of a type. */
async function recordCount(prepared: TestApi, automationId: string, type: string): Promise<number> {
  const row = await queryOne(
    prepared.em(),
    sql`
      select count(*) from step_execution r join automation_step s on s.id = r.step_id
      where s.type = ${type} and s.automation_id = ${automationId}`,
  );
  return row?.count ?? 0;
}

/** Executions with a chain of steps of most types. Contacts enter through the API process. */
export function chainLoad(world: KillWorld): Load {
  let project: TestProject;
  let on: Pick<TestProject, 'api'>;
  let hook: WebhookReceiver;
  let id: string;
  let answered: string[] = [];

  async function enter(from: number, to: number): Promise<void> {
    for (let number = from; number < to; number++) await track(on, addressOf(number), 'restart', { plan: 'pro' });
  }
  const outbox = () =>
    query(
      world.em(),
      sql`select last_error is not null as "hasFailed" from outbox where project_id = ${project.project.id}`,
    );

  /** An event ends only an open wait, so each contact gets one event, once it waits. */
  async function untilDone(): Promise<void> {
    const isAnswered = new Set(answered);
    await eventually(async () => {
      for (const email of await waitingAddresses(world, project.project.id)) {
        if (isAnswered.has(email)) throw new Error(`the event of ${email} was lost`);
        isAnswered.add(email);
        await track(on, email, 'answer');
      }
      const { body } = await project.api('GET', `/workflows/${id}/executions?status=COMPLETED`);
      return body.total === CONTACTS && (await outbox()).length === 0;
    }, PATIENCE_MS);
  }

  return {
    name: 'no execution and no event is lost, no effect is repeated, and no outbox row is left',
    isHeld: true,
    async begin() {
      project = await world.createProject();
      on = { api: callsTo(world.apiUrl, project.keys) };
      hook = await startWebhookReceiver();
      id = await createChainAutomation(project, hook.url);
    },
    points: {
      entered: { hold: () => enter(0, ENTERED_BEFORE) },
      // Executions wait for their event.
      waiting: {
        hold: () =>
          eventually(async () => (await recordCount(world, id, 'WAIT_FOR_EVENT')) >= ENTERED_BEFORE / 2, PATIENCE_MS),
        /** Nothing can be started or signalled now. The dispatchers try in vain and keep the rows. */
        async letGo() {
          answered = await waitingAddresses(world, project.project.id);
          expect(answered.length).toBeGreaterThan(0);
          for (const email of answered) await track(on, email, 'answer');
          await enter(ENTERED_BEFORE, ENTERED_BEFORE + ENTERED_MEANWHILE);
          await eventually(async () => {
            const rows = await outbox();
            return rows.length >= answered.length + ENTERED_MEANWHILE && rows.some((row) => row.hasFailed);
          }, PATIENCE_MS);
        },
      },
      // A call of a webhook gets no answer.
      calling: {
        async hold() {
          await eventually(async () => (await recordCount(world, id, 'DELAY')) >= answered.length / 2, PATIENCE_MS);
          hook.hold();
          await eventually(async () => (await recordCount(world, id, 'WEBHOOK')) > 0, PATIENCE_MS);
        },
      },
      'Temporal away': {
        async letGo() {
          hook.release();
          await enter(ENTERED_BEFORE + ENTERED_MEANWHILE, CONTACTS);
        },
      },
    },
    async check() {
      await untilDone();
      await checkOutcomes(world, project.project.id);
      // Emails that a killed worker had sent but not recorded are sent once more.
      await expectArrived(world, ADDRESSES, { times: 2, repeats: CONTACTS / 4 - 1 });
      // A call whose answer was lost is repeated under the same id.
      expect(hook.calls.size).toBe(CONTACTS);
      await hook.close();
    },
  };
}
