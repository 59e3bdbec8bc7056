import { isDatabaseFault } from '../../database/database-errors.ts';
import { describeError } from '../../platform/log-error.ts';
import type { Logger } from '../../platform/logger.ts';
import { type Claim, type DeliveryResult, type ResultSink } from '../ports.ts';
import { recordApart } from './record-results.ts';
import {
  createLineFile,
  keptFiles,
  linesOf,
  readKept,
  rejectKept,
  removeKept,
  writeKept,
  type LineFile,
} from './spool-folder.ts';

/** Results of an attempt that has ended, and the claim under which it may record them. */
export interface KeptResults<C extends Claim> {
  claim: C;
  results: DeliveryResult[];
}

/** Keeps results that PostgreSQL cannot record now. */
export interface ResultSpool<C extends Claim> {
  /**
   * Begins the list of the emails of an attempt that servers accept. When the process is killed, the next claim of the
   * scope finds it. Call `settle` before.
   */
  begin: (claim: C) => LineFile;
  /** Keeps the results of an ended attempt in a file, or in memory without one, and records them when it can. */
  keep: (kept: KeptResults<C>) => Promise<void>;
  /** Makes claims of the scope wait for an attempt that is still trying to record its results. */
  hold: (scope: string, recorded: Promise<void>) => void;
  /**
   * Records what this process, and others with the same folder, have kept. Call it before you claim a scope: a new claim
   * makes the kept results worthless, and the messages would be sent again.
   * @param scope everything when left out
   * @throws the error of PostgreSQL while it cannot serve
   */
  settle: (scope?: string) => Promise<void>;
  /** Begins to record everything, as soon as PostgreSQL can. */
  recordAll: () => void;
}

export interface SpoolOptions<C extends Claim> {
  sink: ResultSink<C>;
  /** The folder of the files, which belongs to one database. */
  folder: () => Promise<string>;
  logger: Logger;
}

const RETRY_MS = 1_000;

/** The result of an email of which only is known that a server accepted it. */
export const acceptedResult = (emailId: string): DeliveryResult => ({
  emailId,
  verdict: 'sent',
  subject: null,
  error: null,
});

/**
 * Records kept results.
 * @param reject puts results aside that every repetition would fail to record
 * @returns how many were recorded
 */
async function recordKept<C extends Claim>(
  { sink, logger }: SpoolOptions<C>,
  read: () => KeptResults<C>,
  reject: () => Promise<void>,
): Promise<number> {
  try {
    const { claim, results } = read();
    await recordApart(results, (part) => sink.record(claim, part));
    return results.length;
  } catch (error) {
    if (isDatabaseFault(error)) throw error;
    logger.error({ err: error }, 'results of sent mail cannot be recorded');
    await reject();
    return 0;
  }
}

/** What a list says: its claim, then ids. Without a whole claim it says nothing. */
function listed<C extends Claim>([head = '{}', ...ids]: string[]): KeptResults<C> {
  return { claim: JSON.parse(head) as C, results: ids.map(acceptedResult) };
}

/** Creates the spool of a process. */
export function createResultSpool<C extends Claim>(options: SpoolOptions<C>): ResultSpool<C> {
  const { logger } = options;
  const inMemory = new Set<KeptResults<C>>();
  const holds = new Map<string, Set<Promise<void>>>();
  let folder: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function recordFile(path: string): Promise<number> {
    const text = await readKept(path);
    if (text === undefined) return 0;
    const lines = linesOf(path, text);
    const count = await recordKept(
      options,
      () => (lines ? listed(lines) : (JSON.parse(text) as KeptResults<C>)),
      () => rejectKept(path),
    );
    await removeKept(path);
    return count;
  }

  async function recordMemory(kept: KeptResults<C>): Promise<number> {
    const count = await recordKept(
      options,
      () => kept,
      () => Promise.resolve(),
    );
    inMemory.delete(kept);
    return count;
  }

  async function settle(scope?: string): Promise<void> {
    if (scope !== undefined) await Promise.all([...(holds.get(scope) ?? [])]);
    const kept = [...inMemory].filter((each) => scope === undefined || each.claim.scope === scope);
    const files = await keptFiles((folder ??= await options.folder()), scope);
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
    begin(claim) {
      if (folder === undefined) throw new Error('call settle first');
      return createLineFile(folder, claim.scope, JSON.stringify(claim), (error) => {
        const reason = describeError(error);
        logger.warn({ reason }, 'accepted emails cannot be listed; if this process is killed, some may go twice');
      });
    },
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
        await writeKept(folder, kept.claim.scope, JSON.stringify(kept));
        logger.warn({ count, folder }, 'results of sent mail are kept in a file until PostgreSQL can record them');
      } catch (error) {
        inMemory.add(kept);
        logger.error({ count, reason: describeError(error) }, 'results of sent mail are kept in memory only');
      }
      settleLater();
    },
  };
}
