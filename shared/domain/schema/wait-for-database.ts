import type { Logger } from '../../platform/logger.ts';
import { waitUntilThere } from '../../platform/wait.ts';
import { unavailabilityReason } from '../../database/database-errors.ts';
import { migrateUp } from './migrate.ts';
import { databaseName, permanentFault } from './usable-database.ts';

/**
 * Waits for PostgreSQL, however long that takes, then brings the schema up to date and calls `open`.
 * @param open connects; it is called again if PostgreSQL goes away meanwhile, so it must close what it opened
 * @throws ConfigError for what an operator has to mend: a wrong password, no such database, a right that is missing, a
 *   database of another product or of a newer version of Everpost
 */
export async function waitForDatabase<T>(databaseUrl: string, logger: Logger, open: () => Promise<T>): Promise<T> {
  async function attempt(): Promise<T> {
    await migrateUp(databaseUrl);
    return open();
  }
  try {
    return await waitUntilThere(attempt, { what: databaseName(databaseUrl), unavailabilityReason, logger });
  } catch (error) {
    throw permanentFault(databaseUrl, error) ?? error;
  }
}
