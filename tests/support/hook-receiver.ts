import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HookCall {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingHttpHeaders;
  text: string;
  body: any;
}

export interface HookReceiver {
  url: string;
  /** All calls, in the order in which they came. */
  calls: HookCall[];
  /** Sets how calls are answered from now on; the default is 204. */
  answer: (handler: (call: HookCall, response: ServerResponse) => void) => void;
  /** The events of all calls, those in batches included. */
  events: () => any[];
  close: () => Promise<void>;
}

/** A server that receives the events of a webhook endpoint. */
export async function startHookReceiver(): Promise<HookReceiver> {
  const calls: HookCall[] = [];
  let handle = (_call: HookCall, response: ServerResponse): void => void response.writeHead(204).end();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { method, url, headers } = request;
      const call = { method, path: url, headers, text, body: JSON.parse(text) };
      calls.push(call);
      handle(call, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    calls,
    answer(handler) {
      handle = handler;
    },
    events: () => calls.flatMap(({ body }) => (body.type === 'batch' ? body.data : [body])),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
