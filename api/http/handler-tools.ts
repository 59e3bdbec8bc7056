import { createAddressVerifier } from '../../shared/domain/address-verification/verify-address.ts';
import { createBatchQueue } from '../../shared/domain/emails/batch-queue.ts';
import { createTransactionalQueue } from '../../shared/domain/emails/transactional-queue.ts';
import { createWebhookSecrets } from '../../shared/domain/projects/webhook-secrets.ts';
import type { Orm } from '../../shared/domain/schema/orm.ts';
import { createTracker } from '../../shared/domain/tracking/tracker.ts';
import { createProviderFinder } from '../../shared/sending/verdict/mx-provider.ts';
import { createEmailCompiler } from '../../shared/sending/compose/compiled-email.ts';
import { createDkimKeyring } from '../../shared/sending/compose/dkim/key-pair.ts';
import { linkSignerOf } from '../../shared/sending/compose/links.ts';
import type { Config } from '../../shared/platform/config.ts';
import { createDnsResolver } from '../../shared/platform/dns/resolver.ts';
import { Share } from '../../shared/platform/share.ts';
import { appSecretsOf } from '../../shared/platform/sealed-values.ts';
import { createWebhookClient, webhookClientOptions } from '../../shared/platform/webhook/webhook-client.ts';
import { createFormTokens } from '../subscribe/form-token.ts';
import { createSubscriber } from '../subscribe/subscriber.ts';
import type { Load } from './load.ts';

/** How many requests with large templates are handled at a time. */
const LARGE_REQUESTS_AT_A_TIME = 2;

/** Creates what the handlers of endpoints use together. */
export function createHandlerTools({ config, orm }: { config: Config; orm: Orm }, load: Load) {
  const writes = { em: () => orm.em.fork(), slots: load.slots };
  const secrets = appSecretsOf(config);
  const links = linkSignerOf(config);
  const compileEmail = createEmailCompiler();
  const resolver = createDnsResolver({ servers: config.DNS_SERVERS });
  const sending = {
    ...writes,
    links,
    compileEmail,
    messageBytesMax: config.MESSAGE_MAX_BYTES,
    largeWork: new Share({ total: LARGE_REQUESTS_AT_A_TIME }),
    inboundDomain: config.INBOUND_DOMAIN,
  };
  return {
    links,
    compileEmail,
    resolver,
    keyring: createDkimKeyring(config.APP_SECRET, config.APP_SECRETS_PREVIOUS),
    verifyAddress: createAddressVerifier(resolver),
    providerOf: createProviderFinder(resolver, () => false),
    webhooks: createWebhookClient(webhookClientOptions(config)),
    webhookSecrets: createWebhookSecrets(secrets),
    // These handle requests of a project that come together as one group.
    track: createTracker(writes),
    subscribe: createSubscriber({ ...writes, formTokens: createFormTokens(secrets) }),
    queueTransactional: createTransactionalQueue(sending),
    queueBatch: createBatchQueue(sending),
  };
}
