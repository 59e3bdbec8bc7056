import { createHash } from 'node:crypto';
import { join } from 'node:path';
import {
  recordCampaignResults,
  type CampaignPage,
  type ClaimedPage,
} from '../../shared/domain/campaigns/campaign-delivery.ts';
import { isDatabaseFault } from '../../shared/database/database-errors.ts';
import { queryOne, sql } from '../../shared/database/sql.ts';
import { recordTransactionalResults, type DeliveryResult } from '../../shared/domain/emails/delivery-results.ts';
import { describeError } from '../../shared/platform/log-error.ts';
import type { ActivityDeps } from '../deps.ts';
import { recordInParts } from './record-in-parts.ts';
import { keptFiles, readKept, rejectKept, removeKept, writeKept } from './spool-folder.ts';

/** Results of an attempt that has ended, and the claim under which it may record them. */
export interface KeptResults {
  claim: { deliveryId: string; projectId: string; claimToken: string } | { page: ClaimedPage };
  results: DeliveryResult[];
}

/** Keeps results that PostgreSQL cannot record now. */
export interface ResultSpool {
  /** Keeps the results of an ended attempt in a file, or in memory without one, and records them when it can. */
  keep: (kept: KeptResults) => Promise<void>;
  /** Makes claims of the scope wait for an attempt that is still trying to record its results. */
  hold: (scope: string, recorded: Promise<void>) => void;
  /**
   * Records what this process, and others with the same folder, have kept. Call it before you claim the emails of a
   * scope (see `deliveryScope` and `pageScope`): a new claim makes the kept results worthless, and the emails would be
   * sent again.
   * @param scope everything when left out
   * @throws the error of PostgreSQL while it cannot serve
   */
  settle: (scope?: string) => Promise<void>;
  /** Begins to record everything, as soon as PostgreSQL can. */
  recordAll: () => void;
}

type SpoolDeps = Pick<ActivityDeps, 'config' | 'orm' | 'logger'>;

/** The emails of a delivery, which are claimed together. */
export const deliveryScope = (deliveryId: string): string => deliveryId;
/** The recipients of a page, which are claimed together. */
export const pageScope = ({ campaignId, firstSeq }: CampaignPage): string => `${campaignId}-${firstSeq}`;

const scopeOf = ({ claim }: KeptResults): string =>
  'page' in claim ? pageScope(claim.page) : deliveryScope(claim.deliveryId);

const RETRY_MS = 1_000;

/** The folder of a database, which keeps its name and the time of its first migration through a restore. */
async function folderOf({ config, orm }: SpoolDeps): Promise<string> {
  const row = await queryOne<{ identity: string }>(
    orm.em.fork(),
    sql`select current_database() || ' ' || min(executed_at)::text as identity from mikro_orm_migrations`,
  );
  const name = createHash('sha256').update(String(row?.identity));
  return join(config.RESULTS_FOLDER, name.digest('hex').slice(0, 16));
}

/**
 * Records kept results.
 * @param reject puts results aside that every repetition would fail to record
 * @returns how many were recorded
 */
async function recordKept(
  { config, orm, logger }: SpoolDeps,
  read: () => KeptResults,
  reject: () => Promise<void>,
): Promise<number> {
  const retrySeconds = config.DELIVERY_RETRY_SECONDS;
  try {
    const { claim, results } = read();
    const em = orm.em.fork();
    await recordInParts(results, (part) =>
      'page' in claim
        ? recordCampaignResults(em, claim.page, part, retrySeconds)
        : recordTransactionalResults(em, claim.projectId, claim.claimToken, part, retrySeconds),
    );
    return results.length;
  } catch (error) {
    if (isDatabaseFault(error)) throw error;
    logger.error({ err: error }, 'results of sent mail cannot be recorded');
    await reject();
    return 0;
  }
}

/** Creates the spool of a process. Its files are in a folder of their own for each database. */
export function createResultSpool(deps: SpoolDeps): ResultSpool {
  const { logger } = deps;
  const inMemory = new Set<KeptResults>();
  const holds = new Map<string, Set<Promise<void>>>();
  let folder: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function recordFile(path: string): Promise<number> {
    const text = await readKept(path);
    if (text === undefined) return 0;
    const count = await recordKept(
      deps,
      () => JSON.parse(text) as KeptResults,
      () => rejectKept(path),
    );
    await removeKept(path);
    return count;
  }

  async function recordMemory(kept: KeptResults): Promise<number> {
    const count = await recordKept(
      deps,
      () => kept,
      () => Promise.resolve(),
    );
    inMemory.delete(kept);
    return count;
  }

  async function settle(scope?: string): Promise<void> {
    if (scope !== undefined) await Promise.all([...(holds.get(scope) ?? [])]);
    const kept = [...inMemory].filter((each) => scope === undefined || scopeOf(each) === scope);
    const files = await keptFiles((folder ??= await folderOf(deps)), scope);
    const work = [...kept.map(recordMemory), ...files.map(recordFile)];
    const done = await Promise.allSettled(work);
    const count = done.reduce((sum, each) => sum + (each.status === 'fulfilled' ? each.value : 0), 0);
    if (count > 0) logger.info({ count }, 'kept results of sent mail are recorded');
    await Promise.all(work);
  }

  function recordAll(): void {
    settle().catch(settleLater);
  }

  function settleLater(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      recordAll();
    }, RETRY_MS).unref();
  }

  return {
    settle,
    recordAll,
    hold(scope, recorded) {
      const held = holds.get(scope) ?? new Set();
      holds.set(scope, held.add(recorded));
      void recorded.finally(() => {
        held.delete(recorded);
        if (held.size === 0 && holds.get(scope) === held) holds.delete(scope);
      });
    },
    async keep(kept) {
      const count = kept.results.length;
      try {
        if (folder === undefined) throw new Error('the database is not known yet');
        await writeKept(folder, scopeOf(kept), JSON.stringify(kept));
        logger.warn({ count, folder }, 'results of sent mail are kept in a file until PostgreSQL can record them');
      } catch (error) {
        inMemory.add(kept);
        logger.error({ count, reason: describeError(error) }, 'results of sent mail are kept in memory only');
      }
      settleLater();
    },
  };
}
