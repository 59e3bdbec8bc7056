import { LRUCache } from 'lru-cache';
import { domainToASCII } from 'node:url';
import { createDkimSigner, type DkimSigner } from '../../sending/compose/dkim/dkim-signer.ts';
import type { DkimKeyring } from '../../sending/compose/dkim/key-pair.ts';
import { returnPathDomain } from '../../pure/emails/return-path.ts';
import { queryOne, sql, type Em } from '../../database/sql.ts';
import { boolean, notNull, tables, type RowOf } from '../../database/tables.ts';

/** How email from a domain is signed, and where its bounces return. */
export interface SendingIdentity {
  /** Undefined when DNS does not have the domain's key, because a signature would fail. */
  signer: DkimSigner | undefined;
  /**
   * The domain of the envelope sender, below the domain of the author, so that SPF is aligned (RFC 7489 section 3.1.2).
   * Undefined when the last check did not find its records, because bounces would be lost.
   */
  returnPathHost: string | undefined;
}

const ENTRIES_MAX = 1_000;
const CACHE_MS = 60_000;
/** Identities without a signer are cached shortly, so that email is signed soon after the domain is verified. */
const UNSIGNED_CACHE_MS = 3_000;
/** An envelope sender has 48 characters before its domain, and at most 254 in total (RFC 5321 section 4.5.3.1.3). */
const RETURN_PATH_HOST_LENGTH_MAX = 206;
const UNVERIFIED: SendingIdentity = { signer: undefined, returnPathHost: undefined };

const STORED_IDENTITY = {
  id: tables.senderDomain.id,
  selector: notNull(tables.senderDomain.dkimSelector),
  sealedPrivateKey: notNull(tables.senderDomain.dkimPrivateKey),
  hasReturnPath: boolean,
};
type StoredIdentity = RowOf<typeof STORED_IDENTITY>;

async function loadIdentity(em: Em, projectId: string, domain: string): Promise<StoredIdentity | undefined> {
  return queryOne(
    em,
    sql`
      select id, dkim_selector as selector, dkim_private_key as "sealedPrivateKey",
        records_found @> '{RETURN_PATH,SPF}' as "hasReturnPath"
      from sender_domain where project_id = ${projectId} and domain = ${domain} and dns_verified`,
    STORED_IDENTITY,
  );
}

/** Creates the lookup of identities. It caches them, so that most emails need no query. */
export function createSendingIdentities(em: () => Em, keyring: DkimKeyring, now = Date.now) {
  const cache = new LRUCache<string, Promise<SendingIdentity>>({
    max: ENTRIES_MAX,
    ttl: CACHE_MS,
    ttlResolution: 0,
    perf: { now },
  });

  async function load(projectId: string, domain: string): Promise<SendingIdentity> {
    const stored = await loadIdentity(em(), projectId, domain);
    if (!stored) return UNVERIFIED;
    const privateKey = keyring.open(stored.sealedPrivateKey, stored.id);
    const host = returnPathDomain(domain);
    return {
      signer: createDkimSigner({ domain, selector: stored.selector, privateKey }),
      returnPathHost: stored.hasReturnPath && host.length <= RETURN_PATH_HOST_LENGTH_MAX ? host : undefined,
    };
  }

  return {
    /**
     * The identity for email that a project sends from a domain.
     * @throws DkimKeyError when the stored key cannot be read: the email waits, because it must not be sent unsigned
     */
    identityOf(projectId: string, asWritten: string): Promise<SendingIdentity> {
      const domain = domainToASCII(asWritten) || asWritten;
      const name = `${projectId} ${domain}`;
      const known = cache.get(name);
      if (known) return known;
      const identity = load(projectId, domain);
      cache.set(name, identity);
      identity.then(
        ({ signer }) => {
          if (!signer && cache.peek(name) === identity) cache.set(name, identity, { ttl: UNSIGNED_CACHE_MS });
        },
        () => {
          if (cache.peek(name) === identity) cache.delete(name);
        },
      );
      return identity;
    },
  };
}

export type SendingIdentities = ReturnType<typeof createSendingIdentities>;
