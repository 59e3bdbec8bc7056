import ipaddr from 'ipaddr.js';
import { isPublicAddress } from './public-address.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/** The private networks of RFC 1918, RFC 6598 (shared) and RFC 4193 (unique local). */
export const PRIVATE_NETWORKS = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'];

/** Link-local addresses (RFC 3927, RFC 4291) and other addresses at which clouds give out credentials of a machine. */
const NEVER_CALLED = [
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::254/128', // Amazon
  '100.100.100.200/32', // Alibaba
  '192.0.0.192/32', // Oracle
  '168.63.129.16/32', // Azure
].map((text) => parseNetwork(text));

/** Parses an address or a network in CIDR notation (RFC 4632, RFC 4291). @throws when it is neither */
function parseNetwork(text: string): Network {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** Whether a text is an address, or a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  const [host = '', length] = text.split('/');
  const isHost = ipaddr.IPv4.isValidFourPartDecimal(host) || (host.includes(':') && ipaddr.IPv6.isValid(host));
  return isHost && (length === undefined || ipaddr.isValidCIDR(text));
}

function isIn(address: Address, networks: readonly Network[]): boolean {
  return networks.some(([base, length]) => base.kind() === address.kind() && address.match(base, length));
}

/**
 * Creates the rule for the addresses that requests may go to. Link-local addresses and those of cloud metadata are
 * refused, whatever the list says.
 * @param list addresses and networks in CIDR notation
 */
export function createAddressRule(list: readonly string[]) {
  const networks = list.map(parseNetwork);
  /** The address; an IPv6 form that maps an IPv4 address is that address. Undefined when it may never be called. */
  function read(text: string): Address | undefined {
    if (!ipaddr.isValid(text)) return undefined;
    const address = ipaddr.process(text);
    const hasZone = address instanceof ipaddr.IPv6 && address.zoneId !== undefined;
    return hasZone || isIn(address, NEVER_CALLED) ? undefined : address;
  }
  /** Whether an address is in a network of the list. */
  const isListed = (text: string): boolean => {
    const address = read(text);
    return address !== undefined && isIn(address, networks);
  };
  return {
    isListed,
    /** Whether requests may go to an address: it is on the public internet or in a network of the list. */
    isCallable: (text: string) => isListed(text) || (read(text) !== undefined && isPublicAddress(text)),
    /** Whether the list names a network at all. */
    hasNetworks: networks.length > 0,
  };
}
