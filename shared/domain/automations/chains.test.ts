import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { createAutomation, executionsOf, track } from '../../../tests/support/automations.ts';
import { startTestApi, type TestApi, type TestProject } from '../../../tests/support/api.ts';
import { eventually } from '../../../tests/support/eventually.ts';
import { LIMITS } from '../../pure/limits.ts';
import { recordEvents, type NewEvent } from '../events/events.ts';
import { sql } from '../../database/sql.ts';
import { query, queryOne } from '../../../tests/support/rows.ts';
import { summarizeRefusals } from './refusals.ts';

let app: TestApi;
let other: TestProject;
beforeAll(async () => {
  app = await startTestApi();
  other = await app.createProject();
});
afterAll(() => app.stop());

const OUT = { Out: { type: 'EXIT' } };

async function createContact(): Promise<string> {
  const { body } = await app.api('POST', '/contacts', { body: { email: `${uuidV7()}@mail.test` } });
  return body.id;
}

interface Past {
  automationId: string;
  contactId: string;
  depth?: number;
  minutesAgo?: number;
}

/** An execution that has ended. */
async function addExecution({ automationId, contactId, depth = 1, minutesAgo = 0 }: Past): Promise<string> {
  const id = uuidV7();
  await query(
    app.em(),
    sql`
      insert into automation_execution (id, project_id, automation_id, graph_id, contact_id, status, is_first, depth,
        started_at, completed_at, created_at, updated_at)
      select ${id}, project_id, id, graph_id, ${contactId}, 'COMPLETED', false, ${depth}, at, at, at, at
      from automation, (select now() - ${minutesAgo}::int * interval '1 minute' as at) moment where id = ${automationId}`,
  );
  return id;
}

/** An email that an execution sent. */
async function addEmail(contactId: string, executionId: string, minutesAgo: number): Promise<string> {
  const id = uuidV7();
  await query(
    app.em(),
    sql`
      insert into email (id, project_id, contact_id, execution_id, automation_id, to_address, status, created_at, sent_at)
      select ${id}, project_id, contact_id, id, automation_id, 'reader@mail.test', 'SENT', at, at
      from automation_execution, (select now() - ${minutesAgo}::int * interval '1 minute' as at) moment
      where id = ${executionId} and contact_id = ${contactId}`,
  );
  return id;
}

async function depthsIn(automationId: string): Promise<number[]> {
  const rows = await query(
    app.em(),
    sql`
      select depth from automation_execution where automation_id = ${automationId} and status = 'RUNNING' order by depth`,
  );
  return rows.map((row) => row.depth);
}

async function refusalsOf(on: TestProject, contactId: string): Promise<any[]> {
  return (await on.api('GET', `/activity?types=workflow.refused&contactId=${contactId}`)).body.data;
}

const EMAIL_EVENTS = [
  'email.sent',
  'email.delivery',
  'email.bounce',
  'email.complaint',
  'email.failed',
  'email.suppressed',
];
const ACTS = ['email.open', 'email.click', 'email.received', 'contact.subscribed', 'contact.unsubscribed'];

/** The executions started by an email event, where the email came from an execution of that depth. */
async function startedBy(name: string, depth: number, minutesAgo = 0) {
  const sender = await createAutomation(app, 'never', OUT);
  const automationId = await createAutomation(app, name, OUT, { allowReentry: true });
  const contactId = await createContact();
  const executionId = await addExecution({ automationId: sender, contactId, depth });
  const emailId = await addEmail(contactId, executionId, minutesAgo);
  await recordEvents(app.em(), [{ projectId: app.project.id, name, contactId, emailId, data: { workflowId: sender } }]);
  const depths = await depthsIn(automationId);
  await app.api('PATCH', `/workflows/${automationId}`, { body: { enabled: false } });
  return { depths, automationId, contactId };
}

describe('an execution that follows from another one', () => {
  it.each([...EMAIL_EVENTS, ...ACTS])('by %s of its email is one deeper, and the ninth is refused', async (name) => {
    expect((await startedBy(name, 3)).depths).toEqual([4]);
    expect((await startedBy(name, LIMITS.automationChain - 1)).depths).toEqual([LIMITS.automationChain]);
    const { depths, automationId, contactId } = await startedBy(name, LIMITS.automationChain);
    expect(depths).toEqual([]);
    const [refusal, ...others] = await refusalsOf(app, contactId);
    expect(others).toEqual([]);
    expect(refusal).toMatchObject({
      type: 'workflow.refused',
      contactId,
      metadata: { workflowId: automationId, reason: 'CHAIN_TOO_LONG', count: 1, eventId: expect.any(String) },
    });
  });

  it.each(ACTS)('by %s long after its email begins a new chain, because a person caused it', async (name) => {
    expect((await startedBy(name, LIMITS.automationChain, 61)).depths).toEqual([1]);
  });

  it.each(EMAIL_EVENTS)('by %s belongs to its chain however late it comes', async (name) => {
    expect((await startedBy(name, LIMITS.automationChain, 600)).depths).toEqual([]);
  });

  it('by entering a segment after its change of the contact is one deeper, for an hour', async () => {
    const automationId = await createAutomation(app, 'segment.vip.entry', OUT, { allowReentry: true });
    const contactId = await createContact();
    const enter: NewEvent = { projectId: app.project.id, name: 'segment.vip.entry', contactId };
    const changed = (depth: number, minutesAgo: number) =>
      query(
        app.em(),
        sql`
          update contact set changed_depth = ${depth},
            changed_depth_at = now() - ${minutesAgo}::int * interval '1 minute'
          where id = ${contactId}`,
      );
    await changed(LIMITS.automationChain, 0);
    await recordEvents(app.em(), [enter]);
    expect(await depthsIn(automationId)).toEqual([]);
    await changed(LIMITS.automationChain, 61);
    await recordEvents(app.em(), [enter]);
    expect(await depthsIn(automationId)).toEqual([1]);
  });

  it('is counted, when it is refused, in one row an hour and in the summary that the worker logs', async () => {
    const automationId = await createAutomation(app, 'contact.subscribed', OUT, { allowReentry: true });
    const contactId = await createContact();
    const executionId = await addExecution({ automationId, contactId, depth: LIMITS.automationChain });
    for (let turn = 0; turn < 3; turn++) {
      await recordEvents(app.em(), [
        { projectId: app.project.id, name: 'contact.subscribed', contactId, data: { executionId } },
      ]);
    }
    expect((await refusalsOf(app, contactId)).map((refusal) => refusal.metadata.count)).toEqual([3]);
    const summary = await summarizeRefusals(app.em());
    expect(summary.find((refusal) => refusal.automationId === automationId)).toEqual({
      projectId: app.project.id,
      automationId,
      reason: 'CHAIN_TOO_LONG',
      contacts: 1,
      count: 3,
    });
    await app.api('DELETE', `/contacts/${contactId}`);
    await eventually(async () => {
      const left = await queryOne(app.em(), sql`select from automation_refusal where contact_id = ${contactId}`);
      return left === undefined;
    });
  });
});

describe('a contact that enters an automation again and again', () => {
  it('is let in a hundred times an hour, by events and by hand, and does not hold up others', async () => {
    const email = `${uuidV7()}@mail.test`;
    const automationId = await createAutomation(app, 'entered', OUT, { allowReentry: true });
    const { contact: contactId } = await track(app, email, 'known');
    for (let n = 1; n < LIMITS.executionsPerContactAndHour; n++) await addExecution({ automationId, contactId });
    await addExecution({ automationId, contactId, minutesAgo: 61 });
    await track(app, email, 'entered');
    expect(await depthsIn(automationId)).toEqual([1]);
    await query(
      app.em(),
      sql`update automation_execution set status = 'COMPLETED' where automation_id = ${automationId}`,
    );

    await track(app, email, 'entered');
    expect(await depthsIn(automationId)).toEqual([]);
    expect((await refusalsOf(app, contactId)).map((refusal) => refusal.metadata.reason)).toEqual(['TOO_OFTEN']);
    const byHand = await app.api('POST', `/workflows/${automationId}/executions`, { body: { contactId } });
    expect([byHand.status, byHand.body.error.details]).toEqual([409, { limit: LIMITS.executionsPerContactAndHour }]);

    await track(app, `${uuidV7()}@mail.test`, 'entered');
    expect(await depthsIn(automationId)).toEqual([1]);
    const theirs = await createAutomation(other, 'entered', OUT, { allowReentry: true });
    await track(other, email, 'entered');
    expect(await executionsOf(other, theirs)).toHaveLength(1);
  });
});
