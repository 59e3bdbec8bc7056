import { createSealer, SealError, type AppSecrets } from '../../platform/sealed-values.ts';

const SEALED = 'sealed:';

/** For callers without APP_SECRET: they can read and write keys in plain text, and not read sealed ones. */
export const PLAIN_WEBHOOK_SECRETS: WebhookSecrets = {
  seal: (secret) => secret,
  open(stored) {
    if (stored.startsWith(SEALED)) throw new SealError('The webhook secret');
    return stored;
  },
  reseal: () => undefined,
};

/** Seals and opens the signing keys of webhooks with the secrets of the process. */
export function createWebhookSecrets(secrets: AppSecrets) {
  const sealer = createSealer(secrets, 'everpost webhook secrets');
  const octetsOf = (stored: string) => Buffer.from(stored.slice(SEALED.length), 'base64');
  const seal = (secret: string, projectId: string) =>
    `${SEALED}${sealer.seal(Buffer.from(secret), projectId).toString('base64')}`;
  /** @throws SealError */
  const open = (stored: string, projectId: string) => {
    if (!stored.startsWith(SEALED)) return stored;
    try {
      return sealer.open(octetsOf(stored), projectId).toString();
    } catch (error) {
      throw new SealError('The webhook secret', error);
    }
  };
  return {
    seal,
    open,
    /** Seals a stored key under APP_SECRET; undefined when it is already sealed under it. @throws SealError */
    reseal(stored: string, projectId: string): string | undefined {
      if (stored.startsWith(SEALED) && sealer.isCurrent(octetsOf(stored))) return undefined;
      return seal(open(stored, projectId), projectId);
    },
  };
}

/** Seals and opens the signing keys of webhooks. A stored key is sealed, or in plain text if it was never sealed. */
export type WebhookSecrets = ReturnType<typeof createWebhookSecrets>;
