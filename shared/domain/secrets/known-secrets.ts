import { ConfigError } from '../../platform/config.ts';
import { createDkimKeyring, DkimKeyError } from '../../sending/compose/dkim/key-pair.ts';
import { allSecrets, secretId, type AppSecrets } from '../../platform/sealed-values.ts';
import { query, queryOne, sql, inTransaction, type Em } from '../../database/sql.ts';
import { notNull, tables } from '../../database/tables.ts';

/** Processes that start together check their secrets one after the other. */
const KNOWN_SECRETS_LOCK = 7_310_526;

/** Records the id of a secret in the database. */
export async function rememberSecret(em: Em, appSecret: string): Promise<void> {
  await query(em, sql`insert into known_secret (secret_id) values (${secretId(appSecret)}) on conflict do nothing`);
}

/** Removes the ids of all other secrets, so processes with another secret can no longer start. */
export async function forgetOtherSecrets(em: Em, appSecret: string): Promise<void> {
  await query(em, sql`delete from known_secret where secret_id <> ${secretId(appSecret)}`);
}

/** Whether the oldest DKIM key opens with one of these secrets, for a database that knows no secret yet. */
async function opensSomeKey(em: Em, { appSecret, previousSecrets }: AppSecrets): Promise<boolean> {
  const stored = await queryOne(
    em,
    sql`
      select id, dkim_private_key as sealed from sender_domain where dkim_private_key is not null
      order by created_at, id limit 1`,
    { id: tables.senderDomain.id, sealed: notNull(tables.senderDomain.dkimPrivateKey) },
  );
  if (!stored) return true;
  try {
    createDkimKeyring(appSecret, previousSecrets).open(stored.sealed, stored.id);
    return true;
  } catch (error) {
    if (error instanceof DkimKeyError) return false;
    throw error;
  }
}

/**
 * Whether the first secret of a process is known to the database, or acceptable as a new one; undefined for neither.
 */
async function standingOf(em: Em, secrets: AppSecrets): Promise<'known' | 'acceptable' | undefined> {
  const rows = await query(em, sql`select secret_id as id from known_secret`, { id: tables.knownSecret.secretId });
  const known = new Set(rows.map((row) => row.id));
  if (known.has(secretId(secrets.appSecret))) return 'known';
  const isAcceptable =
    known.size === 0
      ? await opensSomeKey(em, secrets)
      : allSecrets(secrets).some((secret) => known.has(secretId(secret)));
  return isAcceptable ? 'acceptable' : undefined;
}

/** Whether a process with these secrets may start on this database. Changes nothing. */
export async function isUsableSecret(em: Em, secrets: AppSecrets): Promise<boolean> {
  return (await standingOf(em, secrets)) !== undefined;
}

/**
 * Checks that the secrets of a process belong to the database, and records a new APP_SECRET. A new one is accepted
 * together with a known one, or if the database knows none and its DKIM keys open with it.
 * @throws ConfigError otherwise: links in delivered emails would not work, and DKIM keys could not be read
 */
export async function assertKnownSecret(em: Em, secrets: AppSecrets): Promise<void> {
  await inTransaction(em, async (tx) => {
    await query(tx, sql`select pg_advisory_xact_lock(${KNOWN_SECRETS_LOCK})`);
    const standing = await standingOf(tx, secrets);
    if (standing === 'known') return;
    if (standing === 'acceptable') return rememberSecret(tx, secrets.appSecret);
    throw new ConfigError(
      'APP_SECRET has never been used with this database. With it, links in delivered emails would not work, and DKIM ' +
        'keys could not be read.\nSet the previous APP_SECRET. To replace it, name the old one in APP_SECRETS_PREVIOUS. ' +
        'If it is lost, run `everpost secrets adopt`. See "Rotating secrets" in docs/operations.md.',
    );
  });
}
