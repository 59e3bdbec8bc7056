import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { queryOne, sql, type Em } from '../../database/sql.ts';
import { text } from '../../database/tables.ts';
import type { Config } from '../../platform/config.ts';
import type { Logger } from '../../platform/logger.ts';
import { createResultSpool, type ResultSpool } from '../../sending/results/result-spool.ts';
import type { Claim, ResultSink } from '../../sending/ports.ts';
import { recordTransactionalResults } from '../emails/delivery-results.ts';
import { recordCampaignResults, type ClaimedPage } from './campaign-delivery.ts';

/** The claim of the emails of a delivery, or of the recipients of a page. */
export interface EmailClaim extends Claim {
  /** Set for a page. */
  page?: Omit<ClaimedPage, 'claimToken' | 'projectId'>;
}

export interface SpoolDeps {
  config: Pick<Config, 'RESULTS_FOLDER' | 'DELIVERY_RETRY_SECONDS'>;
  orm: { em: Em };
  logger: Logger;
}

export function createResultSink(em: () => Em, retrySeconds: readonly number[]): ResultSink<EmailClaim> {
  return {
    async record({ claimToken, projectId, page }, results) {
      if (page) return recordCampaignResults(em(), { ...page, claimToken, projectId }, results, retrySeconds);
      await recordTransactionalResults(em(), projectId, claimToken, results, retrySeconds);
      return { mayContinue: true };
    },
  };
}

/**
 * Creates the spool of a process. The folder of its files belongs to one database, which keeps its name and the time of
 * its first migration through a restore.
 */
export function createEmailSpool({ config, orm, logger }: SpoolDeps): ResultSpool<EmailClaim> {
  const em = (): Em => orm.em.fork();
  return createResultSpool({
    sink: createResultSink(em, config.DELIVERY_RETRY_SECONDS),
    logger,
    async folder() {
      const row = await queryOne(
        em(),
        sql`select current_database() || ' ' || min(executed_at)::text as identity from mikro_orm_migrations`,
        { identity: text },
      );
      const name = createHash('sha256').update(String(row?.identity));
      return join(config.RESULTS_FOLDER, name.digest('hex').slice(0, 16));
    },
  });
}
