import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The client behind a forwarder. */
export interface ProxiedClient {
  address: string;
  port: number;
}

/** The header at the start of a connection. `client` is undefined for a connection of the forwarder itself. */
export type ProxyHeader =
  { kind: 'incomplete' } | { kind: 'malformed' } | { kind: 'complete'; octets: number; client?: ProxiedClient };

const SIGNATURE_V2 = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** The longest header of version 1, with its line end (PROXY protocol, section 2.1). */
const LINE_V1_MAX = 107;
const PREFIX_V2 = 16;
/** The longest addresses and extensions of version 2 that are read; no forwarder sends as much. */
const LENGTH_V2_MAX = 1_024;
const HEADER_MS = 5_000;

const MALFORMED: ProxyHeader = { kind: 'malformed' };
const INCOMPLETE: ProxyHeader = { kind: 'incomplete' };

function readV1(octets: Buffer): ProxyHeader {
  const start = octets.subarray(0, LINE_V1_MAX).toString('latin1');
  if (!'PROXY '.startsWith(start.slice(0, 6))) return MALFORMED;
  const end = start.indexOf('\r\n');
  if (end === -1) return octets.length < LINE_V1_MAX ? INCOMPLETE : MALFORMED;
  const [, protocol, source = '', , port = ''] = start.slice(0, end).split(' ');
  const length = end + 2;
  if (protocol === 'UNKNOWN') return { kind: 'complete', octets: length };
  const isAddress = protocol === 'TCP4' ? ipaddr.IPv4.isValidFourPartDecimal(source) : ipaddr.IPv6.isValid(source);
  if ((protocol !== 'TCP4' && protocol !== 'TCP6') || !isAddress || !/^\d{1,5}$/.test(port)) return MALFORMED;
  return { kind: 'complete', octets: length, client: { address: source, port: Number(port) } };
}

function readV2(octets: Buffer): ProxyHeader {
  if (octets.length < PREFIX_V2) return INCOMPLETE;
  const [version, command] = [octets.readUInt8(12) >> 4, octets.readUInt8(12) & 15];
  const family = octets.readUInt8(13) >> 4;
  const length = octets.readUInt16BE(14);
  if (version !== 2 || command > 1 || length > LENGTH_V2_MAX) return MALFORMED;
  if (octets.length < PREFIX_V2 + length) return INCOMPLETE;
  const complete = { kind: 'complete', octets: PREFIX_V2 + length } as const;
  const addressLength = family === 1 ? 4 : 16;
  if (command === 0 || (family !== 1 && family !== 2)) return complete;
  if (length < 2 * addressLength + 4) return MALFORMED;
  const address = ipaddr.fromByteArray([...octets.subarray(PREFIX_V2, PREFIX_V2 + addressLength)]).toString();
  return { ...complete, client: { address, port: octets.readUInt16BE(PREFIX_V2 + 2 * addressLength) } };
}

/**
 * Reads the header of the PROXY protocol, version 1 or 2, at the start of `octets`. Accepts any octets, never throws.
 */
export function parseProxyHeader(octets: Buffer): ProxyHeader {
  const compared = Math.min(octets.length, SIGNATURE_V2.length);
  const isV2 = octets.subarray(0, compared).equals(SIGNATURE_V2.subarray(0, compared));
  if (compared === 0) return INCOMPLETE;
  return isV2 ? readV2(octets) : readV1(octets);
}

/**
 * Reads the PROXY header of a connection; the octets after it remain to be read.
 * @returns undefined for a connection of the forwarder itself
 * @throws Error when there is none within five seconds, or it is malformed
 */
export function takeProxyHeader(socket: Socket): Promise<ProxiedClient | undefined> {
  return new Promise((resolve, reject) => {
    let octets = Buffer.alloc(0);
    const timer = setTimeout(() => end(() => reject(new Error('no PROXY header within five seconds'))), HEADER_MS);
    const onClose = (): void => end(() => reject(new Error('closed before its PROXY header')));
    function end(settle: () => void): void {
      clearTimeout(timer);
      socket.off('readable', onReadable).off('close', onClose).off('end', onClose);
      settle();
    }
    function onReadable(): void {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return;
      octets = Buffer.concat([octets, chunk]);
      const header = parseProxyHeader(octets);
      if (header.kind === 'incomplete') return;
      end(() => {
        if (header.kind === 'malformed') return reject(new Error('malformed PROXY header'));
        if (octets.length > header.octets) socket.unshift(octets.subarray(header.octets));
        resolve(header.client);
      });
    }
    socket.on('readable', onReadable).on('close', onClose).on('end', onClose);
  });
}
