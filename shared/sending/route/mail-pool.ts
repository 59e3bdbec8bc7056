import { ConfigError } from '../../platform/config.ts';
import { isMxUrl, parseMxUrl, type MxSource } from '../transport/mx-url.ts';
import {
  CLOSE_TIMEOUT_MS,
  createSmtpPool,
  MESSAGES_PER_CONNECTION_AT_ONCE,
  NoOtherServerError,
  NoWayError,
  SmtpUnavailableError,
  type SmtpPool,
  type SmtpPoolOptions,
} from '../transport/smtp-pool.ts';
import { MxPool, type MxPorts } from './mx-pool.ts';

/** The sources of the `mx://` entries of `SMTP_URL`. @throws Error when an entry is wrong, or an address occurs twice */
export function mxSourcesOf(urls: readonly string[]): MxSource[] {
  const sources = urls.filter(isMxUrl).flatMap(parseMxUrl);
  const twice = sources.find(({ name }, index) => sources.findIndex((each) => each.name === name) !== index);
  if (twice) throw new ConfigError(`SMTP_URL names the source ${twice.name} twice`);
  return sources;
}

/**
 * Creates the pool for all entries of `SMTP_URL`: relays, the mail hosts of each domain (`mx://`), or both. Then each kind
 * has half of the connections, and a message that may use either goes where less is under way.
 * @throws Error when an entry is wrong
 */
export function createMailPool(options: SmtpPoolOptions, ports: () => MxPorts): SmtpPool {
  const sources = mxSourcesOf(options.urls);
  if (sources.length === 0) return createSmtpPool(options);
  const urls = options.urls.filter((url) => !isMxUrl(url));
  const maxConnections = urls.length > 0 ? Math.ceil(options.maxConnections / 2) : options.maxConnections;
  const mx = new MxPool({ ...options, ...ports(), sources, maxConnections });
  const relays = urls.length > 0 ? createSmtpPool({ ...options, urls, maxConnections }) : undefined;
  const all = relays ? [relays, mx] : [mx];
  const labels = new Map(all.map((pool) => [pool, pool.relays().map(({ label }) => label)]));
  const load = (pool: (typeof all)[number]): number => {
    const { sending, queued } = pool.usage();
    return (sending + queued) / (labels.get(pool)?.length ?? 1);
  };
  const beforeClose: SmtpPool['beforeClose'] = [];
  return {
    beforeClose,
    capacity: options.maxConnections * MESSAGES_PER_CONNECTION_AT_ONCE,
    usage() {
      const usages = all.map((pool) => pool.usage());
      const sum = (name: 'connections' | 'sending' | 'queued') => usages.reduce((total, each) => total + each[name], 0);
      return { connections: sum('connections'), sending: sum('sending'), queued: sum('queued') };
    },
    relays: () => all.flatMap((pool) => pool.relays()),
    async send(envelope, raw, sendOptions = {}) {
      const { avoid } = sendOptions;
      if (!relays) return mx.send(envelope, raw, sendOptions);
      const open = all.filter((pool) => labels.get(pool)?.some((label) => avoid?.has(label) !== true));
      const [first, second] = open.length > 1 ? open.sort((a, b) => load(a) - load(b)) : open;
      if (!first) throw new NoOtherServerError();
      try {
        return await first.send(envelope, raw, sendOptions);
      } catch (error) {
        const isElsewhere = [NoOtherServerError, NoWayError, SmtpUnavailableError].some(
          (each) => error instanceof each,
        );
        if (!second || !isElsewhere || sendOptions.signal?.aborted) throw error;
        return second.send(envelope, raw, sendOptions);
      }
    },
    async close({ timeoutMs = CLOSE_TIMEOUT_MS } = {}) {
      await Promise.all(beforeClose.splice(0).map((work) => work()));
      await Promise.all([relays?.close({ timeoutMs }), mx.close(timeoutMs)]);
    },
    isClosed: () => mx.isClosed(),
  };
}
