import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** An answer of the fake API of another tool. */
export interface FakeAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** A text is sent as it is, so that an answer can be broken. */
  body?: unknown;
  /** The connection is closed without an answer. */
  isCut?: boolean;
}

export type FakeTool = Awaited<ReturnType<typeof startFakeTool>>;

/** Serves the API of another tool over HTTP. @param answer what to say to the nth request for a path */
export async function startFakeTool(
  answer: (path: string, count: number, authorization: string | undefined) => FakeAnswer | Promise<FakeAnswer>,
) {
  const requests: { path: string; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    const [path, { authorization }] = [request.url ?? '', request.headers];
    requests.push({ path, authorization });
    const count = requests.filter((each) => each.path === path).length;
    void Promise.all([answer(path, count, authorization), text(request)]).then(([{ isCut, ...said }]) => {
      if (isCut) return void response.destroy();
      const { status = 200, headers = {}, body } = said;
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
