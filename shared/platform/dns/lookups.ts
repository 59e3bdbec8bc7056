import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { getServers } from 'node:dns';
import { connect, isIP } from 'node:net';
import packet, { type Answer, type DecodedPacket, type TlsaData } from 'dns-packet';
import { LRUCache } from 'lru-cache';
import { Share } from '../share.ts';

/** What the records of each type hold. Names have no final dot; the root is `''`. */
export interface DnsData {
  A: string;
  AAAA: string;
  MX: { preference: number; exchange: string };
  /** The strings of a record, joined. */
  TXT: string;
  TLSA: TlsaData;
}

/**
 * A DNS answer. Only `found` and `absent` say something about the name; `failed` means that no usable answer came.
 * `isAuthentic` is the AD bit of the resolver (RFC 4035 section 3.2.3): worth as much as the resolver and the way to it.
 */
export type Lookup<Data> = { isAuthentic: boolean } & (
  | { kind: 'found'; records: Data[]; /** The name at the end of all aliases. */ name: string }
  | { kind: 'absent'; isNameUnknown: boolean }
  | { kind: 'failed'; reason: string }
);

/** Looks up records. It never throws. */
export type LookUp = <Type extends keyof DnsData>(type: Type, name: string) => Promise<Lookup<DnsData[Type]>>;

export interface DnsLookupsOptions {
  /** Name servers as ip:port; empty means those of the system. */
  servers: readonly string[];
}

interface Timed<Data> {
  lookup: Lookup<Data>;
  ttlSeconds: number;
}

/** A lost packet is sent again after this time, to the next server. */
const PACKET_TIMEOUT_MS = 1_500;
const TRIES = 4;
/** What fits into a packet that is not split up on its way (DNS flag day 2020). */
const PACKET_BYTES = 1_232;
const ALIASES_MAX = 8;
const AT_ONCE_MAX = 64;
const REMEMBERED_MAX = 50_000;
/** How long an answer is used at least and at most, and one that failed. */
const TTL_SECONDS = { min: 5, max: 3_600, absent: 60, failed: 5 } as const;
const NAME = /^(?=.{1,253}$)(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}$/i;

const plain = (name: string): string => name.toLowerCase().replace(/\.$/, '');
const failed = (reason: string): Timed<never> => ({
  lookup: { kind: 'failed', reason, isAuthentic: false },
  ttlSeconds: TTL_SECONDS.failed,
});

/** The types of the library lack the response code. */
type Reply = DecodedPacket & { rcode: string };

function readReply(message: Buffer, query: packet.Packet): Reply | undefined {
  try {
    const reply = packet.decode(message) as Reply;
    const [asked, answered] = [query.questions?.[0], reply.questions?.[0]];
    const isOurs = reply.type === 'response' && reply.id === query.id && asked?.type === answered?.type;
    return isOurs && plain(asked?.name ?? '') === plain(answered?.name ?? '') ? reply : undefined;
  } catch {
    return undefined;
  }
}

type Ask = (address: string, port: number, query: packet.Packet) => Promise<Reply | undefined>;

/** Each query has a port of its own, so that nobody can guess where its answer is expected (RFC 5452). */
const askByUdp: Ask = (address, port, query) =>
  new Promise((resolve) => {
    const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4');
    let isOver = false;
    const end = (reply?: Reply): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      socket.close();
      resolve(reply);
    };
    const timer = setTimeout(end, PACKET_TIMEOUT_MS);
    socket.on('error', () => end());
    socket.on('message', (message) => {
      const reply = readReply(message, query);
      if (reply) end(reply);
    });
    socket.connect(port, address, (error?: Error) => {
      if (error) end();
      else socket.send(packet.encode(query));
    });
  });

const askByTcp: Ask = (address, port, query) =>
  new Promise((resolve) => {
    let received = Buffer.alloc(0);
    const socket = connect({ host: address, port }, () => socket.write(packet.streamEncode(query)));
    const end = (reply?: Reply): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(reply);
    };
    const timer = setTimeout(end, 2 * PACKET_TIMEOUT_MS);
    socket.on('error', () => end());
    socket.on('close', () => end());
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const length = received.length >= 2 ? 2 + received.readUInt16BE(0) : Infinity;
      if (received.length >= length) end(readReply(received.subarray(2, length), query));
    });
  });

function dataOf(type: keyof DnsData, { data }: { data: unknown }): unknown {
  if (type === 'TXT') return Buffer.concat((data as (Buffer | string)[]).map((part) => Buffer.from(part))).toString();
  if (type !== 'MX') return data;
  const { preference = 0, exchange } = data as { preference?: number; exchange: string };
  return { preference, exchange: plain(exchange) };
}

/** How long the absence of a name or a record holds (RFC 2308 section 5). */
function absentSeconds(authorities: readonly Answer[] = []): number {
  const soa = authorities.find((each) => each.type === 'SOA');
  return soa ? Math.min(soa.ttl ?? 0, soa.data.minimum ?? 0) : TTL_SECONDS.absent;
}

/** The records in a reply, at the end of its aliases (RFC 1034 section 3.6.2). */
function readRecords<Type extends keyof DnsData>(reply: Reply, type: Type, asked: string): Timed<DnsData[Type]> {
  const answers = (reply.answers ?? []) as (Answer & { ttl?: number; data: unknown })[];
  let name = plain(asked);
  let ttlSeconds: number = TTL_SECONDS.max;
  for (let aliases = 0; ; aliases += 1) {
    const alias = answers.find((each) => each.type === 'CNAME' && plain(each.name) === name);
    if (!alias) break;
    if (aliases === ALIASES_MAX) return failed('too many aliases');
    name = plain(String(alias.data));
    ttlSeconds = Math.min(ttlSeconds, alias.ttl ?? 0);
  }
  const found = answers.filter((each) => each.type === type && plain(each.name) === name);
  const isAuthentic = reply.flag_ad;
  if (found.length === 0) {
    const isNameUnknown = reply.rcode === 'NXDOMAIN';
    return { lookup: { kind: 'absent', isNameUnknown, isAuthentic }, ttlSeconds: absentSeconds(reply.authorities) };
  }
  const records = found.map((each) => dataOf(type, each) as DnsData[Type]);
  const shortest = Math.min(ttlSeconds, ...found.map(({ ttl }) => ttl ?? 0));
  return { lookup: { kind: 'found', records, name, isAuthentic }, ttlSeconds: shortest };
}

function addressOf(server: string): [address: string, port: number] {
  if (isIP(server) !== 0) return [server, 53];
  const at = server.lastIndexOf(':');
  return [server.slice(0, at).replace(/^\[|\]$/g, ''), Number(server.slice(at + 1))];
}

/**
 * Creates lookups that know how long an answer holds and whether the resolver validated it, which those of the system do
 * not tell. Answers are kept for their time to live, within bounds; a bounded number of lookups runs at a time.
 */
export function createDnsLookups({ servers }: DnsLookupsOptions): LookUp {
  const known = new LRUCache<string, Promise<Timed<unknown>>>({ max: REMEMBERED_MAX });
  const turns = new Share({ total: AT_ONCE_MAX });

  async function ask<Type extends keyof DnsData>(type: Type, name: string): Promise<Timed<DnsData[Type]>> {
    const all = servers.length > 0 ? servers : getServers();
    let reason = 'no answer in time';
    for (let attempt = 0; attempt < TRIES && all.length > 0; attempt += 1) {
      const [address, port] = addressOf(all[attempt % all.length] ?? '');
      const query: packet.Packet = {
        type: 'query',
        id: randomInt(65_536),
        flags: packet.RECURSION_DESIRED | packet.AUTHENTIC_DATA,
        questions: [{ type, name }],
        additionals: [{ type: 'OPT', name: '.', udpPayloadSize: PACKET_BYTES, flags: 0, options: [] } as never],
      };
      let reply = await askByUdp(address, port, query);
      if (reply?.flag_tc) reply = await askByTcp(address, port, query);
      if (reply?.rcode === 'NOERROR' || reply?.rcode === 'NXDOMAIN') return readRecords(reply, type, name);
      reason = reply?.rcode ?? reason;
    }
    return failed(reason);
  }

  return async (type, name) => {
    if (!NAME.test(name)) return { kind: 'absent', isNameUnknown: true, isAuthentic: false };
    const key = `${type} ${plain(name)}`;
    const asking = known.get(key) ?? turns.run(name, () => ask(type, name));
    if (!known.has(key)) {
      known.set(key, asking);
      const { ttlSeconds, lookup } = await asking;
      const atLeast = lookup.kind === 'failed' ? ttlSeconds : Math.max(ttlSeconds, TTL_SECONDS.min);
      known.set(key, asking, { ttl: Math.min(atLeast, TTL_SECONDS.max) * 1_000 });
    }
    return (await asking).lookup as Lookup<never>;
  };
}
