import { createBatchQueue } from '../../shared/domain/emails/batch-queue.ts';
import { createTransactionalQueue } from '../../shared/domain/emails/transactional-queue.ts';
import { createTracker } from '../../shared/domain/tracking/tracker.ts';
import { linkSignerOf } from '../../shared/sending/compose/links.ts';
import { createEmailCompiler } from '../../shared/sending/compose/compiled-email.ts';
import { Share } from '../../shared/platform/share.ts';
import { appSecretsOf } from '../../shared/platform/sealed-values.ts';
import { createFormTokens } from '../subscribe/form-token.ts';
import { createSubscriber } from '../subscribe/subscriber.ts';
import type { ApiDeps, HandlerDeps } from './context.ts';
import type { Load } from './load.ts';

/** How many requests with large templates are handled at a time. */
const LARGE_REQUESTS_AT_A_TIME = 2;

/** Creates the functions of grouped endpoints. They handle requests of a project that come together as one group. */
export function createGroupedWork(
  { config, orm }: ApiDeps,
  load: Load,
): Pick<HandlerDeps, 'track' | 'queueTransactional' | 'queueBatch' | 'subscribe'> {
  const writes = { em: () => orm.em.fork(), slots: load.slots };
  const sending = {
    ...writes,
    links: linkSignerOf(config),
    compileEmail: createEmailCompiler(),
    messageBytesMax: config.MESSAGE_MAX_BYTES,
    largeWork: new Share({ total: LARGE_REQUESTS_AT_A_TIME }),
    inboundDomain: config.INBOUND_DOMAIN,
  };
  return {
    track: createTracker(writes),
    subscribe: createSubscriber({ ...writes, formTokens: createFormTokens(appSecretsOf(config)) }),
    queueTransactional: createTransactionalQueue(sending),
    queueBatch: createBatchQueue(sending),
  };
}
