import { openMailboxStore } from './mailbox-store.ts';
import { listenForMail } from './mailbox-smtp.ts';
import { listenForReaders } from './mailbox-web.ts';

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
