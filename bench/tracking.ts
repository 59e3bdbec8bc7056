import { query, queryOne, sql } from '../shared/database/sql.ts';
import { number, tables } from '../shared/database/tables.ts';
import { createLinkSigner, encodeClickTarget } from '../shared/sending/compose/links.ts';
import { quantile, round, type Bench, type BenchContext } from './harness/contract.ts';
import { sendGetLoad } from './harness/get-load.ts';
import type { GetLoadResult } from './harness/get-load-main.ts';
import { POOL_SIZE, REQUEST_OPTIONS } from './harness/request-bench.ts';
import type { BenchStack } from './harness/stack.ts';

const MAILS = 200_000;
const CAMPAIGN_ID = '0192a000-0000-7000-8000-000000000001';
const WARM_UP_MS = 2_000;

/**
 * Creates emails of one campaign, the hard case because all of them count in one row, and as many rows for the limit.
 */
async function createMails(stack: BenchStack): Promise<string[]> {
  const { id: projectId } = stack.project;
  await query(
    stack.em(),
    sql`
      insert into campaign (id, project_id, name, subject, body, from_address, status, audience_type, total_recipients,
        sent_count, created_at, updated_at)
      values (${CAMPAIGN_ID}, ${projectId}, 'Bench', 'News', 'B', 'news@bench.test', 'SENT', 'ALL', ${MAILS}, ${MAILS}, now(), now())`,
  );
  await query(
    stack.em(),
    sql`
      insert into email (id, project_id, contact_id, campaign_id, campaign_seq, to_address, status, created_at, sent_at)
      select everpost_uuid_v7(), ${projectId}, everpost_uuid_v7(), ${CAMPAIGN_ID}, n, 'reader' || n || '@example.com', 'SENT', now(), now()
      from generate_series(1, ${MAILS}::int) n`,
  );
  await query(
    stack.em(),
    sql`create table bare_mail (id uuid primary key, opens int not null default 0, opened_at timestamptz) with (fillfactor = 70)`,
  );
  await query(stack.em(), sql`insert into bare_mail (id) select id from email`);
  await query(stack.em(), sql`vacuum analyze`);
  const rows = await query(stack.em(), sql`select id from email order by md5(id::text)`, { id: tables.email.id });
  return rows.map((row) => row.id);
}

async function measureGets(
  context: BenchContext,
  name: string,
  url: string,
  paths: string[],
): Promise<GetLoadResult & { perSecond: number }> {
  const run = (first: number, durationMs: number): Promise<GetLoadResult> =>
    sendGetLoad(context, {
      name: `${name}-${first}`,
      url,
      paths,
      first,
      durationMs,
      connections: context.number('connections'),
    });
  const warmUp = await run(0, WARM_UP_MS);
  const measured = await run(warmUp.next, context.number('seconds') * 1000);
  return { ...measured, perSecond: (measured.requests / measured.elapsedMs) * 1000 };
}

export const bench: Bench = {
  description: 'Opens and clicks counted a second, against a bare Express handler with one UPDATE.',
  options: REQUEST_OPTIONS,
  async run(context) {
    const stack = await context.startStack({ hasWorker: false, env: { DATABASE_POOL_SIZE: POOL_SIZE } });
    context.progress(`Creating ${MAILS} emails`);
    const ids = await createMails(stack);
    const links = createLinkSigner({ appSecret: stack.env['APP_SECRET'] ?? '', publicUrl: stack.apiUrl });
    const target = encodeClickTarget('https://shop.example.com/spring?utm_source=mail&utm_campaign=news');
    const hits = ids.map((emailId, index) => {
      const urls = links.recipientUrls({ contactId: emailId, emailId, projectId: emailId });
      return (index % 4 === 0 ? urls.clickUrl(target) : urls.openUrl).slice(stack.apiUrl.length);
    });

    context.progress('Measuring the limit');
    const server = await context.startNode({
      name: 'bare-update',
      entry: 'bench/harness/bare-update-main.ts',
      env: { ...process.env, DATABASE_URL: stack.databaseUrl, DATABASE_POOL_SIZE: POOL_SIZE },
    });
    const line = await server.line((text) => text.startsWith('listening on '));
    const bareUrl = `http://127.0.0.1:${line.split(' ').at(-1) ?? ''}`;
    const limit = await measureGets(
      context,
      'bare',
      bareUrl,
      ids.map((id) => `/${id}`),
    );
    await server.stop();

    context.progress(`Measuring opens and clicks (limit ${round(limit.perSecond)} a second)`);
    const measured = await measureGets(context, 'hits', stack.apiUrl, hits);
    const counted = await queryOne(
      stack.em(),
      sql`
        select opened_count as opened, clicked_count as clicked,
          (select count(*) from event where name in ('email.open', 'email.click')) as events
        from campaign where id = ${CAMPAIGN_ID}`,
      { opened: tables.campaign.openedCount, clicked: tables.campaign.clickedCount, events: number },
    );
    const clicks = Math.ceil(measured.next / 4);
    if (counted?.opened !== measured.next || counted.clicked !== clicks || counted.events !== measured.next + clicks) {
      throw new Error(
        `${measured.next} hits, ${clicks} of them clicks, but the database has ${JSON.stringify(counted)}`,
      );
    }
    return {
      name: 'tracking',
      figure: round(measured.perSecond),
      unit: 'requests/s',
      limit: round(limit.perSecond),
      ratio: round(measured.perSecond / limit.perSecond, 3),
      p50Ms: round(quantile(measured.latencies, 0.5), 1),
      p99Ms: round(quantile(measured.latencies, 0.99), 1),
      limitP50Ms: round(quantile(limit.latencies, 0.5), 1),
      limitP99Ms: round(quantile(limit.latencies, 0.99), 1),
    };
  },
};
