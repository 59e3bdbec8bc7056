import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import packet, { type DecodedPacket, type Packet } from 'dns-packet';
import { createDnsZone, type DnsZone } from './dns-zone.ts';

export interface DnsQuery {
  name: string;
  type: string;
  transport: 'udp' | 'tcp';
}

export interface DnsServer extends Pick<DnsZone, 'set' | 'remove' | 'behave'> {
  /** `ip:port`, for UDP and TCP alike. */
  address: string;
  /** All queries, oldest first. */
  queries: () => readonly DnsQuery[];
  /** Forgets names, behaviours and queries. */
  clear: () => void;
  close: () => Promise<void>;
}

const HOST = '127.0.0.1';
const RCODES = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const;

/** The reply to a query and its delay; undefined when the server must not reply. */
function replyTo(
  zone: DnsZone,
  query: DecodedPacket,
  transport: DnsQuery['transport'],
): { reply: Packet; delayMs: number | undefined } | undefined {
  const question = query.questions?.[0];
  if (!question) return undefined;
  const behaviour = zone.behaviourOf(question.name);
  if (behaviour.drop) return undefined;
  const isTruncated = behaviour.truncate === true && transport === 'udp';
  const known = zone.answersTo(question.name, question.type);
  const rcode = RCODES[behaviour.rcode ?? (known ? 'NOERROR' : 'NXDOMAIN')];
  const flags =
    packet.AUTHORITATIVE_ANSWER |
    packet.RECURSION_AVAILABLE |
    (isTruncated ? packet.TRUNCATED_RESPONSE : 0) |
    (behaviour.isAuthentic ? packet.AUTHENTIC_DATA : 0) |
    rcode;
  const answers = rcode === RCODES.NOERROR && !isTruncated ? known : [];
  return {
    reply: { type: 'response', id: query.id ?? 0, flags, questions: [question], answers },
    delayMs: behaviour.delayMs,
  };
}

type Respond = (query: DecodedPacket, transport: DnsQuery['transport'], send: (reply: Buffer) => void) => void;

function createUdpServer(respond: Respond): UdpSocket {
  const udp = createSocket('udp4');
  udp.on('message', (message, remote) => {
    respond(packet.decode(message), 'udp', (reply) => udp.send(reply, remote.port, remote.address));
  });
  return udp;
}

/** Over TCP each message follows its length in two octets (RFC 1035 section 4.2.2). */
function createTcpServer(respond: Respond, sockets: Set<Socket>): Server {
  return createServer((socket) => {
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

/** A DNS server for tests, authoritative for every name that is set. For any name it can be slow, silent or broken. */
export async function createDnsServer(): Promise<DnsServer> {
  const zone = createDnsZone();
  const log: DnsQuery[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const sockets = new Set<Socket>();

  const respond: Respond = (query, transport, send) => {
    const question = query.questions?.[0];
    if (question) log.push({ name: question.name, type: question.type, transport });
    const due = replyTo(zone, query, transport);
    if (!due) return;
    if (due.delayMs === undefined) {
      send(packet.encode(due.reply));
      return;
    }
    const timer = setTimeout(() => {
      timers.delete(timer);
      send(packet.encode(due.reply));
    }, due.delayMs);
    timers.add(timer);
  };
  const udp = createUdpServer(respond);
  const tcp = createTcpServer(respond, sockets);
  const port = await listenOnBoth(udp, tcp);

  return {
    address: `${HOST}:${port}`,
    set: zone.set,
    remove: zone.remove,
    behave: zone.behave,
    queries: () => log,
    clear() {
      zone.clear();
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
