import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { ClientAddresses } from '../pure/project.ts';

/** A customer of an IPv6 network usually has a /64 at least (RFC 6177): four groups of 16 bits. */
const IPV6_CUSTOMER_GROUPS = 4;

/**
 * The key that stands for one client: its IPv4 address, or its IPv6 network of 64 bits, within which it can change its
 * address at will.
 */
export function clientOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv6'
    ? (parsed as ipaddr.IPv6).parts.slice(0, IPV6_CUSTOMER_GROUPS).join(':')
    : parsed.toNormalizedString();
}

/** How many bits of an address stand for its network: enough that a network has many clients. */
const NETWORK_BITS = { ipv4: 24, ipv6: 48 };

/**
 * The form in which the address of a client is kept: all of it, its network, such as `203.0.113.0/24` (RFC 4632) or
 * `2001:db8:1::/48` (RFC 4291 and RFC 5952), or nothing. What is no address is not kept.
 */
export function keptAddress(address: string | undefined, kept: ClientAddresses): string | null {
  if (kept === 'NONE' || address === undefined || isIP(address) === 0) return null;
  const parsed = ipaddr.process(address);
  const kind = parsed.kind();
  if (kept === 'FULL') return kind === 'ipv6' ? (parsed as ipaddr.IPv6).toRFC5952String() : parsed.toString();
  const cidr = `${parsed.toNormalizedString().replace(/%.*/, '')}/${NETWORK_BITS[kind]}`;
  const network =
    kind === 'ipv6'
      ? ipaddr.IPv6.networkAddressFromCIDR(cidr).toRFC5952String()
      : ipaddr.IPv4.networkAddressFromCIDR(cidr).toString();
  return `${network}/${NETWORK_BITS[kind]}`;
}

/** An address of a client, by its key (`clientOf`). */
export function addressOfClient(client: string): string {
  const groups = client.split(':');
  return groups.length === 1 ? client : `${groups.map((group) => Number(group).toString(16)).join(':')}::`;
}

/** Creates the check whether an address is in one of some networks, given in CIDR notation. */
export function createNetworkTest(networks: readonly string[]): (address: string) => boolean {
  const ranges = networks.map((network) => ipaddr.parseCIDR(network));
  return (address) => {
    if (ranges.length === 0 || !ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(([network, bits]) => parsed.kind() === network.kind() && parsed.match([network, bits] as never));
  };
}
