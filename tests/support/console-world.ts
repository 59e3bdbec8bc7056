import { v7 as uuidV7 } from 'uuid';
import { query, sql } from '../../shared/database/sql.ts';
import { suppressRecipients } from '../../shared/domain/suppressions/suppressions.ts';
import type { TestApi, TestProject } from './api.ts';

/** A name with markup that would run a script. */
export const HOSTILE = `<img src=x onerror='document.title=1'>`;
export const bounceWords = (hostile = HOSTILE) => `550 5.1.1 no such user ${hostile}`;
const DEFERRAL_WORDS = '451 4.7.1 greylisted, try again later';

/** A project with bounces, deferrals, failed executions and a campaign with refusals. */
export interface ConsoleWorld {
  owner: TestProject;
  /** Bounced, which suppressed her. */
  adaEmailId: string;
  /** Waits for another attempt. */
  bobEmailId: string;
  campaignId: string;
  workflowId: string;
  executionId: string;
}

async function addEmails(
  app: TestApi,
  owner: TestProject,
  hostile: string,
): Promise<Pick<ConsoleWorld, 'adaEmailId' | 'bobEmailId'>> {
  const { body: ada } = await owner.api('POST', '/contacts', {
    body: { email: 'ada@mail.test', subscribed: false, data: { firstName: hostile } },
  });
  const { body: template } = await owner.api('POST', '/templates', {
    body: { name: 'Receipt', subject: 'Receipt', body: '<p>Hi</p>', from: 'us@example.com', type: 'TRANSACTIONAL' },
  });
  const [adaEmailId, bobEmailId] = [uuidV7(), uuidV7()];
  const attempts = [
    { at: new Date().toISOString(), verdict: 'deferred', server: 'mx.mail.test', words: DEFERRAL_WORDS },
  ];
  await query(
    app.em(),
    sql`
      insert into email (id, project_id, contact_id, template_id, to_address, subject, status, error, created_at, sent_at,
        bounced_at, retry_at, delivery_due_at, deferrals, attempts)
      values
        (${adaEmailId}, ${owner.project.id}, ${ada.id}, ${template.id ?? template.data.id}, 'ada@mail.test',
          ${`Receipt ${hostile}`}, 'BOUNCED', ${bounceWords(hostile)}, now() - interval '1 hour', now() - interval '59 minutes',
          now() - interval '58 minutes', null, null, 0, null),
        (${bobEmailId}, ${owner.project.id}, null, null, 'bob@mail.test', 'Reset', 'PENDING', ${DEFERRAL_WORDS},
          now() - interval '20 minutes', null, null, now() + interval '10 minutes',
          now() + interval '10 minutes', 1, ${JSON.stringify(attempts)}::jsonb)`,
  );
  await suppressRecipients(app.em(), [adaEmailId], 'HARD_BOUNCE');
  await query(
    app.em(),
    sql`
      insert into event (id, project_id, contact_id, email_id, name, data, created_at)
      values (${uuidV7()}, ${owner.project.id}, ${ada.id}, ${adaEmailId}, 'email.sent', '{}', now() - interval '59 minutes'),
        (${uuidV7()}, ${owner.project.id}, ${ada.id}, ${adaEmailId}, 'email.bounce',
          ${JSON.stringify({ bounceType: 'hard', diagnostic: bounceWords(hostile) })}::jsonb, now() - interval '58 minutes')`,
  );
  return { adaEmailId, bobEmailId };
}

const STATES = ['SENT', 'DELIVERED', 'BOUNCED', 'FAILED', 'SUPPRESSED', 'PENDING'];

async function addCampaign(app: TestApi, owner: TestProject, hostile: string): Promise<string> {
  const id = uuidV7();
  await query(
    app.em(),
    sql`
      with topic as (
        insert into topic (id, project_id, key, name, default_subscription, created_at, updated_at)
        values (${id}, ${owner.project.id}, 'news', ${`News ${hostile}`}, 'opt_in', now(), now())
      ),
      campaign as (
        insert into campaign (id, project_id, name, topic_id, subject, body, from_address, status, audience_type,
          total_recipients, sent_count, delivered_count, bounced_count, failed_count, suppressed_count, audience_as_of, created_at, updated_at)
        values (${id}, ${owner.project.id}, ${`Spring ${hostile}`}, ${id}, 'Spring is here', 'B', 'us@example.com', 'SENDING', 'ALL', 120,
          60, 20, 20, 20, 20, now() - interval '5 minutes', now(), now())
      )
      insert into email (id, project_id, campaign_id, campaign_seq, to_address, status, error, created_at, sent_at)
      select everpost_uuid_v7(), ${owner.project.id}, ${id}, n, 'reader' || n || '@provider.test', (${STATES}::text[])[n % 6 + 1],
        case when n % 6 in (2, 3) then '550 5.7.1 refused for spam' end, now() - interval '5 minutes',
        case when n % 6 < 3 then now() end
      from generate_series(1, 120) n`,
  );
  return id;
}

async function addWorkflow(app: TestApi, owner: TestProject) {
  const { body: workflow } = await owner.api('POST', '/workflows', {
    body: { name: 'Welcome', eventName: 'signed_up' },
  });
  const addStep = async (step: object) =>
    (await owner.api('POST', `/workflows/${workflow.id}/steps`, { body: { autoConnect: true, ...step } })).body
      .id as string;
  await addStep({ type: 'DELAY', name: 'Wait a day', config: { amount: 1, unit: 'days' } });
  const hook = await addStep({ type: 'WEBHOOK', name: 'Tell the shop', config: { url: 'https://shop.test/hook' } });
  const condition = { field: 'data.plan', operator: 'equals', value: 'pro' };
  const branching = await addStep({ type: 'CONDITION', name: 'Is it a pro?', config: condition });
  for (const branch of ['yes', 'no']) {
    const end = await addStep({
      type: 'EXIT',
      name: `End of ${branch}`,
      config: { reason: branch },
      autoConnect: false,
    });
    await owner.api('POST', `/workflows/${workflow.id}/transitions`, {
      body: { fromStepId: branching, toStepId: end, branch },
    });
  }
  await owner.api('PATCH', `/workflows/${workflow.id}`, { body: { enabled: true } });
  const executions: string[] = [];
  for (const name of ['eve', 'mallory', 'trent']) {
    const { body: contact } = await owner.api('POST', '/contacts', { body: { email: `${name}@mail.test` } });
    const { body } = await owner.api('POST', `/workflows/${workflow.id}/executions`, {
      body: { contactId: contact.id },
    });
    executions.push(body.id);
  }
  const [executionId = '', , waiting = ''] = executions;
  await query(
    app.em(),
    sql`
      update automation_execution set status = 'FAILED', current_step_id = ${hook}, completed_at = now(),
        exit_reason = 'The webhook answered 500' where id = any(${executions.slice(0, 2)}::uuid[])`,
  );
  await query(app.em(), sql`update automation_execution set status = 'WAITING' where id = ${waiting}`);
  await query(
    app.em(),
    sql`
      insert into step_execution (id, execution_id, step_number, step_id, status, error, started_at, completed_at)
      values (${uuidV7()}, ${executionId}, 1, ${hook}, 'FAILED', 'The webhook answered 500', now(), now())`,
  );
  return { workflowId: workflow.id as string, executionId };
}

async function addSegment(app: TestApi, owner: TestProject): Promise<void> {
  const condition = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: true }] }],
  };
  await owner.api('POST', '/segments', {
    body: { name: 'Readers', type: 'DYNAMIC', condition, trackMembership: true },
  });
  await query(app.em(), sql`update segment set member_count = 42 where project_id = ${owner.project.id}`);
  for (const [name, count] of [
    ['segment.readers.entry', 5],
    ['segment.readers.exit', 2],
  ] as const) {
    for (let n = 0; n < count; n += 1) {
      await owner.api('POST', '/v1/track', { key: 'public', body: { email: `r${n}@mail.test`, event: 'x' } });
      await query(
        app.em(),
        sql`
          insert into event (id, project_id, name, data, created_at)
          values (${uuidV7()}, ${owner.project.id}, ${name}, '{}', now() - make_interval(days => ${n}))`,
      );
    }
  }
}

/** Fills the project of the API. @param options `hostile` is written wherever a person could write markup */
export async function fillConsole(app: TestApi, { hostile = HOSTILE } = {}): Promise<ConsoleWorld> {
  const owner: TestProject = app;
  const emails = await addEmails(app, owner, hostile);
  const campaignId = await addCampaign(app, owner, hostile);
  await owner.api('POST', '/domains', { body: { domain: 'shop.test' } });
  const workflow = await addWorkflow(app, owner);
  await addSegment(app, owner);
  await owner.api('POST', '/topics', { body: { key: 'news', name: hostile, defaultSubscription: 'opt_in' } });
  return { owner, ...emails, campaignId, ...workflow };
}
