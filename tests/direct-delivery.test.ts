import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { addReaders, sendToAll } from './support/campaigns.ts';
import { createTestCertificate } from './support/certificate.ts';
import { testEnvironment } from './support/environment.ts';
import { startEverpostProcess, type EverpostProcess } from './support/everpost-process.ts';
import { createMailWorld, tlsaFor, type MailHost, type MailWorld } from './support/mail-hosts.ts';
import { query } from './support/rows.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const PATIENCE_MS = 120_000;
const READERS = 60;
/** Messages that a killed worker may have sent without a stored result. */
const IN_FLIGHT_MAX = 150;

let mail: MailWorld;
let stack: TestStack;
let worker: EverpostProcess;

function startWorker(): void {
  worker = startEverpostProcess('worker', stack.config, stack.temporal, {
    WORKFLOW_BUNDLE: testEnvironment().workflowBundlePath,
    DNSSEC_SERVERS: mail.dns.address,
    DELIVERY_RETRY_SECONDS: '1',
    TLS_REPORT_FROM: 'tls@example.com',
  });
}

beforeAll(async () => {
  mail = await createMailWorld();
  const config = { SMTP_URL: [`${mail.url}&source=127.0.0.1`], SMTP_CONNECTIONS: 6, DNS_SERVERS: [mail.dns.address] };
  stack = await startTestStack({ hasWorkers: false, config });
  startWorker();
}, PATIENCE_MS);
afterAll(async () => {
  await worker.kill();
  await Promise.all([stack.stop(), mail.close()]);
});

const received = (hosts: readonly MailHost[]) => hosts.flatMap((host) => [...host.deliveries()]);

it(
  'a campaign reaches every host that takes it, through a kill of the worker, and bounces where nobody is',
  async () => {
    const good: MailHost[] = [];
    for (let index = 1; index <= 6; index += 1) {
      good.push(await mail.host(`mx${index}.good.test`, { tls: index % 2 === 0, messageMs: 10 }));
      mail.domain(`d${index}.test`, [5, 'nobody.good.test'], [10, `mx${index}.good.test`]);
    }
    const own = createTestCertificate('mx.dane.test');
    good.push(await mail.host('mx.dane.test', { certificate: own }));
    const strict = await mail.host('mx.strict.test', { tls: true });
    for (const name of ['dane', 'strict']) {
      mail.domain(`${name}.test`, `mx.${name}.test`);
      const named = name === 'dane' ? own : createTestCertificate('other.test');
      mail.dns.set(`_${mail.port}._tcp.mx.${name}.test`, { TLSA: [tlsaFor(named, 3)] });
      mail.dns.set(`_smtp._tls.${name}.test`, { TXT: ['v=TLSRPTv1; rua=mailto:a@b.test'] });
      mail.dns.behave(`${name}.test`, { isAuthentic: true });
    }
    mail.domain('null.test', [0, '']);
    const { project } = stack;
    const domains = [1, 2, 3, 4, 5, 6].map((index) => `d${index}.test`).concat('dane.test');
    for (const domain of domains) await addReaders(stack.em(), project.id, READERS, domain);
    for (const domain of ['null.test', 'gone.invalid', 'strict.test'])
      await addReaders(stack.em(), project.id, 2, domain);

    const campaign = await sendToAll(stack);
    const all = READERS * domains.length;
    await eventually(() => Promise.resolve(received(good).length > all / 3), PATIENCE_MS);
    await worker.kill();
    startWorker();
    await eventually(async () => (await campaign.read()).status === 'SENT', PATIENCE_MS);

    const failed = await query(stack.em(), sql`select error from email where status = 'FAILED'`);
    expect(failed.map(({ error }) => error)).toEqual(
      Array.from({ length: 2 }, () => expect.stringContaining('does not fulfil the TLS policy of strict.test')),
    );
    expect(await campaign.read()).toMatchObject({ sentCount: all, bouncedCount: 4 });
    const counts = received(good);
    expect(counts).toHaveLength(all);
    expect(counts.reduce((sum, [, count]) => sum + count - 1, 0)).toBeLessThanOrEqual(IN_FLIGHT_MAX);
    expect(strict.attempts().size).toBe(0);
    const [bounce] = await query(stack.em(), sql`select error from email where to_address like '%@null.test' limit 1`);
    expect(bounce?.['error']).toContain('556 5.1.10');
    // A killed worker takes the results of its last seconds with it.
    const late = { from: 'hello@example.com', subject: 'Late', body: '<p>Hi</p>' };
    for (const to of ['late@dane.test', 'late@strict.test'])
      expect((await stack.api('POST', '/v1/send', { body: { ...late, to } })).status).toBe(200);
    const results = await eventually(async () => {
      const rows = await query(
        stack.em(),
        sql`select distinct domain, detail ->> 'type' as type from tls_result order by domain, type`,
      );
      return rows.length === 2 && rows;
    }, PATIENCE_MS);
    expect(results).toEqual([
      { domain: 'dane.test', type: 'success' },
      { domain: 'strict.test', type: 'validation-failure' },
    ]);
  },
  3 * PATIENCE_MS,
);
