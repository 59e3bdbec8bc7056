import { isDatabaseUnavailable } from '../../shared/database/database-errors.ts';
import { checkDueDomain, findDueDomains, type DomainCheckDeps } from '../../shared/domain/domains/domain-checks.ts';
import { createDnsResolver } from '../../shared/platform/dns/resolver.ts';
import { createDkimKeyring } from '../../shared/sending/compose/dkim/key-pair.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeat } from '../../shared/durable/attempts/heartbeat.ts';

export interface DomainBatch {
  /** Checks that are due at this time, in milliseconds since 1970. */
  asOfMs: number;
  /** The last domain of the previous batch. */
  afterId: string | null;
}

export interface DomainBatchResult {
  checked: number;
  /** Null when there is no further batch. */
  lastId: string | null;
}

const BATCH_SIZE = 200;
/** Checks at the same time. A check mostly waits for name servers; a silent one takes a few seconds. */
const PARALLEL_CHECKS = 20;

export function createDomainActivities(deps: ActivityDeps) {
  const checks: DomainCheckDeps = {
    resolver: createDnsResolver({ servers: deps.config.DNS_SERVERS }),
    keyring: createDkimKeyring(deps.config.APP_SECRET, deps.config.APP_SECRETS_PREVIOUS),
    inboundDomain: deps.config.INBOUND_DOMAIN,
  };

  async function check(domainId: string): Promise<void> {
    const result = await checkDueDomain(deps.orm.em.fork(), checks, domainId);
    if (!result) return;
    const { domain, outcome, wasVerified } = result;
    const fields = { domainId, projectId: domain.projectId, domain: domain.domain, outcome };
    if (domain.verified && !wasVerified) deps.logger.info(fields, 'a sender domain is verified');
    else if (!domain.verified && wasVerified) deps.logger.warn(fields, 'a sender domain has lost its DNS records');
    else deps.logger.debug(fields, 'sender domain checked');
  }

  /** Checks a domain and logs an error, which must not prevent the other checks. */
  async function checkOrLog(domainId: string): Promise<void> {
    try {
      await check(domainId);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      deps.logger.error({ domainId, err: error }, 'a sender domain could not be checked');
    }
  }

  return {
    /** Checks the next due domains. A checked domain is no longer due, so a repeated call continues. */
    async checkDomains({ asOfMs, afterId }: DomainBatch): Promise<DomainBatchResult> {
      const ids = await findDueDomains(deps.orm.em.fork(), new Date(asOfMs), afterId, BATCH_SIZE);
      const waiting = [...ids];
      let checked = 0;
      await withHeartbeat(
        deps,
        async (signal, advance) => {
          const fault = new AbortController();
          const ending = AbortSignal.any([signal, fault.signal]);
          const checkOneByOne = async (): Promise<void> => {
            for (let id = waiting.shift(); id !== undefined && !ending.aborted; id = waiting.shift()) {
              await checkOrLog(id);
              checked += 1;
              advance();
            }
          };
          await Promise.all(
            Array.from({ length: PARALLEL_CHECKS }, () =>
              checkOneByOne().catch((error: unknown) => fault.abort(error)),
            ),
          );
          ending.throwIfAborted();
        },
        { progress: () => ({ checked }) },
      );
      return { checked, lastId: ids.length < BATCH_SIZE ? null : (ids.at(-1) ?? null) };
    },
  };
}
