import { listContacts, type ContactCursor } from '../shared/domain/contacts/contact-list.ts';
import { listSegmentContacts } from '../shared/domain/segments/segment-contacts.ts';
import { SegmentEntity } from '../shared/domain/segments/segment.entity.ts';
import { query, queryOne, sql, type SqlFragment, type Em } from '../shared/database/sql.ts';
import { number, tables } from '../shared/database/tables.ts';
import type { Filter, FilterCondition } from '../shared/pure/filters/filter-condition.ts';
import { quantile, round, type Bench, type BenchContext } from './harness/contract.ts';
import type { BenchStack } from './harness/stack.ts';

const PAGE_SIZE = 20;

interface MeasuredFilter {
  name: string;
  condition: FilterCondition;
  /** The predicate that a person would write by hand, over `contact c`. */
  byHand: SqlFragment;
}

function allOf(...filters: Filter[]): FilterCondition {
  return { logic: 'AND', groups: [{ filters }] };
}

function measuredFilters(segmentId: string, projectId: string): MeasuredFilter[] {
  return [
    {
      name: 'equality, rare',
      condition: allOf({ field: 'data.city', operator: 'equals', value: 'City 17' }),
      byHand: sql`c.data @> '{"city":"City 17"}'`,
    },
    {
      name: 'equality, common',
      condition: allOf({ field: 'data.plan', operator: 'equals', value: 'pro' }),
      byHand: sql`c.data @> '{"plan":"pro"}'`,
    },
    {
      name: 'range of numbers',
      condition: allOf({ field: 'data.points', operator: 'greaterThan', value: 9_990 }),
      byHand: sql`jsonb_typeof(c.data -> 'points') = 'number' and c.data -> 'points' > '9990'`,
    },
    {
      name: 'created within',
      condition: allOf({ field: 'createdAt', operator: 'within', value: 1, unit: 'days' }),
      byHand: sql`c.created_at between now() - interval '1 day' and now()`,
    },
    {
      name: 'contains, text',
      condition: allOf({ field: 'data.city', operator: 'contains', value: 'city 49' }),
      byHand: sql`lower(c.data ->> 'city') like '%city 49%'`,
    },
    {
      name: 'contains, address',
      condition: allOf({ field: 'email', operator: 'contains', value: 'reader9999' }),
      byHand: sql`c.email like '%reader9999%'`,
    },
    {
      name: 'exists',
      condition: allOf({ field: 'data.vip', operator: 'exists' }),
      byHand: sql`c.data ->> 'vip' is not null`,
    },
    {
      name: 'nested',
      condition: {
        logic: 'OR',
        groups: [
          {
            filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }],
            conditions: allOf({ field: 'data.points', operator: 'lessThan', value: 100 }),
          },
          {
            filters: [
              { field: 'subscribed', operator: 'equals', value: false },
              { field: 'data.profile.tier', operator: 'equals', value: 'tier-30' },
            ],
          },
        ],
      },
      byHand: sql`(
        (c.data @> '{"plan":"pro"}' and jsonb_typeof(c.data -> 'points') = 'number' and c.data -> 'points' < '100')
        or (not c.subscribed and c.data @> '{"profile":{"tier":"tier-30"}}'))`,
    },
    {
      name: 'event within',
      condition: allOf({ field: 'viewed', operator: 'triggeredWithin', value: 1, unit: 'days' }),
      byHand: sql`exists (
        select from event e where e.contact_id = c.id and e.project_id = ${projectId} and e.name = 'viewed'
          and e.created_at >= now() - interval '1 day')`,
    },
    {
      name: 'membership',
      condition: allOf({ field: `segment.${segmentId}`, operator: 'memberOfSegment' }),
      byHand: sql`exists (select from segment_member m where m.segment_id = ${segmentId} and m.contact_id = c.id)`,
    },
  ];
}

async function fill(stack: BenchStack, contacts: number): Promise<string> {
  const em = stack.em();
  const { id: projectId } = stack.project;
  await query(
    em,
    sql`
      insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
      select everpost_uuid_v7(), ${projectId}, 'reader' || n || '@example.com', n % 10 <> 0,
        jsonb_build_object('firstName', 'Reader ' || n, 'city', 'City ' || n % 5000, 'plan', (array['free', 'pro', 'team'])[1 + n % 3],
          'points', n % 10000, 'profile', jsonb_build_object('tier', 'tier-' || n % 200))
        || case when n % 50 = 0 then '{"vip":true}'::jsonb else '{}' end,
        now() - (n % 1000) * interval '1 hour', now()
      from generate_series(1, ${contacts}::int) n`,
  );
  await query(
    em,
    sql`
      insert into event (id, project_id, contact_id, name, created_at)
      select everpost_uuid_v7(), ${projectId}, id, 'viewed', now() - (get_byte(uuid_send(id), 15) * 24 + 1) * interval '1 hour'
      from contact where get_byte(uuid_send(id), 14) < 64`,
  );
  const segment = em.create(SegmentEntity, { projectId, name: 'Members', type: 'STATIC' });
  await em.flush();
  await query(
    em,
    sql`
      insert into segment_member (segment_id, contact_id)
      select ${segment.id}, id from contact where get_byte(uuid_send(id), 13) < 13`,
  );
  for (const table of [sql`contact`, sql`event`, sql`segment_member`]) await query(em, sql`vacuum analyze ${table}`);
  return segment.id;
}

async function milliseconds<T>(work: () => Promise<T>): Promise<{ ms: number; value: T }> {
  const startedAt = performance.now();
  const value = await work();
  return { ms: performance.now() - startedAt, value };
}

interface Answer {
  total: number;
  ids: string[];
}

async function answerByHand(em: Em, projectId: string, predicate: SqlFragment): Promise<Answer> {
  const where = sql`c.project_id = ${projectId} and ${predicate}`;
  const count = await queryOne(em, sql`select count(*) from contact c where ${where}`, { count: number });
  const rows = await query(
    em,
    sql`
      select c.id, c.email, c.subscribed, c.data, c.created_at, c.updated_at from contact c where ${where}
      order by c.created_at desc, c.id desc limit ${PAGE_SIZE}`,
    { id: tables.contact.id },
  );
  return { total: count?.count ?? 0, ids: rows.map((row) => row.id) };
}

async function answerByFilter(em: Em, projectId: string, condition: FilterCondition): Promise<Answer> {
  const segment = em.create(
    SegmentEntity,
    { projectId, name: 'Measured', type: 'DYNAMIC', condition },
    { persist: false },
  );
  const { contacts, total } = await listSegmentContacts(em, segment, { page: 1, pageSize: PAGE_SIZE });
  return { total, ids: contacts.map((contact) => contact.id) };
}

async function measure(stack: BenchStack, filter: MeasuredFilter, rounds: number) {
  const { id: projectId } = stack.project;
  const ours: number[] = [];
  const theirs: number[] = [];
  let total = 0;
  // Both are measured in turns, after a round that warms up, so that they find the same caches and the same noise.
  for (let i = 0; i <= rounds; i++) {
    const compiled = await milliseconds(() => answerByFilter(stack.em(), projectId, filter.condition));
    const byHand = await milliseconds(() => answerByHand(stack.em(), projectId, filter.byHand));
    const [left, right] = [compiled.value, byHand.value];
    if (left.total !== right.total || left.ids.join() !== right.ids.join()) {
      throw new Error(`${filter.name}: ${left.total} contacts by the filter, ${right.total} by hand`);
    }
    total = left.total;
    if (i === 0) continue;
    ours.push(compiled.ms);
    theirs.push(byHand.ms);
  }
  return { total, compiledMs: quantile(ours, 0.5), byHandMs: quantile(theirs, 0.5) };
}

/** The cost of one page of GET /contacts near the start and at the very end of the list. */
async function measureCursor(stack: BenchStack, rounds: number): Promise<{ earlyPageMs: number; lastPageMs: number }> {
  const { id: projectId } = stack.project;
  const list = { limit: PAGE_SIZE, sort: 'createdAt', dir: 'desc' } as const;
  const em = stack.em();
  const early = (await listContacts(em, projectId, list)).contacts.at(-1);
  const late = (await listContacts(em, projectId, { ...list, dir: 'asc', limit: PAGE_SIZE + 1 })).contacts.at(-1);
  if (!early || !late) throw new Error('there are no contacts');
  const time = async (contact: { id: string; createdAt: Date }): Promise<number> => {
    const cursor: ContactCursor = { value: contact.createdAt.toISOString(), id: contact.id };
    const times: number[] = [];
    for (let i = 0; i < rounds * 10; i++) {
      times.push((await milliseconds(() => listContacts(stack.em(), projectId, { ...list, cursor }))).ms);
    }
    return quantile(times, 0.5);
  };
  return { earlyPageMs: round(await time(early), 2), lastPageMs: round(await time(late), 2) };
}

async function run(context: BenchContext) {
  const contacts = context.number('contacts');
  const rounds = context.number('rounds');
  const stack = await context.startStack({ hasApi: false, hasWorker: false });
  context.progress(`Creating ${contacts} contacts with events and memberships`);
  const segmentId = await fill(stack, contacts);
  const filters: Record<string, unknown>[] = [];
  let [compiledMs, byHandMs] = [0, 0];
  for (const filter of measuredFilters(segmentId, stack.project.id)) {
    const measured = await measure(stack, filter, rounds);
    compiledMs += measured.compiledMs;
    byHandMs += measured.byHandMs;
    filters.push({
      filter: filter.name,
      matches: measured.total,
      compiledMs: round(measured.compiledMs, 1),
      byHandMs: round(measured.byHandMs, 1),
      ratio: round(measured.byHandMs / measured.compiledMs, 2),
    });
    context.progress(JSON.stringify(filters.at(-1)));
  }
  const perSecond = (ms: number): number => round((1_000 * filters.length) / ms, 2);
  return {
    name: 'segments',
    figure: perSecond(compiledMs),
    unit: 'filters/s',
    limit: perSecond(byHandMs),
    ratio: round(byHandMs / compiledMs, 3),
    contacts,
    filters,
    ...(await measureCursor(stack, rounds)),
  };
}

export const bench: Bench = {
  description: 'Count and first page of ten filters a second, against the same SQL written by hand.',
  options: {
    contacts: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
  },
  run,
};
