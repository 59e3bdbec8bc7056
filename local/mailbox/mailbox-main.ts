import { openMailboxStore, type MailboxStore } from './mailbox-store.ts';
import { listenForReaders } from './mailbox-web.ts';
import { SMTPServer } from 'smtp-server';

const messageBytesMax = 50 * 1024 * 1024;

/** An SMTP server on 127.0.0.1 that accepts every sender, recipient and login. Resolves when it listens. */
async function listenForMail(store: MailboxStore, port: number): Promise<SMTPServer> {
  const server = new SMTPServer({
    name: 'mailbox.local.test',
    banner: 'Everpost local mailbox',
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    size: messageBytesMax,
    onAuth: (auth, _session, done) => done(null, { user: auth.username ?? 'anybody' }),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.once('end', () => {
        if (stream.sizeExceeded) {
          done(Object.assign(new Error('Message is larger than 50 MB'), { responseCode: 552 }));
          return;
        }
        const { mailFrom, rcptTo } = session.envelope;
        const envelope = { from: mailFrom ? mailFrom.address : '', to: rcptTo.map(({ address }) => address) };
        store.add(envelope, Buffer.concat(chunks)).then(
          ({ id }) => done(null, `Message stored as ${id}`),
          (error: unknown) =>
            done(Object.assign(new Error('Message could not be stored'), { responseCode: 451, cause: error })),
        );
      });
    },
  });
  // Clients that hang up in the middle of a command are ignored.
  server.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE' || error.code === 'EACCES') throw error;
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return server;
}

const messagesMax = 20_000;

const [folder, smtpPort, webPort] = process.argv.slice(2);
if (!folder || !smtpPort || !webPort) throw new Error('Usage: mailbox-main.ts <folder> <smtp port> <web port>');
const store = openMailboxStore(folder, messagesMax);
const smtp = await listenForMail(store, Number(smtpPort));
const web = await listenForReaders(store, Number(webPort));

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    web.close();
    web.closeAllConnections();
    smtp.close(() => process.exit(0));
  });
}
