import type { Logger } from '../../platform/logger.ts';
import { waitUntilThere } from '../../platform/wait.ts';
import { absenceOf } from '../database/database-errors.ts';
import { migrateUp } from './orm.ts';
import { databaseName, permanentFault } from './usable-database.ts';

/**
 * Brings the schema up to date and then calls `open`, as soon as PostgreSQL is there, however long that takes.
 * @param open connects; is called again when PostgreSQL goes away meanwhile, so it must close what it could not finish
 * @throws ConfigError for what an operator has to mend: a wrong password, no such database, a right that is missing, a database
 * of something else or of a newer version
 */
export async function waitForDatabase<T>(databaseUrl: string, logger: Logger, open: () => Promise<T>): Promise<T> {
  async function attempt(): Promise<T> {
    await migrateUp(databaseUrl);
    return open();
  }
  try {
    return await waitUntilThere(attempt, { what: databaseName(databaseUrl), absenceOf, logger });
  } catch (error) {
    throw permanentFault(databaseUrl, error) ?? error;
  }
}
