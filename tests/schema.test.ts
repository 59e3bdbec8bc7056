import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { describeRows, describeSchema } from '../scripts/schema-text.ts';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { tables } from '../shared/database/tables.ts';
import {
  EXECUTION_STATUSES,
  STEP_EXECUTION_STATUSES,
  STEP_TYPES,
} from '../shared/pure/automations/automation-status.ts';
import { CAMPAIGN_STATUSES } from '../shared/pure/campaigns/campaign-status.ts';
import { EMAIL_STATUSES, EMAIL_TYPES } from '../shared/pure/emails/email-types.ts';
import { createTestDatabase, type TestDatabase } from './support/database.ts';

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
