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
  adaId: string;
  templateId: string;
  webhookId: string;
  deliveryId: string;
  segmentId: string;
}

async function addEmails(
  app: TestApi,
  owner: TestProject,
  hostile: string,
): Promise<Pick<ConsoleWorld, 'adaEmailId' | 'bobEmailId' | 'adaId' | 'templateId'>> {
  const { body: ada } = await owner.api('POST', '/contacts', {
    body: { email: 'ada@mail.test', subscribed: false, data: { firstName: `Ada ${hostile}`, plan: 'pro' } },
  });
  const { body: template } = await owner.api('POST', '/templates', {
    body: {
      name: `Receipt ${hostile}`,
      subject: 'Receipt {{number}}',
      body: `<h1>Thank you, {{firstName}}</h1><p>Order {{number}}</p>${hostile}`,
      from: 'us@example.com',
      type: 'TRANSACTIONAL',
    },
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
  const page = `<html><body style="font-family: sans-serif"><h1>Your receipt</h1><p>Order 4711</p>${hostile}</body></html>`;
  await query(
    app.em(),
    sql`
      insert into email_content (email_id, from_address, html, body_text, headers, created_at)
      values (${adaEmailId}, 'us@example.com', ${page}, 'Your receipt', '[["X-Order", "4711"]]', now())`,
  );
  return { adaEmailId, bobEmailId, adaId: ada.id, templateId: template.id ?? template.data.id };
}

const DELIVERED_SHARE = 0.97;

/** What happened in the last 30 days, as the figures of the first page count it. */
async function addHistory(app: TestApi, owner: TestProject, emails: number): Promise<void> {
  await query(
    app.em(),
    sql`
      insert into event (id, project_id, name, data, created_at)
      select everpost_uuid_v7(), ${owner.project.id}, w.name, w.data, now() - make_interval(days => d, mins => n % 600)
      from generate_series(0, 29) d cross join generate_series(1, ${emails}::int) n cross join lateral (values
        ('email.sent', '{}'::jsonb, true), ('email.delivery', '{}', n <= ${Math.round(emails * DELIVERED_SHARE)}::int),
        ('email.bounce', '{"bounceType": "hard"}', n % 50 = 0)) w (name, data, happened)
      where w.happened and n <= ${emails}::int * (0.5 + 0.5 * abs(sin(d)))`,
  );
}

/** Contacts and emails with long names, and names that are written from right to left. */
async function addRows(app: TestApi, owner: TestProject, rows: number): Promise<void> {
  await query(
    app.em(),
    sql`
      with made as (
        insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
        select everpost_uuid_v7(), ${owner.project.id}, 'reader.' || n || case when n % 7 = 0 then repeat('.of-a-long-name', 3) else '' end || '@mail.test',
          n % 5 > 0, jsonb_build_object('firstName', case when n % 3 = 0 then 'مرحبا بالعالم' else 'Reader ' || n end), now() - make_interval(mins => n), now()
        from generate_series(1, ${rows}::int) n returning id, email, created_at
      )
      insert into email (id, project_id, contact_id, to_address, subject, status, created_at, sent_at)
      select everpost_uuid_v7(), ${owner.project.id}, id, email, 'שלום ' || email, 'DELIVERED', created_at, created_at from made`,
  );
}

/** An endpoint with deliveries. */
async function addWebhook(app: TestApi, owner: TestProject): Promise<Pick<ConsoleWorld, 'webhookId' | 'deliveryId'>> {
  const [id, deliveryId] = [uuidV7(), uuidV7()];
  await query(
    app.em(),
    sql`
      with hook as (
        insert into webhook_endpoint (id, project_id, url, events, secret, failures, failing_since, retry_at, created_at, updated_at)
        values (${id}, ${owner.project.id}, 'https://shop.test/everpost', '{*}', 's', 3, now() - interval '2 hours', now() + interval '10 minutes', now(), now())
      )
      insert into webhook_delivery (id, endpoint_id, event_at, source, event_id, event_name, status, attempts, status_code, error, duration_ms)
      select everpost_uuid_v7(), ${id}, now() - make_interval(mins => n), 0, everpost_uuid_v7(), 'email.delivery',
        (array['FAILED', 'RETRYING', 'DELIVERED'])[n % 3 + 1], n, case when n % 3 = 2 then 200 else 503 end,
        case when n % 3 = 2 then null else 'The answer was 503' end, 40 + n
      from generate_series(1, 12) n`,
  );
  // One of an event that is still there.
  await query(
    app.em(),
    sql`
      insert into webhook_delivery (id, endpoint_id, event_at, source, event_id, event_name, status, attempts, status_code, error, duration_ms)
      select ${deliveryId}, ${id}, created_at, 0, id, name, 'FAILED', 3, 503, 'The answer was 503', 40
      from event where project_id = ${owner.project.id} and name = 'email.bounce' and email_id is not null`,
  );
  return { webhookId: id, deliveryId };
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

async function addSegment(app: TestApi, owner: TestProject): Promise<string> {
  const condition = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: true }] }],
  };
  const { body: segment } = await owner.api('POST', '/segments', {
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
  return segment.id ?? segment.data.id;
}

/** What providers made of the mail: one is content, one defers it for reputation. */
async function addResults(app: TestApi, { project }: TestProject): Promise<void> {
  const day = sql`(now() at time zone 'UTC')::date - n`;
  await query(
    app.em(),
    sql`
      insert into source_day (source, provider, day, offered, accepted, deferred_reputation, refused_mailbox, delivery_ms)
      select 'relay-' || p.no, p.name, ${day}, 200, 200 - p.deferred, p.deferred, 1, 300000
      from generate_series(0, 29) n,
        (values (1, 'gmail.com', 0), (1, 'outlook.com', 24), (2, 'a-company-with-a-long-name.test', 0)) p (no, name, deferred)
      on conflict do nothing`,
  );
  await query(
    app.em(),
    sql`
      with s as (
        insert into source (name, kind, pool, relay, warm_up)
        values ('relay-1', 'relay', 'default', '127.0.0.1:25', '{"plan": "default", "step": 0, "perDay": {"*": [50]}}')
        on conflict do nothing returning name
      )
      insert into warm_up (source, provider, day, step, use, setback, reason)
      select name, 'gmail.com', (now() at time zone 'UTC')::date, 0, '{"used": {}, "waits": {}, "lentMs": 0}', 'repeated',
        '2026-02-03 is repeated: 2 % of the accepted emails were reported as spam' from s`,
  );
  await query(
    app.em(),
    sql`
      insert into provider_day (project_id, provider, day, sent, complained)
      select ${project.id}, p, ${day}, 200, 1 from generate_series(0, 6) n, unnest(array['gmail.com', 'outlook.com']) p
      on conflict do nothing`,
  );
}

export interface ConsoleOptions {
  owner?: TestProject;
  /** Written wherever a person could write markup. */
  hostile?: string;
  /** Further contacts and emails. */
  rows?: number;
}

/** Fills a project of the API. */
export async function fillConsole(
  app: TestApi,
  { owner = app, hostile = HOSTILE, rows = 0 }: ConsoleOptions = {},
): Promise<ConsoleWorld> {
  const emails = await addEmails(app, owner, hostile);
  const campaignId = await addCampaign(app, owner, hostile);
  await owner.api('POST', '/domains', { body: { domain: 'shop.test' } });
  const workflow = await addWorkflow(app, owner);
  const segmentId = await addSegment(app, owner);
  await addResults(app, owner);
  const webhook = await addWebhook(app, owner);
  await addHistory(app, owner, rows > 0 ? 400 : 40);
  if (rows > 0) await addRows(app, owner, rows);
  await owner.api('POST', '/topics', { body: { key: 'news', name: `News ${hostile}`, defaultSubscription: 'opt_in' } });
  return { owner, ...emails, campaignId, ...workflow, segmentId, ...webhook };
}

/** The pages that list. */
export const CONSOLE_LISTS = [
  'today',
  'emails',
  'campaigns',
  'automations',
  'deliverability',
  'contacts',
  'segments',
  'topics',
  'suppressions',
  'templates',
  'domains',
  'webhooks',
  'keys',
  'audit',
  'settings',
];

/** Every page of the console, with words that it shows when it has loaded. */
export function pagesOf(world: ConsoleWorld): [place: string, wanted: string][] {
  return [
    ['today', 'Needs attention'],
    ['emails', 'Spring is here'],
    [`emails/${world.adaEmailId}?tab=preview`, 'Hard bounce'],
    [`emails/${world.bobEmailId}`, 'Next attempt'],
    [`emails/${world.adaEmailId}?tab=headers`, 'X-Order'],
    [`emails/${world.adaEmailId}?tab=source`, 'message/rfc822'],
    [`emails/${world.adaEmailId}?tab=webhooks`, 'No webhook was told'],
    ['address/ada%40mail.test', 'May we write?'],
    ['contacts', 'ada@mail.test'],
    [`contacts/${world.adaId}`, 'Email bounced'],
    [`contacts/${world.adaId}?tab=consent`, 'ada@mail.test'],
    ['campaigns', 'Spring'],
    [`campaigns/${world.campaignId}`, 'refused for spam'],
    ['automations', 'Welcome'],
    [`automations/${world.workflowId}`, 'The webhook answered 500'],
    [`automations/${world.workflowId}?execution=${world.executionId}`, 'Tell the shop'],
    ['deliverability', 'outlook.com'],
    ['segments', 'Readers'],
    [`segments/${world.segmentId}`, 'Contacts at the end of each day'],
    ['topics', 'News'],
    ['suppressions', 'Hard bounce'],
    ['templates', 'Receipt'],
    [`templates/${world.templateId}`, 'Data, as JSON'],
    ['domains', 'DKIM'],
    ['webhooks', 'shop.test'],
    [`webhooks/${world.webhookId}`, 'The answer was 503'],
    [`webhooks/${world.webhookId}?delivery=${world.deliveryId}`, '"type": "email.bounce"'],
    ['keys', 'Full'],
    ['audit', 'Create'],
    ['settings', 'Name that recipients see'],
    ['parts', 'Pills'],
  ];
}
