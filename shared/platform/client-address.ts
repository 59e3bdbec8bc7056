import ipaddr from 'ipaddr.js';

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

/** Creates the check whether an address is in one of some networks, given in CIDR notation. */
export function createNetworkTest(networks: readonly string[]): (address: string) => boolean {
  const ranges = networks.map((network) => ipaddr.parseCIDR(network));
  return (address) => {
    if (ranges.length === 0 || !ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(([network, bits]) => parsed.kind() === network.kind() && parsed.match([network, bits] as never));
  };
}
