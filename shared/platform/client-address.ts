import ipaddr from 'ipaddr.js';

/** The length of the prefix that one customer of an IPv6 network usually has (RFC 6177). */
const IPV6_GROUPS = 4;

/** Addresses that one client can change at will are one client: an IPv4 address, or a network of 64 bits. */
export function clientOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv6'
    ? (parsed as ipaddr.IPv6).parts.slice(0, IPV6_GROUPS).join(':')
    : parsed.toNormalizedString();
}

/** Whether an address is in one of some networks, in CIDR notation. */
export function createNetworkTest(networks: readonly string[]): (address: string) => boolean {
  const ranges = networks.map((network) => ipaddr.parseCIDR(network));
  return (address) => {
    if (ranges.length === 0 || !ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(([network, bits]) => parsed.kind() === network.kind() && parsed.match([network, bits] as never));
  };
}
