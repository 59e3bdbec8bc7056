import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import packet, { type Answer, type DecodedPacket, type Packet } from 'dns-packet';

/** What the server knows of a name. TXT is one record per text; MX as `[preference, exchange]`, `''` is the root. */
export interface DnsRecords {
  A?: string[];
  AAAA?: string[];
  NS?: string[];
  TXT?: string[];
  CNAME?: string;
  MX?: (readonly [preference: number, exchange: string])[];
}

/** How the server treats a name and everything below it. */
export interface DnsBehaviour {
  /** Answers after so many milliseconds. */
  delayMs?: number;
  /** Never answers. */
  drop?: boolean;
  /** Answers with this code and no record. */
  rcode?: 'SERVFAIL' | 'REFUSED' | 'NXDOMAIN';
  /** Answers over UDP that the answer does not fit, so that the client has to ask over TCP. */
  truncate?: boolean;
}

export interface DnsQuery {
  name: string;
  type: string;
  transport: 'udp' | 'tcp';
}

export interface DnsServer {
  /** `ip:port`, for UDP and TCP alike. */
  address: string;
  /** Sets all records of a name; other names keep theirs. */
  set: (name: string, records: DnsRecords) => void;
  /** Forgets a name. */
  remove: (name: string) => void;
  /** Sets how a name and the names below it are treated; undefined makes it normal again. */
  behave: (name: string, behaviour: DnsBehaviour | undefined) => void;
  /** What has been asked, oldest first. */
  queries: () => readonly DnsQuery[];
  /** Forgets names, behaviours and queries. */
  clear: () => void;
  close: () => Promise<void>;
}

const HOST = '127.0.0.1';
const TTL_SECONDS = 1;
/** A character-string has at most 255 octets (RFC 1035 section 3.3). */
const STRING_LENGTH_MAX = 255;
const RCODES = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const;
const CNAME_DEPTH_MAX = 8;

function keyOf(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function stringsOf(text: string): string[] {
  const strings: string[] = [];
  for (let start = 0; start === 0 || start < text.length; start += STRING_LENGTH_MAX) {
    strings.push(text.slice(start, start + STRING_LENGTH_MAX));
  }
  return strings;
}

function recordsOf(name: string, type: string, records: DnsRecords): Answer[] {
  const base = { name, ttl: TTL_SECONDS };
  switch (type) {
    case 'A':
      return (records.A ?? []).map((data) => ({ ...base, type: 'A', data }));
    case 'AAAA':
      return (records.AAAA ?? []).map((data) => ({ ...base, type: 'AAAA', data }));
    case 'NS':
      return (records.NS ?? []).map((data) => ({ ...base, type: 'NS', data }));
    case 'TXT':
      return (records.TXT ?? []).map((text) => ({ ...base, type: 'TXT', data: stringsOf(text) }));
    case 'MX':
      return (records.MX ?? []).map(([preference, exchange]) => ({
        ...base,
        type: 'MX',
        data: { preference, exchange: exchange === '' ? '.' : exchange },
      }));
    default:
      return [];
  }
}

/** UDP and TCP on the same free port of the loopback interface. */
async function listenOnBoth(udp: UdpSocket, tcp: Server): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    tcp.listen(0, HOST);
    await once(tcp, 'listening');
    const { port } = tcp.address() as AddressInfo;
    try {
      udp.bind(port, HOST);
      await once(udp, 'listening');
      return port;
    } catch (error) {
      tcp.close();
      await once(tcp, 'close');
      if (attempt === 10) throw error;
    }
  }
}

/** A DNS server for tests, authoritative for whatever it is told, that can be slow, silent or broken by name. */
export async function createDnsServer(): Promise<DnsServer> {
  const names = new Map<string, DnsRecords>();
  const behaviours = new Map<string, DnsBehaviour>();
  const log: DnsQuery[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const sockets = new Set<Socket>();

  function behaviourOf(name: string): DnsBehaviour {
    const labels = keyOf(name).split('.');
    for (let start = 0; start < labels.length; start++) {
      const found = behaviours.get(labels.slice(start).join('.'));
      if (found) return found;
    }
    return {};
  }

  function answersTo(name: string, type: string, depth = 0): Answer[] | undefined {
    const records = names.get(keyOf(name));
    if (!records) {
      // A name with names below it exists (RFC 8020).
      return [...names.keys()].some((known) => known.endsWith(`.${keyOf(name)}`)) ? [] : undefined;
    }
    if (records.CNAME === undefined || type === 'CNAME') return recordsOf(name, type, records);
    const alias: Answer = { name, ttl: TTL_SECONDS, type: 'CNAME', data: records.CNAME };
    return depth === CNAME_DEPTH_MAX ? [alias] : [alias, ...(answersTo(records.CNAME, type, depth + 1) ?? [])];
  }

  function respond(query: DecodedPacket, transport: DnsQuery['transport'], send: (reply: Buffer) => void): void {
    const question = query.questions?.[0];
    if (!question) return;
    log.push({ name: question.name, type: question.type, transport });
    const behaviour = behaviourOf(question.name);
    if (behaviour.drop) return;
    const isTruncated = behaviour.truncate === true && transport === 'udp';
    const known = answersTo(question.name, question.type);
    const rcode = RCODES[behaviour.rcode ?? (known ? 'NOERROR' : 'NXDOMAIN')];
    const reply: Packet = {
      type: 'response',
      id: query.id ?? 0,
      flags:
        packet.AUTHORITATIVE_ANSWER |
        packet.RECURSION_AVAILABLE |
        (isTruncated ? packet.TRUNCATED_RESPONSE : 0) |
        rcode,
      questions: [question],
      answers: rcode === RCODES.NOERROR && !isTruncated ? known : [],
    };
    if (behaviour.delayMs === undefined) {
      send(packet.encode(reply));
      return;
    }
    const timer = setTimeout(() => {
      timers.delete(timer);
      send(packet.encode(reply));
    }, behaviour.delayMs);
    timers.add(timer);
  }

  const udp = createSocket('udp4');
  udp.on('message', (message, remote) => {
    respond(packet.decode(message), 'udp', (reply) => udp.send(reply, remote.port, remote.address));
  });
  const tcp = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        const query = packet.decode(received.subarray(2, end));
        received = received.subarray(end);
        respond(query, 'tcp', (reply) => {
          const length = Buffer.alloc(2);
          length.writeUInt16BE(reply.length);
          socket.write(Buffer.concat([length, reply]));
        });
      }
    });
  });
  const port = await listenOnBoth(udp, tcp);

  return {
    address: `${HOST}:${port}`,
    set: (name, records) => void names.set(keyOf(name), records),
    remove: (name) => void names.delete(keyOf(name)),
    behave(name, behaviour) {
      if (behaviour) behaviours.set(keyOf(name), behaviour);
      else behaviours.delete(keyOf(name));
    },
    queries: () => log,
    clear() {
      names.clear();
      behaviours.clear();
      log.length = 0;
    },
    async close() {
      for (const timer of timers) clearTimeout(timer);
      for (const socket of sockets) socket.destroy();
      const closed = [once(udp, 'close'), once(tcp, 'close')];
      udp.close();
      tcp.close();
      await Promise.all(closed);
    },
  };
}
