import { createDkimKeyring } from '../../sending/compose/dkim/key-pair.ts';
import { SealError, type AppSecrets } from '../../platform/sealed-values.ts';
import { createWebhookSecrets, type WebhookSecrets } from '../projects/webhook-secrets.ts';
import { query, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { notNull, tables, type Column } from '../../database/tables.ts';

/** The results for the values of one kind. */
export interface ResealCount {
  resealed: number;
  /** Values that were already sealed under APP_SECRET. */
  unchanged: number;
  /** The ids of the owners of values that none of the secrets opens. */
  unreadable: string[];
}

export interface ResealResult {
  /** The owners are sender domains. */
  dkimKeys: ResealCount;
  /** The owners are projects. */
  webhookSecrets: ResealCount;
  /** The owners are webhook endpoints. */
  endpointSecrets: ResealCount;
}

interface StoredValue<Sealed> {
  /** The id of the owner. */
  id: string;
  sealed: Sealed;
}

interface ValueKind<Sealed> {
  /** Selects the next values after an owner, by the ids of the owners. */
  page: (afterId: string | null) => SqlFragment;
  shape: { id: Column<string>; sealed: Column<Sealed> };
  /** Seals a value under APP_SECRET; undefined when it is already sealed under it. @throws SealError */
  reseal: (value: StoredValue<Sealed>) => Sealed | undefined;
  /** Stores a value, unless it has changed since it was read. */
  store: (value: StoredValue<Sealed>, resealed: Sealed) => SqlFragment;
}

const CHUNK = 100;

/** @returns whether the value was not yet sealed under APP_SECRET. @throws SealError when none of the secrets opens it */
async function resealValue<Sealed>(em: Em, kind: ValueKind<Sealed>, value: StoredValue<Sealed>): Promise<boolean> {
  const resealed = kind.reseal(value);
  if (resealed === undefined) return false;
  await query(em, kind.store(value, resealed));
  return true;
}

async function resealKind<Sealed>(em: Em, kind: ValueKind<Sealed>): Promise<ResealCount> {
  const count: ResealCount = { resealed: 0, unchanged: 0, unreadable: [] };
  for (let afterId: string | null = null; ;) {
    const values: StoredValue<Sealed>[] = await query(em, kind.page(afterId), kind.shape);
    for (const value of values) {
      try {
        const isResealed = await resealValue(em, kind, value);
        count[isResealed ? 'resealed' : 'unchanged']++;
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        count.unreadable.push(value.id);
      }
    }
    if (values.length < CHUNK) return count;
    afterId = values.at(-1)?.id ?? null;
  }
}

/** Reseals the secret of each endpoint, and its previous secret, which also signs for a while. */
async function resealEndpointSecrets(em: Em, webhookSecrets: WebhookSecrets): Promise<ResealCount> {
  const total: ResealCount = { resealed: 0, unchanged: 0, unreadable: [] };
  const { id: owner, secret, previousSecret } = tables.webhookEndpoint;
  for (const sealed of [secret, notNull(previousSecret)]) {
    const shape = { id: owner, sealed };
    const column = sealed === secret ? sql`secret` : sql`previous_secret`;
    const count = await resealKind<string>(em, {
      shape,
      page: (afterId) => sql`
        select id, ${column} as sealed from webhook_endpoint
        where ${column} is not null and (${afterId}::uuid is null or id > ${afterId}::uuid) order by id limit ${CHUNK}`,
      reseal: ({ id, sealed }) => webhookSecrets.reseal(sealed, id),
      store: ({ id, sealed }, resealed) => sql`
        update webhook_endpoint set ${column} = ${resealed} where id = ${id} and ${column} = ${sealed}`,
    });
    total.resealed += count.resealed;
    total.unchanged += count.unchanged;
    total.unreadable.push(...count.unreadable);
  }
  return total;
}

/**
 * Seals all values that are sealed under earlier secrets under APP_SECRET. Each value is stored by a statement of its
 * own, which changes nothing if the value has changed meanwhile. So this may run twice, and while other processes run.
 */
export async function resealAll(em: Em, secrets: AppSecrets): Promise<ResealResult> {
  const keyring = createDkimKeyring(secrets.appSecret, secrets.previousSecrets);
  const webhookSecrets = createWebhookSecrets(secrets);
  return {
    dkimKeys: await resealKind<Buffer>(em, {
      shape: { id: tables.senderDomain.id, sealed: notNull(tables.senderDomain.dkimPrivateKey) },
      page: (afterId) => sql`
        select id, dkim_private_key as sealed from sender_domain
        where dkim_private_key is not null and (${afterId}::uuid is null or id > ${afterId}::uuid)
        order by id limit ${CHUNK}`,
      reseal: ({ id, sealed }) => keyring.reseal(sealed, id),
      store: ({ id, sealed }, resealed) => sql`
        update sender_domain set dkim_private_key = ${resealed} where id = ${id} and dkim_private_key = ${sealed}`,
    }),
    webhookSecrets: await resealKind<string>(em, {
      shape: { id: tables.project.id, sealed: tables.project.webhookSecret },
      page: (afterId) => sql`
        select id, webhook_secret as sealed from project
        where ${afterId}::uuid is null or id > ${afterId}::uuid order by id limit ${CHUNK}`,
      reseal: ({ id, sealed }) => webhookSecrets.reseal(sealed, id),
      store: ({ id, sealed }, resealed) => sql`
        update project set webhook_secret = ${resealed} where id = ${id} and webhook_secret = ${sealed}`,
    }),
    endpointSecrets: await resealEndpointSecrets(em, webhookSecrets),
  };
}
