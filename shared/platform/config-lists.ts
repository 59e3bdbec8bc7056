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

/** Host names and addresses without a port, as the Host header of a request has them (RFC 9110 section 7.2). */
export const hosts = list
  .transform((items) =>
    items.map((item) => (/^[\w.-]+$|^\[[\da-f:.]+\]$/i.test(item) ? item.toLowerCase() : undefined)),
  )
  .refine((items) => items.every((item) => item !== undefined), 'must be host names such as mail-admin.example.com')
  .transform((items) => items.filter((item) => item !== undefined));
