import type { Client } from '@temporalio/client';
import { ConfigError } from '../../platform/config.ts';
import type { Em } from '../../database/sql.ts';
import type { Logger } from '../../platform/logger.ts';
import { findNamespaceId } from '../../durable/temporal/client.ts';
import { adoptOtherNamespace, assertKnownNamespace } from './known-namespace.ts';

export interface NamespaceGuardDeps {
  em: () => Em;
  client: Client;
  /** host:port of Temporal, for messages. */
  address: string;
  logger: Logger;
  /** Whether another namespace is adopted instead of refused. */
  mayAdopt: boolean;
}

/**
 * Creates a check that the namespace of a process is the one that works on its database.
 * @returns a function that throws a ConfigError when it is not, and other errors while Temporal or PostgreSQL is away
 */
export function createNamespaceCheck({
  em,
  client,
  address,
  logger,
  mayAdopt,
}: NamespaceGuardDeps): () => Promise<void> {
  return async () => {
    const found = { id: await findNamespaceId(client), name: client.options.namespace, address };
    if (!mayAdopt) return assertKnownNamespace(em(), found);
    const restarted = await adoptOtherNamespace(em(), found);
    if (restarted) logger.warn({ restarted }, 'Temporal has lost its namespace; all waiting work is started again');
  };
}

/** How often a process looks whether its namespace is still the known one, and whether Temporal is there at last. */
const LOOK_MS = { known: 10_000, unknown: 1_000 } as const;

/**
 * Checks now, and again and again, that the namespace of the process is the right one: Temporal may be away now, the
 * namespace may be lost, or another one adopted.
 * @param fail is called when the namespace is found to be another one later
 * @returns ends the watch
 * @throws ConfigError when it is another one now
 */
export async function watchNamespace(
  checkNamespace: () => Promise<void>,
  fail: (error: ConfigError) => void,
): Promise<() => void> {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function look(): Promise<void> {
    const isKnown = await checkNamespace().then(
      () => true,
      (error: unknown) => {
        if (error instanceof ConfigError) throw error;
        return false;
      },
    );
    if (isStopped) return;
    timer = setTimeout(() => void look().catch(fail), isKnown ? LOOK_MS.known : LOOK_MS.unknown);
    timer.unref();
  }
  await look();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
