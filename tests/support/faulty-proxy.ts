import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

const FAULTS = ['429', '503', 'cut before', 'cut after'] as const;
type Fault = (typeof FAULTS)[number];

export interface FaultyProxy {
  /** Where it listens, without a slash at the end. */
  url: string;
  /** How often it caused each fault. */
  counts: Record<Fault, number>;
  close: () => Promise<void>;
}

function refuse(res: ServerResponse, status: number): void {
  res.writeHead(status, { 'Retry-After': '1', 'Content-Type': 'text/html' });
  res.end('<h1>Try again</h1>');
}

/**
 * A proxy in front of an API that causes faults in a share of the requests. It refuses a request, or cuts the
 * connection before the API gets the request or after the API has answered.
 * @param share of the requests with a fault, from 0 to 1. The faults are spread evenly and take turns
 */
export async function startFaultyProxy(target: string, share: number): Promise<FaultyProxy> {
  const counts: FaultyProxy['counts'] = { '429': 0, '503': 0, 'cut before': 0, 'cut after': 0 };
  let requestCount = 0;
  let faultCount = 0;

  function nextFault(): Fault | undefined {
    requestCount++;
    if (faultCount >= Math.floor(requestCount * share)) return undefined;
    const fault = FAULTS[faultCount++ % FAULTS.length]!;
    counts[fault]++;
    return fault;
  }

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const fault = nextFault();
    const body = await buffer(req);
    if (fault === '429' || fault === '503') {
      refuse(res, Number(fault));
      return;
    }
    if (fault === 'cut before') {
      req.socket.destroy();
      return;
    }
    const { authorization = '', 'content-type': type = '', 'idempotency-key': key } = req.headers;
    const answer = await fetch(`${target}${req.url ?? ''}`, {
      method: req.method!,
      headers: { authorization, 'content-type': type, ...(key !== undefined && { 'idempotency-key': String(key) }) },
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    });
    const text = await answer.text();
    if (fault === 'cut after') {
      req.socket.destroy();
      return;
    }
    res.writeHead(answer.status, { 'Content-Type': answer.headers.get('content-type') ?? 'text/plain' });
    res.end(text);
  }

  const server = createServer((req, res) => void handle(req, res).catch(() => req.socket.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
