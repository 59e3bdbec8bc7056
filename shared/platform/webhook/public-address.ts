import ipaddr from 'ipaddr.js';

/** 2000::/3 is all of IPv6 that is assigned to the public internet; mapped, translated and local forms lie outside. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Ranges of it that are not public hosts, or that stand for an IPv4 address. */
const REFUSED_IPV6 = [
  '2001::/23', // RFC 2928 protocol assignments: Teredo (RFC 4380), benchmarking, ORCHID
  '2001:db8::/32', // RFC 3849 documentation
  '2002::/16', // RFC 3056 6to4
  '3fff::/20', // RFC 9637 documentation
].map((range) => ipaddr.IPv6.parseCIDR(range));

/** Ranges that the library calls unicast but that are not public hosts. */
const REFUSED_IPV4 = [
  '192.0.0.0/24', // RFC 6890 protocol assignments
  '192.31.196.0/24', // RFC 7535 AS112
  '192.52.193.0/24', // RFC 7450 AMT
  '192.88.99.0/24', // RFC 7526 6to4 relays
  '192.175.48.0/24', // RFC 7534 AS112
  '198.18.0.0/15', // RFC 2544 benchmarking
].map((range) => ipaddr.IPv4.parseCIDR(range));

/** An interface identifier of ISATAP (RFC 5214) contains an IPv4 address. */
function isIsatap(address: ipaddr.IPv6): boolean {
  const [, , , , high, low] = address.parts;
  return low === 0x5efe && (high === 0 || high === 0x200);
}

/**
 * Whether an address belongs to a host on the public internet. Private, loopback, link-local (cloud metadata), shared,
 * reserved and multicast addresses do not. Neither does an IPv6 form that stands for an IPv4 address, because it
 * reaches whatever the IPv4 address reaches.
 * @param text an IPv4 or IPv6 address, without brackets; any other text is not public
 */
export function isPublicAddress(text: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) {
    const address = ipaddr.IPv4.parse(text);
    return address.range() === 'unicast' && !REFUSED_IPV4.some((range) => address.match(range));
  }
  if (!ipaddr.IPv6.isValid(text)) return false;
  const address = ipaddr.IPv6.parse(text);
  if (address.zoneId !== undefined) return false;
  if (!address.match(GLOBAL_UNICAST) || isIsatap(address)) return false;
  return !REFUSED_IPV6.some((range) => address.match(range));
}
