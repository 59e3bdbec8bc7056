import { mkdtempSync, chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { stopInOrder } from '../local/processes/child-process.ts';
import { startEmbeddedPostgres } from '../local/postgres/embedded-postgres.ts';
import { findFreePort } from '../local/processes/free-port.ts';
import { projectRoot } from '../shared/platform/paths.ts';
import { startProcessGuard } from '../local/processes/process-guard.ts';
import { migrateUp } from '../shared/domain/schema/migrate.ts';
import { MIGRATIONS } from '../shared/domain/schema/migrations.ts';
import { createOrm } from '../shared/domain/schema/orm.ts';
import { digestsOf } from './migration-digests.ts';
import { describeRows, describeSchema } from './schema-text.ts';

/**
 * Writes `docs/schema.sql` and `shared/database/tables.ts` from a new database with all migrations, and the digests of
 * new migrations. Those of others stay, so that a test finds a migration that was edited.
 */
const folder = mkdtempSync(path.join(os.tmpdir(), 'everpost-schema-'));
// PostgreSQL of a root shell runs as another user and must be able to enter.
chmodSync(folder, 0o755);
const guard = startProcessGuard();
guard.removeAfterwards(folder);
const postgres = await startEmbeddedPostgres({
  dataDirectory: path.join(folder, 'postgres'),
  port: await findFreePort(0),
  databases: ['everpost'],
  isDurable: false,
  logFile: path.join(folder, 'postgres.log'),
  stopRank: 1,
  guard,
});
try {
  const databaseUrl = postgres.url('everpost');
  await migrateUp(databaseUrl);
  const orm = await createOrm({ databaseUrl, poolSize: 2, applicationName: 'everpost-schema' });
  writeFileSync(path.join(projectRoot, 'docs', 'schema.sql'), await describeSchema(orm.em.fork()));
  writeFileSync(path.join(projectRoot, 'shared', 'database', 'tables.ts'), await describeRows(orm.em.fork()));
  await orm.close();
  const digestsFile = path.join(projectRoot, 'shared/domain/schema/migrations/digests.json');
  const known = JSON.parse(readFileSync(digestsFile, 'utf8')) as Record<string, string>;
  writeFileSync(digestsFile, `${JSON.stringify({ ...digestsOf(MIGRATIONS), ...known }, null, 2)}\n`);
} finally {
  await stopInOrder([postgres.child]);
  rmSync(folder, { recursive: true, force: true });
}
// The pipe to the guard would keep this process running.
process.exit();
