import { beforeAll, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../tests/support/database.ts';
import type { FilterCondition } from '../../pure/filters/filter-condition.ts';
import { sql, type SqlFragment } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';
import { createProject } from '../projects/projects.ts';
import { listSegmentContacts } from './segment-contacts.ts';
import { SegmentEntity } from './segment.entity.ts';

/** More contacts than a page reads of the newest, with more old matches than are collected in one pass. */
const CONTACTS = 12_000;

let projectId: string;
const { em } = useTestDatabase();

beforeAll(async () => {
  projectId = (await createProject(em(), 'Large')).project.id;
  await query(
    em(),
    sql`
      insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
      select everpost_uuid_v7(), ${projectId}, 'reader' || age || '@mail.test', true, jsonb_build_object('age', age, 'tenth', age % 10, 'six-hundredth', age % 600),
        now() - age * interval '1 minute', now()
      from generate_series(1, ${CONTACTS}::int) age`,
  );
  await query(em(), sql`vacuum analyze contact`);
}, 60_000);

const only = (field: string, operator: 'equals' | 'greaterThan', value: number): FilterCondition => ({
  logic: 'AND',
  groups: [{ filters: [{ field: `data.${field}`, operator, value }] }],
});

describe('a page of a segment among many contacts', () => {
  it.each<[string, FilterCondition, SqlFragment]>([
    ['matches that fill it among the newest contacts', only('tenth', 'equals', 3), sql`age % 10 = 3`],
    ['matches of which the newest contacts have a part', only('six-hundredth', 'equals', 5), sql`age % 600 = 5`],
    ['a few old matches', only('age', 'greaterThan', CONTACTS - 30), sql`age > ${CONTACTS - 30}::int`],
    [
      'many matches, all of them old',
      only('age', 'greaterThan', CONTACTS - 3_000),
      sql`age > ${CONTACTS - 3_000}::int`,
    ],
    ['no matches', only('age', 'greaterThan', CONTACTS), sql`false`],
  ])('has its contacts in order, and the total, for %s', async (_what, condition, matches) => {
    const expected = await query(
      em(),
      sql`select 'reader' || age || '@mail.test' as email from generate_series(1, ${CONTACTS}::int) age where ${matches} order by age`,
    );
    const segment = em().create(
      SegmentEntity,
      { projectId, name: 'S', type: 'DYNAMIC', condition },
      { persist: false },
    );
    for (const [page, pageSize] of [
      [1, 20],
      [2, 20],
      [3, 100],
      [61, 50],
      [300, 100],
    ] as const) {
      const { contacts, total } = await listSegmentContacts(em(), segment, { page, pageSize });
      const shown = expected.slice((page - 1) * pageSize, page * pageSize).map(({ email }) => email);
      expect({ total, emails: contacts.map(({ email }) => email) }).toEqual({ total: expected.length, emails: shown });
    }
  });
});
