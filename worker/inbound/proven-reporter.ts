import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { createNetworkTest } from '../../shared/platform/client-address.ts';
import type { DnsResolver } from '../../shared/platform/dns/resolver.ts';
import { readEntity } from '../../shared/sending/reports/mime-reader.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { withTimeLimit } from '../../shared/platform/time-limit.ts';

/**
 * Who sent a report: `named` by the operator in FBL_SOURCES, `signed` by a domain (DKIM), or somebody `unproven`.
 */
export type Reporter = 'named' | 'signed' | 'unproven';

export interface ReporterOptions {
  /** FBL_SOURCES: networks in CIDR notation. */
  fblSources: readonly string[];
  dns: Pick<DnsResolver, 'txt'>;
  logger: Logger;
}

/** Each signature may cost a look-up in DNS at a server that the sender of the report chooses. */
const SIGNATURES_MAX = 3;
/** How long all look-ups may take, in milliseconds; the sender of the report waits for them. */
const VERIFY_MS = 10_000;
const RSA_BITS_MIN = 1_024;

/** Creates the look-up of keys in the form of `dns.promises.resolve`. */
function createKeyLookup(dns: ReporterOptions['dns']) {
  return async (name: string): Promise<string[][]> => {
    const answer = await dns.txt(name);
    if (answer.kind === 'found') return answer.records.map((record) => [record]);
    const code = answer.kind === 'absent' ? 'ENOTFOUND' : answer.reason;
    throw Object.assign(new Error(`no TXT record: ${code}`), { code });
  };
}

/**
 * Creates the check who sent a report. A signature (RFC 6376) proves its sender when it is valid and covers the whole
 * message. When DNS does not answer, nothing is proven.
 */
export function createReporterCheck({ fblSources, dns, logger }: ReporterOptions) {
  const isNamed = createNetworkTest(fblSources);
  const resolver = createKeyLookup(dns);

  async function isSigned(raw: Buffer): Promise<boolean> {
    const count = readEntity(raw.toString('latin1')).fields('dkim-signature').length;
    if (count === 0 || count > SIGNATURES_MAX) return false;
    const { results } = await dkimVerify(raw, { resolver, strict: true, minBitLength: RSA_BITS_MIN });
    return results.some(
      ({ status, canonBodyLengthLimited }) => status.result === 'pass' && canonBodyLengthLimited !== true,
    );
  }

  return async (raw: Buffer, clientAddress: string): Promise<Reporter> => {
    if (isNamed(clientAddress)) return 'named';
    const signed = isSigned(raw).catch((error: unknown) => {
      logger.debug({ err: error }, 'the signature of a report cannot be verified');
      return false;
    });
    return (await withTimeLimit(signed, VERIFY_MS, () => false)) ? 'signed' : 'unproven';
  };
}
