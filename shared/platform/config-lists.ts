import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';

/** Items with commas between them; empty ones are left out. */
export const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);

/** A network in CIDR notation; an address alone is a network of one. */
function toNetwork(text: string): string | undefined {
  if (ipaddr.isValidCIDR(text)) return text;
  return ipaddr.isValid(text) ? `${text}/${ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128}` : undefined;
}

/** Addresses and networks in CIDR notation. */
export const networks = list
  .transform((items) => items.map(toNetwork))
  .refine((items) => items.every((item) => item !== undefined), 'must be addresses or networks such as 10.0.0.0/8')
  .transform((items) => items.filter((item) => item !== undefined));

/** A host name as it is compared: in lower case, and an IPv6 address in its one short form. Undefined for a wrong one. */
export function comparableHost(name: string): string | undefined {
  if (!name.startsWith('[')) return name.toLowerCase();
  return URL.canParse(`http://${name}`) ? new URL(`http://${name}`).hostname : undefined;
}

function toHost(text: string): string | undefined {
  const name = /^[\p{L}\p{M}\p{N}_.-]+$/u.test(text) ? domainToASCII(text) : text;
  return /^[\w.-]+$|^\[[\da-f:.]+\]$/i.test(name) ? comparableHost(name) : undefined;
}

/**
 * Host names and addresses without a port, as the Host header of a request has them (RFC 9110 section 7.2). It has an
 * international name in its ASCII form (RFC 5890).
 */
export const hosts = list
  .transform((items) => items.map(toHost))
  .refine((items) => items.every((item) => item !== undefined), 'must be host names such as mail-admin.example.com')
  .transform((items) => items.filter((item) => item !== undefined));

function isNameServer(text: string): boolean {
  const [, v6, v4, port = '53'] = /^(?:\[(.+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const isPort = Number(port) >= 1 && Number(port) <= 65_535;
  return isIP(text) === 6 || (isPort && isIP(v6 ?? v4 ?? '') === (v6 === undefined ? 4 : 6));
}

/** Name servers by address, each with a port or without one. */
export const nameServers = list.refine(
  (items) => items.every(isNameServer),
  'must be addresses such as 192.0.2.53 or 192.0.2.53:5353',
);

/** Domain names, as they are looked up. */
export const domainNames = list.refine(
  (items) => items.every((item) => /^[\w-]+(?:\.[\w-]+)+$/.test(item)),
  'must be domain names such as zen.example.org',
);
