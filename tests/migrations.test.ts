import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Migration } from '@mikro-orm/migrations';
import { sql } from '../shared/database/sql.ts';
import { query, queryOne } from './support/rows.ts';
import { updateProject } from '../shared/domain/lifecycle/update-project.ts';
import { migrateUp, type MigrationReport } from '../shared/domain/schema/migrate.ts';
import { MIGRATIONS, type SchemaMigration } from '../shared/domain/schema/migrations.ts';
import { addReaders, sendToAll } from './support/campaigns.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

/** Rows of the table of emails while it is migrated. `MIGRATION_ROWS=2000000` takes a minute or two. */
const ROWS = Number(process.env['MIGRATION_ROWS'] ?? 20_000);
const RECIPIENTS = 600;

class NewColumn extends Migration {
  override up(): void {
    this.addSql('alter table email add column note text');
  }
}

class NewIndex extends Migration {
  override isTransactional(): boolean {
    return false;
  }
  override up(): void {
    this.addSql('drop index concurrently if exists email_of_tests');
    this.addSql('create index concurrently email_of_tests on email (status, sent_at, id)');
  }
}

const NEWER: SchemaMigration[] = [
  { name: '29990101000000-new-column', class: NewColumn },
  { name: '29990101000001-new-index', class: NewIndex },
];

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.stop());

async function fillEmails(): Promise<void> {
  const { project } = await stack.createProject();
  await query(
    stack.em(),
    sql`
      insert into email (id, project_id, to_address, status, created_at, sent_at)
      select everpost_uuid_v7(), ${project.id}, 'a@mail.test', 'SENT', now(), now() from generate_series(1, ${ROWS}::int)`,
  );
}

/** Whether a session of the migration waits for a lock. */
async function isWaiting(): Promise<boolean> {
  const rows = await query(
    stack.em(),
    sql`select from pg_stat_activity where application_name = 'everpost-migrate' and wait_event_type = 'Lock'`,
  );
  return rows.length > 0;
}

describe('a migration of large tables', () => {
  it('waits for a report that reads the table, without keeping email from being sent, and builds an index meanwhile', async () => {
    await fillEmails();
    const project = await stack.createProject();
    await updateProject(stack.em(), project.project.id, { emailsPerSecond: 100 });
    await addReaders(stack.em(), project.project.id, RECIPIENTS);
    const report = stack.em();
    await report.begin();
    await query(report, sql`select from email limit 1`);

    let migrated: MigrationReport | undefined;
    const migration = migrateUp(stack.database.url, [...MIGRATIONS, ...NEWER]).then((done) => (migrated = done));
    await eventually(isWaiting);
    const campaign = await sendToAll(project);
    const sent = () => stack.sink.recipientCounts().size;
    await eventually(async () => sent() > RECIPIENTS / 4);
    expect(migrated).toBeUndefined();

    await report.commit();
    await migration;
    expect(migrated?.applied).toEqual(NEWER.map(({ name }) => name));
    await eventually(async () => (await campaign.read()).status === 'SENT');
    expect([...stack.sink.recipientCounts().values()]).toEqual(Array.from({ length: RECIPIENTS }, () => 1));
    expect(
      await queryOne(
        stack.em(),
        sql`select indisvalid as "isValid" from pg_index where indexrelid = 'email_of_tests'::regclass`,
      ),
    ).toEqual({ isValid: true });
  }, 180_000);
});
