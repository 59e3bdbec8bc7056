import { createTransactionalQueue } from '../../shared/domain/emails/transactional-queue.ts';
import { createTracker } from '../../shared/domain/tracking/tracker.ts';
import { linkSignerOf } from '../../shared/platform/links.ts';
import { createEmailCompiler } from '../../shared/platform/mail/compiled-email.ts';
import { createGate } from '../../shared/platform/turns.ts';
import type { ApiDeps, HandlerDeps } from './context.ts';
import type { Load } from './load.ts';

/** Requests with large templates that are worked on at a time. */
const LARGE_WIDTH = 2;

/** What grouped endpoints do for requests of the same project that come together. */
export function createGroupedWork(
  { config, orm }: ApiDeps,
  load: Load,
): Pick<HandlerDeps, 'track' | 'queueTransactional'> {
  const writes = {
    em: () => orm.em.fork(),
    takeTurn: (projectId: string) => load.slots.take(projectId, 1),
  };
  return {
    track: createTracker(writes),
    queueTransactional: createTransactionalQueue({
      ...writes,
      links: linkSignerOf(config),
      compileEmail: createEmailCompiler(),
      messageBytesMax: config.MESSAGE_MAX_BYTES,
      largeWork: createGate(LARGE_WIDTH),
      inboundDomain: config.INBOUND_DOMAIN,
    }),
  };
}
