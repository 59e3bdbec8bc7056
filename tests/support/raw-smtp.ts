import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';

/** A server that answers each line as the test says; undefined cuts the connection. */
export async function createRawSmtp(
  answer: (line: string, isContent: boolean) => string | undefined,
): Promise<{ url: string; lines: string[]; close: () => Promise<void> }> {
  const lines: string[] = [];
  const sockets = new Set<{ destroy(): void }>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    let rest = '';
    let isContent = false;
    socket.on('error', () => socket.destroy());
    socket.write('220 raw ESMTP\r\n');
    socket.on('data', (chunk) => {
      const parts = (rest + chunk.toString('latin1')).split('\r\n');
      rest = parts.pop() ?? '';
      for (const line of parts) {
        lines.push(line);
        const reply = isContent && line !== '.' ? '' : answer(line, isContent);
        if (reply === undefined) {
          socket.destroy();
          return;
        }
        isContent = isContent ? line !== '.' : reply.startsWith('354');
        socket.write(reply);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lines,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
