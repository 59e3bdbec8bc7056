import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { testEnvironment } from './support/environment.ts';
import { startEverpostProcess, type EverpostProcess } from './support/everpost-process.ts';
import { createMailWorld, type MailWorld } from './support/mail-hosts.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const PATIENCE_MS = 60_000;
/** More than the slots of a worker for transactional mail. */
const SILENT = 12;

let mail: MailWorld;
let stack: TestStack;
let worker: EverpostProcess;

beforeAll(async () => {
  mail = await createMailWorld();
  const config = { SMTP_URL: [`${mail.url}&source=127.0.0.1`], SMTP_CONNECTIONS: 50, DNS_SERVERS: [mail.dns.address] };
  stack = await startTestStack({ hasWorkers: false, config });
  worker = startEverpostProcess('worker', stack.config, stack.temporal, {
    WORKFLOW_BUNDLE: testEnvironment().workflowBundlePath,
  });
}, PATIENCE_MS);
afterAll(async () => {
  await worker.kill();
  await Promise.all([stack.stop(), mail.close()]);
});

it.each(['greeting', 'ehlo', 'mail', 'rcpt', 'data', 'end'])(
  'single emails at many hosts that are silent at %s keep no mail from others',
  async (at) => {
    const send = (to: string) =>
      stack.api('POST', '/v1/send', { body: { to, subject: 'S', body: '<p>R</p>', from: 'shop@example.com' } });
    const fault = ({ step }: { step: string }) => (step === at ? 'silence' : undefined);
    const good = await mail.host(`mx.${at}-good.test`);
    mail.domain(`${at}-good.test`, `mx.${at}-good.test`);
    for (let n = 0; n < SILENT; n += 1) {
      const domain = `${at}-silent${n}.test`;
      const silent = await mail.host(`mx.${domain}`, { fault });
      mail.domain(domain, `mx.${domain}`);
      await send(`reader@${domain}`);
      // It is on its way before the next one comes, so that none shares the delivery of another.
      await eventually(async () => silent.connectionCount() > 0, PATIENCE_MS);
    }
    await send(`reader@${at}-good.test`);
    await eventually(async () => good.deliveries().size > 0);
    expect([...good.deliveries().keys()]).toEqual([`reader@${at}-good.test`]);
  },
  2 * PATIENCE_MS,
);
