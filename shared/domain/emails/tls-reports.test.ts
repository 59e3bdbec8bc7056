import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestAuthority } from '../../../tests/support/certificate.ts';
import { testConfig } from '../../../tests/support/config.ts';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { createDnsServer, type DnsServer } from '../../../tests/support/dns-server.ts';
import { query } from '../../../tests/support/rows.ts';
import { sql } from '../../database/sql.ts';
import { createDnsLookups } from '../../platform/dns/lookups.ts';
import { createLogger } from '../../platform/logger.ts';
import { createWebhookClient } from '../../platform/webhook/webhook-client.ts';
import { createProject } from '../projects/projects.ts';
import { countSessions, type TlsDetail } from './mx-ports.ts';
import { sendTlsReports } from './tls-reports.ts';

const { em } = useTestDatabase();
const authority = createTestAuthority();
const received: { type: string | undefined; body: Buffer }[] = [];
let statusCode = 200;
const server = createServer(authority.issue('reports.test'), (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    received.push({ type: request.headers['content-type'], body: Buffer.concat(chunks) });
    response.writeHead(statusCode).end();
  });
});
let dns: DnsServer;
let port: number;
let number = 0;

beforeAll(async () => {
  dns = await createDnsServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
  dns.set('reports.test', { A: ['127.0.0.1'] });
  const { project } = await createProject(em(), 'Reports');
  await query(
    em(),
    sql`
      insert into sender_domain (id, project_id, domain, verified, dns_verified, dkim_selector, dkim_public_key,
        dkim_private_key, created_at, updated_at)
      values (everpost_uuid_v7(), ${project.id}, 'us.test', true, true, 's', 'p', '', now(), now())`,
  );
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await dns.close();
});
beforeEach(async () => {
  received.length = 0;
  statusCode = 200;
  await query(em(), sql`delete from tls_result`);
});

const success: TlsDetail = { policy: { type: 'no-policy-found', strings: [], hosts: [] }, type: 'success' };
const failure: TlsDetail = {
  policy: { type: 'sts', strings: ['version: STSv1'], hosts: ['*.mx.test'] },
  type: 'certificate-expired',
  host: 'a.mx.test',
  address: '192.0.2.9',
  source: '192.0.2.1',
  reason: 'CERT_HAS_EXPIRED',
};

const dayBefore = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

/** A domain with sessions of a day, whose reports go to the given places. */
async function reported(rua: string | undefined, days = 1): Promise<string> {
  const domain = `d${(number += 1)}.test`;
  if (rua !== undefined) dns.set(`_smtp._tls.${domain}`, { TXT: [`v=TLSRPTv1; rua=${rua}`] });
  const day = dayBefore(days);
  await countSessions(
    em(),
    [success, success, failure].map((detail) => ({ day, domain, detail })),
  );
  return domain;
}

function run(from: string | null = 'tls@us.test') {
  const config = testConfig({ TLS_REPORT_FROM: from ?? undefined });
  const deps = {
    config,
    em,
    logger: createLogger({ level: 'silent', name: 'test' }),
    lookUp: createDnsLookups({ servers: [dns.address] }),
    client: createWebhookClient({
      allowedNetworks: ['127.0.0.0/8'],
      dnsServers: [dns.address],
      authorities: authority.cert,
    }),
  };
  return sendTlsReports(deps, new AbortController().signal, () => undefined);
}

const left = async () => (await query(em(), sql`select domain from tls_result`)).length;
const emailsTo = (address: string) =>
  query(
    em(),
    sql`
      select e.status, a.content, a.submission from email e join email_content c on c.email_id = e.id
        join attachment a on a.set_id = c.attachment_set_id
      where e.to_address = ${address}`,
  );

describe('reports about TLS', () => {
  it('go as compressed JSON to an https receiver, and are forgotten', async () => {
    const domain = await reported(`https://reports.test:${port}/v1`);
    expect(await run()).toMatchObject({ sent: 1, left: 0 });
    expect(received.map(({ type }) => type)).toEqual(['application/tlsrpt+gzip']);
    const report = JSON.parse(gunzipSync(received[0]?.body ?? '').toString()) as object;
    expect(report).toMatchObject({
      'organization-name': 'us.test',
      'contact-info': 'tls@us.test',
      'date-range': { 'start-datetime': `${dayBefore(1)}T00:00:00Z`, 'end-datetime': `${dayBefore(1)}T23:59:59Z` },
    });
    expect(report).toMatchObject({
      policies: expect.arrayContaining([
        {
          policy: { 'policy-type': 'no-policy-found', 'policy-domain': domain },
          summary: { 'total-successful-session-count': 2, 'total-failure-session-count': 0 },
          'failure-details': [],
        },
        {
          policy: {
            'policy-type': 'sts',
            'policy-string': ['version: STSv1'],
            'policy-domain': domain,
            'mx-host': ['*.mx.test'],
          },
          summary: { 'total-successful-session-count': 0, 'total-failure-session-count': 1 },
          'failure-details': [
            {
              'result-type': 'certificate-expired',
              'sending-mta-ip': '192.0.2.1',
              'receiving-ip': '192.0.2.9',
              'receiving-mx-hostname': 'a.mx.test',
              'failed-session-count': 1,
              'failure-reason-code': 'CERT_HAS_EXPIRED',
            },
          ],
        },
      ]),
    });
    expect(await left()).toBe(0);
    expect(await run()).toMatchObject({ sent: 0, left: 0 });
  });

  it('go by email from a verified domain, once, and are not kept back by faults of TLS', async () => {
    const domain = await reported('mailto:reports@there.test, mailto:reports@there.test');
    await Promise.all([run(), run()]);
    const [email, second] = await emailsTo('reports@there.test');
    expect(second).toBeUndefined();
    expect(email).toMatchObject({ status: 'PENDING', submission: { ignoresTls: true, isTracked: false } });
    const message = (email?.['content'] as Buffer).toString();
    expect(message).toContain(`TLS-Report-Domain: ${domain}\r\nTLS-Report-Submitter: us.test\r\n`);
    expect(message).toMatch(/Content-Type: multipart\/report; report-type="tlsrpt"/);
    const base64 = /filename="us\.test!.*\.json\.gz"\r\n\r\n([\s\S]+?)\r\n--/.exec(message)?.[1] ?? '';
    expect(JSON.parse(gunzipSync(Buffer.from(base64, 'base64')).toString())).toMatchObject({ policies: [{}, {}] });
    expect(message.split('\r\n').every((line) => line.length <= 998)).toBe(true);
  });

  it('wait for the next run when nobody takes them, for three days', async () => {
    statusCode = 503;
    await reported(`https://reports.test:${port}/v1`);
    await reported(`https://reports.test:${port}/v1`, 4);
    expect(await run()).toMatchObject({ sent: 0, left: 1 });
    statusCode = 201;
    expect(await run()).toMatchObject({ sent: 1, left: 0 });
  });

  it('need a verified domain for email, a wish of the domain, a day that is over, and the setting', async () => {
    await reported('mailto:other@there.test');
    expect(await run('tls@foreign.test')).toMatchObject({ sent: 0, left: 1 });
    await query(em(), sql`delete from tls_result`);
    await reported(undefined);
    await reported('mailto:other@there.test', 0);
    await run();
    expect(await emailsTo('other@there.test')).toEqual([]);
    expect(await left()).toBe(2);
    await query(em(), sql`update tls_result set day = ${dayBefore(1)}::date`);
    expect(await run(null)).toMatchObject({ sent: 0, left: 0 });
    expect(await emailsTo('other@there.test')).toEqual([]);
  });
});
