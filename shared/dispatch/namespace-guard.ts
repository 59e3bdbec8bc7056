import type { Client } from '@temporalio/client';
import { ConfigError } from '../platform/config.ts';
import type { Logger } from '../platform/logger.ts';
import { adoptOtherNamespace, assertKnownNamespace } from '../domain/lifecycle/known-namespace.ts';
import type { Orm } from '../domain/schema/orm.ts';
import { createDispatcher, type Dispatcher, type DispatcherDeps } from './dispatcher.ts';
import { findNamespaceId } from './temporal.ts';

export interface NamespaceGuardDeps {
  orm: Orm;
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
  orm,
  client,
  address,
  logger,
  mayAdopt,
}: NamespaceGuardDeps): () => Promise<void> {
  return async () => {
    const found = { id: await findNamespaceId(client), name: client.options.namespace, address };
    if (!mayAdopt) return assertKnownNamespace(orm.em.fork(), found);
    const restarted = await adoptOtherNamespace(orm.em.fork(), found);
    if (restarted) logger.warn({ restarted }, 'Temporal has lost its namespace; all waiting work is started again');
  };
}

/** How often a process looks whether its namespace is still the known one, and whether Temporal is there at last. */
const LOOK_MS = { known: 10_000, unknown: 1_000 } as const;

/**
 * A dispatcher that passes nothing on to Temporal before the namespace of the process is known to be the right one. If
 * Temporal is away now, it begins once Temporal is there. It goes on looking, because the namespace may be lost, or
 * another one adopted.
 * @param fail is called when the namespace is found to be another one later
 * @throws ConfigError when it is another one now
 */
export async function createGuardedDispatcher(
  deps: DispatcherDeps,
  checkNamespace: () => Promise<void>,
  fail: (error: ConfigError) => void,
): Promise<Dispatcher> {
  let dispatcher: Dispatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function look(onOther: (error: ConfigError) => void): Promise<void> {
    try {
      await checkNamespace();
      if (!isStopped) dispatcher ??= createDispatcher(deps);
    } catch (error) {
      if (error instanceof ConfigError) {
        onOther(error);
        return;
      }
    }
    if (isStopped) return;
    const pauseMs = dispatcher ? LOOK_MS.known : LOOK_MS.unknown;
    timer = setTimeout(() => {
      looking = look(fail);
    }, pauseMs);
    timer.unref();
  }
  let looking = look((error) => {
    throw error;
  });
  await looking;

  return {
    wake: (withinMs) => dispatcher?.wake(withinMs),
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await looking;
      await dispatcher?.stop();
    },
  };
}
