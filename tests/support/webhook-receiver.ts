import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WebhookReceiver {
  url: string;
  /** How often each `webhook-id` has come. */
  calls: Map<string, number>;
  /** From now on, calls get no answer until `release`. */
  hold: () => void;
  /** Answers the calls that wait, and all later ones. */
  release: () => void;
  close: () => Promise<void>;
}

/** A server for WEBHOOK steps that can delay its answers. It refuses the path `/refused` with 422 and a reason. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const calls = new Map<string, number>();
  let isHolding = false;
  const waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    const id = request.headers['webhook-id'] as string;
    calls.set(id, (calls.get(id) ?? 0) + 1);
    request.resume();
    const isRefused = request.url === '/refused';
    const answer = () => void response.writeHead(isRefused ? 422 : 200).end(isRefused ? 'The plan is unknown' : 'fine');
    if (isHolding) waiting.push(answer);
    else answer();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    hold() {
      isHolding = true;
    },
    release() {
      isHolding = false;
      for (const answer of waiting.splice(0)) answer();
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
