import type { PermitStore, SentCount } from '../ports.ts';
import type { Logger } from '../../platform/logger.ts';
import type { SmtpPool } from '../transport/smtp-pool.ts';

/** Counts the emails that servers accepted, by project and provider. */
export interface SendTally {
  add: (projectId: string, provider: string) => void;
}

const EVERY_MS = 500;
/** Counts that are kept while the database cannot be reached. */
const COUNTS_MAX = 100_000;

export interface SendTallyOptions {
  store: Pick<PermitStore, 'countSent'>;
  logger: Logger;
  /** The pool is closed before the database connection. */
  smtp: Pick<SmtpPool, 'isClosed'>;
}

/**
 * Creates the tally of a worker process. It is stored twice a second, so that sending does not wait for counters that
 * all workers share. A process that is killed loses half a second of it.
 */
export function createSendTally({ store, logger, smtp }: SendTallyOptions): SendTally {
  let counts = new Map<string, SentCount>();
  let timer: NodeJS.Timeout | undefined;

  function add({ projectId, provider, count }: SentCount): void {
    const key = `${projectId} ${provider}`;
    const known = counts.get(key);
    if (known) known.count += count;
    else if (counts.size < COUNTS_MAX) counts.set(key, { projectId, provider, count });
    timer ??= setTimeout(() => void write(), EVERY_MS).unref();
  }

  async function write(): Promise<void> {
    if (smtp.isClosed()) return;
    const written = [...counts.values()];
    counts = new Map();
    try {
      await store.countSent(written);
      timer = undefined;
      if (counts.size > 0) timer = setTimeout(() => void write(), EVERY_MS).unref();
    } catch (error) {
      logger.debug({ err: error }, 'Emails could not be counted, they are counted later');
      timer = undefined;
      for (const each of written) add(each);
    }
  }

  return { add: (projectId, provider) => add({ projectId, provider, count: 1 }) };
}
