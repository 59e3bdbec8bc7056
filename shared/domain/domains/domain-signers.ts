import { domainToASCII } from 'node:url';
import { createDkimSigner, type DkimSigner } from '../../platform/mail/dkim/dkim-signer.ts';
import type { DkimKeyring } from '../../platform/mail/dkim/key-pair.ts';
import type { Em } from '../orm.ts';
import { queryOne, sql } from '../sql.ts';

export interface DomainSigners {
  /**
   * Who signs the mail of a project from a domain; undefined when DNS does not have the domain's key, for then a
   * signature would only fail.
   * @throws DkimKeyError when the stored key cannot be read: mail waits rather than go out unsigned
   */
  signerOf: (projectId: string, domain: string) => Promise<DkimSigner | undefined>;
}

interface Entry {
  signer: Promise<DkimSigner | undefined>;
  freshUntil: number;
}

const ENTRIES_MAX = 1_000;
const FRESH_MS = 60_000;
/** A domain that has just been verified signs soon. */
const UNSIGNED_FRESH_MS = 3_000;

interface StoredKey {
  id: string;
  selector: string;
  sealedPrivateKey: Buffer;
}

async function loadKey(em: Em, projectId: string, domain: string): Promise<StoredKey | undefined> {
  return queryOne<StoredKey>(
    em,
    sql`
      select id, dkim_selector as selector, dkim_private_key as "sealedPrivateKey"
      from sender_domain where project_id = ${projectId} and domain = ${domain} and dns_verified`,
  );
}

/** Finds signers, keeping those used lately so that a mail costs no query. */
export function createDomainSigners(em: () => Em, keyring: DkimKeyring, now = Date.now): DomainSigners {
  const entries = new Map<string, Entry>();

  async function load(projectId: string, domain: string): Promise<DkimSigner | undefined> {
    const key = await loadKey(em(), projectId, domain);
    if (!key) return undefined;
    const privateKey = keyring.open(key.sealedPrivateKey, key.id);
    return createDkimSigner({ domain, selector: key.selector, privateKey });
  }

  return {
    signerOf(projectId, spelt) {
      const domain = domainToASCII(spelt) || spelt;
      const name = `${projectId} ${domain}`;
      const known = entries.get(name);
      if (known && known.freshUntil > now()) return known.signer;
      entries.delete(name);
      const entry: Entry = { signer: load(projectId, domain), freshUntil: now() + FRESH_MS };
      entries.set(name, entry);
      entry.signer.then(
        (signer) => {
          if (!signer) entry.freshUntil = now() + UNSIGNED_FRESH_MS;
        },
        () => {
          if (entries.get(name) === entry) entries.delete(name);
        },
      );
      const [oldest] = entries.keys();
      if (entries.size > ENTRIES_MAX && oldest !== undefined) entries.delete(oldest);
      return entry.signer;
    },
  };
}
