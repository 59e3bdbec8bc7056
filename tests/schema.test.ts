import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { describeRows, describeSchema } from '../scripts/schema-text.ts';
import { sql, type Em, type SqlFragment } from '../shared/database/sql.ts';
import { migrateUp } from '../shared/domain/schema/migrate.ts';
import { MIGRATIONS } from '../shared/domain/schema/migrations.ts';
import { createOrm } from '../shared/domain/schema/orm.ts';
import { query } from './support/rows.ts';
import { tables } from '../shared/database/tables.ts';
import {
  EXECUTION_STATUSES,
  STEP_EXECUTION_STATUSES,
  STEP_TYPES,
} from '../shared/pure/automations/automation-status.ts';
import { CAMPAIGN_STATUSES } from '../shared/pure/campaigns/campaign-status.ts';
import { EMAIL_STATUSES, EMAIL_TYPES } from '../shared/pure/emails/email-types.ts';
import { createBlankDatabase, createTestDatabase, type TestDatabase } from './support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

function fileText(...parts: string[]): string {
  return readFileSync(path.join(import.meta.dirname, '..', ...parts), 'utf8');
}

describe('the generated schema (npm run schema)', () => {
  it('docs/schema.sql is the schema that the migrations create', async () => {
    expect(fileText('docs', 'schema.sql')).toBe(await describeSchema(database.orm.em.fork()));
  });

  it('shared/database/tables.ts has the columns that the migrations create', async () => {
    expect(fileText('shared', 'database', 'tables.ts')).toBe(await describeRows(database.orm.em.fork()));
  });

  it('allows the statuses and types that the rules know', () => {
    expect(
      [
        [tables.automationExecution.status.values, EXECUTION_STATUSES],
        [tables.automationStep.type.values, STEP_TYPES],
        [tables.campaign.status.values, CAMPAIGN_STATUSES],
        [tables.email.status.values, EMAIL_STATUSES],
        [tables.stepExecution.status.values, STEP_EXECUTION_STATUSES],
        [tables.template.type.values, EMAIL_TYPES],
      ].filter(([ofSchema, known]) => ofSchema?.join() !== known?.join()),
    ).toEqual([]);
  });

  it('has a column for each property of an entity, and both may be null or neither', async () => {
    const columns = await query(
      database.orm.em.fork(),
      sql`
        select table_name as table, column_name as column, is_nullable = 'YES' as "isNullable"
        from information_schema.columns where table_schema = 'public'`,
    );
    const known = new Map(columns.map((it) => [`${it.table}.${it.column}`, it.isNullable]));
    const wrong: string[] = [];
    for (const { tableName, props } of database.orm.getMetadata().getAll().values()) {
      for (const { fieldNames, nullable = false, name } of props) {
        const isNullable = known.get(`${tableName}.${fieldNames[0] ?? name}`);
        if (isNullable !== nullable) wrong.push(`${tableName}.${name}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('has no two indexes of the same columns', async () => {
    const twins = await query(
      database.orm.em.fork(),
      sql`
        select array_agg(indexrelid::regclass::text) as names from pg_index i join pg_class c on c.oid = i.indexrelid
        where c.relnamespace = 'public'::regnamespace
        group by indrelid, indkey::text, indclass::text, indoption::text, pg_get_expr(indexprs, indrelid), pg_get_expr(indpred, indrelid)
        having count(*) > 1`,
    );
    expect(twins).toEqual([]);
  });

  it('vacuums and analyzes tables that only grow after 2 % of change', async () => {
    const grown = ['attachment', 'automation_execution', 'email', 'email_content', 'event', 'step_execution'];
    const rows = await query(
      database.orm.em.fork(),
      sql`select relname as name, reloptions as options from pg_class where relname = any(${grown}::text[]) order by 1`,
    );
    expect(rows.map(({ name }) => name)).toEqual(grown);
    for (const { options } of rows) {
      for (const kind of ['vacuum', 'vacuum_insert', 'analyze']) {
        expect(options).toContain(`autovacuum_${kind}_scale_factor=0.02`);
      }
    }
  });
});

describe('a database of an earlier version', () => {
  /** A database with the schema of 0.1.0, changed by statements, and then brought up to date. */
  async function migrateFrom(statements: SqlFragment[], check: (em: Em) => Promise<void>): Promise<void> {
    const { url, drop } = await createBlankDatabase();
    await migrateUp(url, MIGRATIONS.slice(0, 1));
    const orm = await createOrm({ databaseUrl: url, poolSize: 2, applicationName: 'everpost-api-authentication' });
    try {
      for (const statement of statements) await query(orm.em.fork(), statement);
      expect((await migrateUp(url)).olderProcesses).toEqual(['everpost-api']);
      expect(await describeRows(orm.em.fork())).toBe(await describeRows(database.orm.em.fork()));
      await check(orm.em.fork());
    } finally {
      await orm.close();
      await drop();
    }
  }

  it('of 0.1.0 gets all columns, and its processes go on booking the speed of projects meanwhile', async () => {
    const id = randomUUID();
    const book = sql`
      insert into send_budget as b (project_id, next_free_at) values (${id}, now() + interval '1 day')
      on conflict (project_id) do update set next_free_at = b.next_free_at + interval '1 day'`;
    await migrateFrom([book], async (em) => {
      await query(em, book);
      const booked = sql`select next_free_at > now() + interval '47 hours' as "isBoth" from project_permit`;
      expect(await query(em, booked)).toEqual([{ isBoth: true }]);
    });
  });

  it('of the days after 0.1.0, whose first migration was edited, gets all columns', async () => {
    const edited = [
      sql`drop table send_budget`,
      sql`
        create table project_permit (
          project_id uuid primary key, next_free_at timestamptz(6), urgent_free_at timestamptz(6),
          holds jsonb not null default '{}'
        )`,
      sql`alter table email add column wait_reason text`,
    ];
    await migrateFrom(edited, async () => undefined);
  });
});
