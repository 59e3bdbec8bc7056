import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { createDnsLookups } from '../../shared/platform/dns/lookups.ts';
import { createMailPool } from '../../shared/sending/route/mail-pool.ts';
import type { StsFinding, StsPolicy } from '../../shared/sending/route/mta-sts.ts';
import type { TlsSessionResult } from '../../shared/sending/route/tls-session.ts';
import type { MessageLimits } from '../../shared/sending/transport/message.ts';
import type { SmtpPool, SmtpUrgency } from '../../shared/sending/transport/smtp-pool.ts';
import { createMailWorld, type MailWorld } from './mail-hosts.ts';

interface PoolWish {
  urls?: string[];
  isValidating?: boolean;
  sts?: Record<string, StsFinding>;
  maxConnections?: number;
  authorities?: string;
  replyTimeoutMs?: number;
}

/** Pools that deliver to the hosts of a world, for the tests of a file. */
export function useMailWorld() {
  let world: MailWorld;
  let pools: SmtpPool[] = [];
  let number = 0;
  /** The results of TLS sessions, as `domain type`. */
  const noted: string[] = [];

  beforeAll(async () => {
    world = await createMailWorld();
  });
  afterEach(async () => {
    await Promise.all(pools.map((pool) => pool.close()));
    pools = [];
    noted.length = 0;
  });
  afterAll(() => world.close());

  return {
    world: () => world,
    noted,
    poolOf: (wish: PoolWish = {}): SmtpPool => {
      const { urls, isValidating = false, sts = {}, maxConnections = 20, authorities, replyTimeoutMs = 2_000 } = wish;
      const own = { replyTimeoutMs, logger: { warn: () => undefined } };
      const pool = createMailPool({ urls: urls ?? [world.url], maxConnections, ...own }, () => ({
        lookUp: createDnsLookups({ servers: [world.dns.address] }),
        isValidating,
        sts: { find: (domain) => Promise.resolve(sts[domain] ?? {}) },
        noteTls: ({ domain }, { type }: TlsSessionResult) => noted.push(`${domain} ${type}`),
        authorities: authorities ?? world.authority.cert,
      }));
      pools.push(pool);
      return pool;
    },
    send: (pool: SmtpPool, to: string, limits?: MessageLimits, urgency: SmtpUrgency = 'transactional') =>
      pool.send({ from: 'a@sender.test', to }, Buffer.from('Subject: x\r\n\r\nx\r\n'), { limits, urgency }),
    /** A new domain name, so that no answer of an earlier test is known. */
    fresh: (): string => `d${(number += 1)}.test`,
  };
}

export const stsPolicy = (mode: StsPolicy['mode'], ...mx: string[]): StsFinding => ({
  policy: { id: 'x1', mode, mx, fetchedAt: new Date(), expiresAt: new Date(Date.now() + 60_000) },
});
