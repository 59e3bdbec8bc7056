import { query, sql } from '../shared/database/sql.ts';
import { number } from '../shared/database/tables.ts';
import { quantile, round, type Bench } from './harness/contract.ts';
import type { BenchStack } from './harness/stack.ts';

const CHUNK = 100_000;
const REPEATS = 15;

/** Requests of a dashboard, with the goal for each in milliseconds. The result lists the requests that miss it. */
const REQUESTS: Record<string, { path: string; goalMs: number }> = {
  'first page': { path: '/activity', goalMs: 50 },
  'one type': { path: '/activity?types=email.bounced&limit=100', goalMs: 50 },
  'several types': { path: '/activity?types=email.opened,email.clicked,contact.unsubscribed', goalMs: 50 },
  'tracked events': { path: '/activity?types=event.triggered', goalMs: 50 },
  'a day in the past': { path: '/activity?startDate={past}&endDate={past}', goalMs: 50 },
  'stats of 30 days': { path: '/activity/stats', goalMs: 500 },
  'stats of a week': { path: '/activity/stats?startDate={week}', goalMs: 150 },
};

/** Creates the events of emails over the last 60 days: sent, delivered, opened, clicked and bounced in usual shares. */
async function createEvents(stack: BenchStack, emails: number): Promise<number> {
  const { id: projectId } = stack.project;
  await query(
    stack.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, created_at, updated_at)
      select everpost_uuid_v7(), ${projectId}, 'reader' || n || '@example.com', true, now(), now() from generate_series(1, 1000) n`,
  );
  for (let first = 0; first < emails; first += CHUNK) {
    await query(
      stack.em(),
      sql`
        with reader as (select array_agg(id) as ids from contact where project_id = ${projectId}),
        mail as (
          select n, everpost_uuid_v7() as id, ids[1 + n % 1000] as contact_id,
            now() - interval '60 days' * (1 - n / ${emails}::float8) as at
          from reader, generate_series(${first}::int, ${first + CHUNK - 1}::int) n
        ),
        happened as (
          select m.*, k.name, k.extra from mail m cross join lateral (values
            ('email.sent', true, '{}'::jsonb), ('email.delivery', m.n % 2 = 0, '{}'),
            ('email.open', m.n % 3 = 0, '{"isFirstOpen": true}'), ('email.open', m.n % 6 = 0, '{"isFirstOpen": false}'),
            ('email.click', m.n % 20 = 0, '{"isFirstClick": true}'), ('email.bounce', m.n % 100 = 0, '{"bounceType": "hard"}'),
            ('contact.unsubscribed', m.n % 200 = 0, '{}'), ('viewed-' || m.n % 50, m.n % 5 = 0, '{}')
          ) k (name, takes_place, extra) where k.takes_place
        )
        insert into event (id, project_id, contact_id, email_id, name, data, created_at)
        select everpost_uuid_v7(), ${projectId}, contact_id, id, name, extra || jsonb_build_object('emailId', id, 'subject', 'News'), at
        from happened`,
    );
  }
  await query(stack.em(), sql`vacuum analyze event`);
  const [row] = await query(stack.em(), sql`select count(*) from event`, { count: number });
  return row?.count ?? 0;
}

function dayBefore(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

export const bench: Bench = {
  description:
    'GET /activity and /activity/stats over the events of 1,000,000 emails; milliseconds, no limit to compare.',
  options: { emails: { type: 'string', default: '1000000' } },
  async run(context) {
    const stack = await context.startStack({ hasWorker: false });
    context.progress(`Creating the events of ${context.number('emails')} emails`);
    const events = await createEvents(stack, context.number('emails'));
    const milliseconds: Record<string, number> = {};
    const missed: string[] = [];
    for (const [name, { path, goalMs }] of Object.entries(REQUESTS)) {
      context.progress(name);
      const target = path.replaceAll('{past}', dayBefore(40)).replace('{week}', dayBefore(6));
      const times: number[] = [];
      for (let i = 0; i < REPEATS; i++) {
        const startedAt = performance.now();
        await stack.call('GET', target);
        times.push(performance.now() - startedAt);
      }
      milliseconds[name] = round(quantile(times, 0.5), 1);
      if ((milliseconds[name] ?? 0) > goalMs) missed.push(name);
    }
    return {
      name: 'activity',
      figure: Math.max(...Object.values(milliseconds)),
      unit: 'ms',
      limit: null,
      ratio: null,
      events,
      milliseconds,
      missed,
    };
  },
};
