import { query, sql, SqlFragment } from '../../shared/database/sql.ts';
import { text, type RowOf } from '../../shared/database/tables.ts';
import type { Progress } from '../../local/progress.ts';
import type { BenchStack } from '../harness/stack.ts';

/** How much past a database has. */
export interface HistorySize {
  emails: number;
  events: number;
  /** The time over which the rows are spread evenly. */
  days: number;
  /** Other projects, which have half of everything together. */
  otherProjects: number;
}

/** Ids and an address in the bench's project, for requests of lists. */
const FILLED_HISTORY = {
  emailId: text,
  contactId: text,
  address: text,
  campaignId: text,
  templateId: text,
  automationId: text,
};
export type FilledHistory = RowOf<typeof FILLED_HISTORY>;

export const CHUNK = 100_000;
/** Emails in a row that make a campaign of the bench's project and one of another project. */
const BLOCK = 2_000;
const CONTACTS_MIN = BLOCK / 2;
/** Events that the emails themselves have on average: sent, opened, clicked, bounced. */
const EVENTS_OF_EMAIL = 1.56;
/** Tables with most of the rows. They are filled without their indexes, which are made afterwards. */
const LARGE_TABLES = ['email', 'event', 'automation_execution', 'step_execution', 'contact'];

/** Fixed ids, so that rows name each other without looking each other up. */
function fixedId(kind: number, number: SqlFragment, project: SqlFragment): SqlFragment {
  return sql`(${`019000${String(kind).padStart(2, '0')}-`}::text || lpad(to_hex(${project}), 4, '0') || '-7000-8000-' || lpad(to_hex(${number}), 12, '0'))::uuid`;
}
const contactOf = (number: SqlFragment, project: SqlFragment) => fixedId(1, number, project);
const campaignOf = (number: SqlFragment, project: SqlFragment) => fixedId(2, number, project);
const automationOf = (project: SqlFragment) => fixedId(3, sql`1`, project);
const templateOf = (project: SqlFragment) => fixedId(4, sql`1`, project);
const projectOf = (stack: BenchStack, project: SqlFragment) =>
  sql`case when ${project} = 0 then ${stack.project.id}::uuid else ${fixedId(5, sql`1`, project)} end`;

/** Contacts of each project. The number is no multiple of the step in `createChunk`, so emails reach all of them. */
function contactsOf({ emails }: HistorySize): number {
  return Math.max(CONTACTS_MIN, Math.floor(emails / 20)) + 1;
}

async function createOwners(stack: BenchStack, size: HistorySize): Promise<void> {
  const run = (statement: SqlFragment) => query(stack.em(), statement, {});
  const at = sql`now() - ${size.days}::int * interval '1 day'`;
  const projects = sql`generate_series(0, ${size.otherProjects}::int) p`;
  await run(sql`
    create or replace function bench_uuid_v7(at timestamptz) returns uuid language sql volatile parallel safe as $$
      select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from at) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
    $$`);
  await run(sql`
    insert into project (id, name, public_key, secret_key_hash, created_at, updated_at)
    select ${fixedId(5, sql`1`, sql`p`)}, 'Other ' || p, 'pk_' || p, 'hash ' || p, ${at}, ${at}
    from generate_series(1, ${size.otherProjects}::int) p`);
  await run(sql`
    insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
    select ${contactOf(sql`n`, sql`p`)}, ${projectOf(stack, sql`p`)}, 'contact' || n || '@example.com', true,
      jsonb_build_object('firstName', 'Reader ' || n, 'plan', 'plan-' || n % 3), ${at}, ${at}
    from ${projects}, generate_series(0, ${contactsOf(size) - 1}::int) n`);
  await run(sql`
    insert into campaign (id, project_id, name, subject, body, from_address, status, audience_type, total_recipients, sent_count,
      sent_at, audience_frozen, created_at, updated_at)
    select ${campaignOf(sql`b`, sql`p`)}, ${projectOf(stack, sql`p`)}, 'Campaign ' || b, 'News ' || b, '<p>News</p>',
      'news@bench.test', 'SENT', 'ALL', ${(BLOCK / 2) * 0.8}::int, ${(BLOCK / 2) * 0.8}::int, moment, true, moment, moment
    from ${projects}, generate_series(0, ${Math.ceil(size.emails / BLOCK)}::int) b,
      lateral (select ${at} + b * ${(size.days * 86_400) / (Math.ceil(size.emails / BLOCK) + 1)}::float8 * interval '1 second' as moment) m`);
  await run(sql`
    insert into template (id, project_id, name, subject, body, from_address, type, created_at, updated_at)
    select ${templateOf(sql`p`)}, ${projectOf(stack, sql`p`)}, 'Receipt', 'Receipt', '<p>Thanks</p>', 'shop@bench.test',
      'TRANSACTIONAL', ${at}, ${at} from ${projects}`);
  await run(sql`
    insert into automation (id, project_id, name, trigger_event, created_at, updated_at)
    select ${automationOf(sql`p`)}, ${projectOf(stack, sql`p`)}, 'Past', 'never', ${at}, ${at} from ${projects}`);
}

/**
 * Creates the emails `first` to `first + CHUNK`, with their events, contents of the last month and executions. Even
 * numbers belong to the bench's project. Of ten emails, eight belong to campaigns, one to an execution and one to a
 * request.
 */
export async function createChunk(stack: BenchStack, size: HistorySize, first: number): Promise<void> {
  const contacts = contactsOf(size);
  const tracked = Math.max(0, size.events / size.emails - EVENTS_OF_EMAIL);
  const last = Math.min(first + CHUNK, size.emails) - 1;
  const project = sql`p`;
  await query(
    stack.em(),
    sql`
      with numbered as (
        select n, n / 2 % 10 as share, n / ${BLOCK}::int as block, n % ${BLOCK}::int as seq, n / 2 as pair,
          case when n % 2 = 0 then 0 else 1 + n / ${BLOCK}::int % ${size.otherProjects}::int end as p,
          (n / 2)::bigint * 7919 % ${contacts}::int as reader,
          now() - interval '1 minute' - ${size.days}::int * interval '1 day' * (1 - n / ${size.emails}::float8) as at
        from generate_series(${first}::int, ${last}::int) n
      ),
      named as (
        select *, bench_uuid_v7(at) as id, ${projectOf(stack, project)} as project_id, ${contactOf(sql`reader`, project)} as contact_id,
          case when share < 8 then ${campaignOf(sql`block`, project)} end as campaign_id,
          case when share = 8 then bench_uuid_v7(at) end as execution_id,
          case when pair % 100 = 7 then 'BOUNCED' when pair % 500 = 9 then 'FAILED' when pair % 1000 = 11 then 'COMPLAINED'
            when pair % 20 < 2 then 'CLICKED' when pair % 10 < 3 then 'OPENED' else 'SENT' end as status
        from numbered
      ),
      emails as (
        insert into email (id, project_id, contact_id, campaign_id, campaign_seq, template_id, automation_id, execution_id,
          to_address, subject, status, created_at, sent_at, opened_at, clicked_at, bounced_at, complained_at, opens, clicks)
        select id, project_id, contact_id, campaign_id, case when share < 8 then seq end,
          case when share >= 8 then ${templateOf(project)} end, case when share = 8 then ${automationOf(project)} end, execution_id,
          'contact' || reader || '@example.com', case when share >= 8 then 'Your order ' || n end, status, at,
          case when status <> 'FAILED' then at end, case when status in ('OPENED', 'CLICKED') then at end,
          case when status = 'CLICKED' then at end, case when status = 'BOUNCED' then at end,
          case when status = 'COMPLAINED' then at end, (status in ('OPENED', 'CLICKED'))::int, (status = 'CLICKED')::int
        from named
      ),
      contents as (
        insert into email_content (email_id, from_address, html, body_text, created_at)
        select id, 'shop@bench.test', repeat('<p>Thank you for buying from us.</p>', 30), repeat('Thank you for buying from us. ', 30), at
        from named where share >= 8 and at > now() - interval '30 days'
      ),
      executions as (
        insert into automation_execution (id, project_id, automation_id, graph_id, contact_id, status, is_first, started_at,
          completed_at, created_at, updated_at)
        select execution_id, project_id, ${automationOf(project)}, id, contact_id, 'COMPLETED', pair < ${contacts}, at, at, at, at
        from named where execution_id is not null
      ),
      steps as (
        insert into step_execution (id, execution_id, step_number, step_id, status, started_at, completed_at)
        select bench_uuid_v7(at), execution_id, s, id, 'COMPLETED', at, at
        from named, generate_series(1, 3) s where execution_id is not null
      ),
      happened as (
        select m.*, k.name, k.extra from named m cross join lateral (values
          ('email.sent', status <> 'FAILED', '{}'::jsonb), ('email.open', pair % 10 < 3, '{"isFirstOpen": true}'),
          ('email.open', pair % 20 < 3, '{"isFirstOpen": false}'), ('email.click', pair % 10 = 1, '{"isFirstClick": true}'),
          ('email.bounce', status = 'BOUNCED', '{"bounceType": "hard"}')
        ) k (name, takes_place, extra) where k.takes_place
        union all
        select m.*, 'viewed-' || pair % 50, '{"page": "/pricing", "visit": 7}'::jsonb
        from named m cross join lateral generate_series(
          1, (floor((n + 1) * ${tracked}::float8) - floor(n * ${tracked}::float8))::int)
      )
      insert into event (id, project_id, contact_id, email_id, name, data, created_at, recorded_at)
      select bench_uuid_v7(at), project_id, contact_id, case when name like 'email.%' then id end, name,
        case when name like 'email.%' then extra || jsonb_build_object('emailId', id, 'subject', 'News') else extra end, at, at
      from happened`,
  );
}

/** Drops the indexes of the large tables that no constraint needs. @returns the statements that make them again */
async function dropIndexes(stack: BenchStack): Promise<string[]> {
  const indexes = await query(
    stack.em(),
    sql`
      select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
      where i.indrelid = any(${LARGE_TABLES}::regclass[])
        and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`,
    { name: text, definition: text },
  );
  for (const { name } of indexes) await query(stack.em(), new SqlFragment(`drop index ${name}`));
  return indexes.map(({ definition }) => definition);
}

/** Fills the database of a stack with a past, in SQL; about a minute for a million emails with three million events. */
export async function fillHistory(stack: BenchStack, size: HistorySize, progress: Progress): Promise<FilledHistory> {
  const indexes = await dropIndexes(stack);
  await createOwners(stack, size);
  for (let first = 0; first < size.emails; first += CHUNK) {
    await createChunk(stack, size, first);
    if (first % (10 * CHUNK) === 0) progress(`${first + CHUNK} emails of ${size.emails}`);
  }
  progress(`Making ${indexes.length} indexes`);
  for (const definition of indexes) {
    const em = stack.em();
    await em.begin();
    await query(em, sql`set local maintenance_work_mem = '1GB'`);
    await query(em, new SqlFragment(definition));
    await em.commit();
  }
  await query(stack.em(), sql`vacuum (analyze)`);
  await query(stack.em(), sql`checkpoint`);
  const own = sql`0`;
  const [ids] = await query(
    stack.em(),
    sql`
      select ${contactOf(sql`7`, own)} as "contactId", 'contact7@example.com' as address, ${campaignOf(sql`0`, own)} as "campaignId",
        ${templateOf(own)} as "templateId", ${automationOf(own)} as "automationId",
        (select id from email where project_id = ${stack.project.id} order by created_at limit 1) as "emailId"`,
    FILLED_HISTORY,
  );
  if (!ids) throw new Error('There are no ids.');
  return ids;
}
