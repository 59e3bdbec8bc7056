import { isIP } from 'node:net';
import { ConfigError } from '../../platform/config.ts';
import { isNetwork } from '../../platform/webhook/allowed-networks.ts';
import { USUAL_PLAN } from '../../pure/warm-up.ts';
import { assertOptions, poolOf, type Source } from './smtp-url.ts';

/** A local address from which mail goes to the hosts of its domain. */
export interface MxSource extends Source {
  /** The name given in EHLO. */
  helo: string;
  /** The address that connections are bound to; undefined leaves that to the system. */
  localAddress?: string;
  port: number;
  /** Networks beside the public internet in which mail hosts may be. */
  allowedNetworks: string[];
}

const SMTP_PORT = 25;
const HOST_NAME = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9-]{1,63}$/i;
const OPTIONS = ['helo', 'source', 'pool', 'port', 'allow', 'warmup'];

export function isMxUrl(url: string): boolean {
  return /^mx:/i.test(url);
}

/**
 * Reads `mx://?helo=mail.example.com&source=192.0.2.1&source=2001:db8::1&pool=bulk`: a source for each local address, or
 * one that is named by `helo` without any. `allow` (repeatable) names networks that are not on the public internet and in
 * which mail hosts may be; `port` takes the place of 25. Both are for intranets and tests. `warmup` lets sources that are
 * new warm up, by the plan that it names.
 * @throws ConfigError when it is not such a URL
 */
export function parseMxUrl(url: string): MxSource[] {
  const { host, searchParams: query } = URL.canParse(url) ? new URL(url) : { host: url, searchParams: undefined };
  if (!query || host !== '')
    throw new ConfigError('An MX URL has the form mx://?helo=mail.example.com&source=192.0.2.1');
  assertOptions(query, OPTIONS, 'an MX');
  const helo = query.get('helo') ?? '';
  if (!HOST_NAME.test(helo)) throw new ConfigError('helo in an MX URL must be the full host name of this machine');
  const addresses = [...new Set(query.getAll('source'))];
  if (!addresses.every((address) => isIP(address) !== 0))
    throw new ConfigError('source in an MX URL must be an IP address');
  const port = Number(query.get('port') ?? SMTP_PORT);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new ConfigError('port in an MX URL is from 1 to 65535');
  const allowedNetworks = query.getAll('allow');
  if (!allowedNetworks.every(isNetwork))
    throw new ConfigError('allow in an MX URL must be a network such as 10.0.0.0/8');
  const warmUp = query.get('warmup');
  const common = {
    ...({ kind: 'mx', pool: poolOf(query), helo, port, allowedNetworks } as const),
    ...(warmUp !== null && { warmUp: warmUp || USUAL_PLAN }),
  };
  if (addresses.length === 0) return [{ ...common, name: helo }];
  return addresses.map((localAddress) => ({ ...common, name: localAddress, localAddress }));
}
