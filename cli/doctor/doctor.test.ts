import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SCHEDULES } from '../temporal/schedules.ts';
import { setUpTemporal, type ScheduleDefinition } from '../temporal/setup.ts';
import { rememberSecret } from '../../shared/domain/secrets/known-secrets.ts';
import { runCommand } from '../../tests/support/cli.ts';
import { createBlankDatabase, createTestDatabase } from '../../tests/support/database.ts';
import { createTestCertificate } from '../../tests/support/certificate.ts';
import { createDnsServer, type DnsServer } from '../../tests/support/dns-server.ts';
import { createSmtpSink } from '../../tests/support/smtp-sink.ts';
import { query, sql } from '../../shared/database/sql.ts';
import { trustDomain, withKey } from '../../shared/domain/domains/sender-domains.ts';
import { createDkimKeyring } from '../../shared/sending/compose/dkim/key-pair.ts';
import { startTestStack, type TestStack } from '../../tests/support/stack.ts';
import type { Finding } from './finding.ts';

const INBOUND_DOMAIN = 'in.everpost.test';

let stack: TestStack;
let dns: DnsServer;
let home: string;

/** Lets the test domain of a project be verified, with these records found. */
async function verify(projectId: string, found: string): Promise<void> {
  const domain = await trustDomain(stack.em(), projectId, 'example.com');
  await withKey(stack.em(), createDkimKeyring(stack.config.APP_SECRET, []), domain);
  await query(
    stack.em(),
    sql`update sender_domain set dns_verified = true, records_found = ${found}::text[] where id = ${domain.id}`,
  );
}

/** A schedule that is there and starts nothing: a check of domains would undo what `verify` wrote. */
const never = (schedule: ScheduleDefinition): ScheduleDefinition => ({
  ...schedule,
  spec: { calendars: [{ year: 2099 }] },
});

beforeAll(async () => {
  [stack, dns] = await Promise.all([startTestStack(), createDnsServer()]);
  await setUpTemporal(stack.temporal, SCHEDULES.map(never));
  await verify(stack.project.id, '{DKIM,RETURN_PATH,SPF,DMARC}');
  home = mkdtempSync(path.join(tmpdir(), 'everpost-doctor-'));
}, 60_000);
afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  await Promise.all([stack.stop(), dns.close()]);
});
beforeEach(() => {
  dns.set(INBOUND_DOMAIN, { MX: [[10, 'mx.everpost.test']], TXT: ['v=spf1 ip4:192.0.2.1 ~all'] });
  dns.set('mx.everpost.test', { A: ['192.0.2.1'] });
});
afterEach(() => dns.clear());

interface Report {
  exitCode: number;
  checks: Finding[];
  text: string;
}

async function examine(overrides: NodeJS.ProcessEnv = {}): Promise<Report> {
  const { exitCode, out, error } = await runCommand(['doctor', '--json'], {
    EVERPOST_HOME: home,
    DATABASE_URL: stack.database.url,
    APP_SECRET: stack.config.APP_SECRET,
    SMTP_URL: stack.sink.url,
    PUBLIC_URL: stack.url,
    DNS_SERVERS: dns.address,
    INBOUND_DOMAIN,
    DATABASE_POOL_SIZE: '5',
    TEMPORAL_ADDRESS: stack.temporal.connectionOptions.address,
    TEMPORAL_NAMESPACE: stack.temporal.namespace,
    ...overrides,
  });
  return { exitCode, checks: (JSON.parse(out) as { checks: Finding[] }).checks, text: out + error };
}

/** The area with findings in every test: the server of a test run is set to be fast, not durable. */
const SETTINGS = 'database settings';

/** The findings that are not ok, as `level area: message`. */
const faultsOf = ({ checks }: Report) =>
  checks
    .filter(({ level, area }) => level !== 'ok' && area !== SETTINGS)
    .map(({ level, area, message }) => `${level} ${area}: ${message}`);

it('the doctor finds nothing wrong in a correct installation', async () => {
  const report = await examine();
  expect(faultsOf(report)).toEqual([]);
  const areas = new Set(report.checks.map(({ area }) => area));
  expect([...areas]).toEqual([
    'configuration',
    'database',
    'database settings',
    'connections',
    'migrations',
    'secrets',
    'sender domains',
    'clock',
    'Temporal',
    'workers',
    'relay',
    'PTR',
    'inbound MX',
    'SPF',
    'PUBLIC_URL',
  ]);
});

it('the doctor warns of each domain that sends unsigned or lacks a record', async () => {
  const { project } = await stack.createProject();
  await verify(project.id, '{DKIM,RETURN_PATH,SPF}');
  const { id } = await trustDomain(stack.em(), project.id, 'unsigned.example');
  expect(faultsOf(await examine())).toEqual([
    'warn sender domains: unsigned.example is trusted and sends unsigned: no DKIM, DMARC, RETURN_PATH, SPF record found',
    'warn sender domains: example.com is signed: no DMARC record found',
  ]);
  await query(stack.em(), sql`delete from sender_domain where id = ${id}`);
  await verify(project.id, '{DKIM,RETURN_PATH,DMARC}');
  expect(faultsOf(await examine())).toEqual(['warn sender domains: example.com is signed: no SPF record found']);
  await verify(project.id, '{DKIM,RETURN_PATH,SPF,DMARC}');
});

it('the doctor names an address for reports about TLS that nothing can be sent from', async () => {
  expect(faultsOf(await examine({ TLS_REPORT_FROM: 'tls@nobody.example' }))).toEqual([
    'warn reports about TLS: no project has verified the domain of tls@nobody.example: reports do not go by email',
  ]);
  expect(faultsOf(await examine({ TLS_REPORT_FROM: 'tls@example.com' }))).toEqual([]);
});

it('the doctor ends with 1 when a check fails, and prints what to do about it', async () => {
  const report = await examine();
  expect(report.exitCode).toBe(1);
  const settings = report.checks.filter(({ area }) => area === SETTINGS);
  expect(settings.map(({ level, message, action }) => [level, message.split(' ')[0], action])).toEqual([
    ['fail', 'fsync', 'Set fsync to on in PostgreSQL.'],
    ['fail', 'full_page_writes', 'Set full_page_writes to on in PostgreSQL.'],
    ['warn', 'synchronous_commit', 'Set synchronous_commit to on in PostgreSQL.'],
  ]);
  expect(report.text).toContain('2 of ');
});

it('the doctor names every wrong variable, and still runs the other checks', async () => {
  const report = await examine({ PORT: 'many', INBOUND_TLS_KEY_FILE: '/key.pem', DATABASE_POOL_SIZE: '0' });
  expect(report.exitCode).toBe(1);
  expect(faultsOf(report)).toEqual([
    expect.stringContaining('fail configuration: PORT must be a number from 0 to 65535'),
    expect.stringContaining('fail configuration: DATABASE_POOL_SIZE'),
    expect.stringContaining('fail configuration: INBOUND_TLS_CERT_FILE is required together'),
  ]);
  expect(report.checks.filter(({ level }) => level === 'fail').every(({ action }) => action)).toBe(true);
});

it('the doctor prints no secret, whatever is wrong', async () => {
  const secret = 'swordfish-0123456789-swordfish-0123456789';
  const url = new URL(stack.database.url);
  url.password = secret;
  url.username = 'nobody';
  const report = await examine({
    APP_SECRET: secret,
    APP_SECRETS_PREVIOUS: secret,
    DATABASE_URL: url.href,
    SMTP_URL: `smtp://user:${secret}@127.0.0.1:1,smtp://user:${secret}@relay.example?ignoreTLS=true`,
    TEMPORAL_CODEC_TOKEN: secret,
  });
  expect(report.exitCode).toBe(1);
  expect(report.text).not.toContain('swordfish');
});

describe('the check of the database', () => {
  it('fails without migrations, and nothing is changed', async () => {
    const blank = await createBlankDatabase();
    try {
      for (let round = 0; round < 2; round += 1) {
        const faults = faultsOf(await examine({ DATABASE_URL: blank.url }));
        expect(faults).toEqual([expect.stringMatching(/^fail migrations: \d+ are pending$/)]);
      }
    } finally {
      await blank.drop();
    }
  });

  it('fails when all migrations are recorded, and a column or a table is not there', async () => {
    const { url, orm, drop } = await createTestDatabase();
    try {
      await query(orm.em.fork(), sql`alter table email drop column wait_reason`);
      await query(orm.em.fork(), sql`drop table rules_in_use`);
      const faults = faultsOf(await examine({ DATABASE_URL: url }));
      expect(faults).toEqual([
        'fail migrations: all are recorded as done, and the database lacks email.wait_reason, ' +
          'rules_in_use.digest, rules_in_use.ends_at, rules_in_use.emails_per_second',
      ]);
    } finally {
      await drop();
    }
  });

  it('fails when it does not answer, has fewer connections than the pools, or does not know the secret', async () => {
    const gone = await examine({ DATABASE_URL: 'postgres://user:hidden@127.0.0.1:1/everpost' });
    expect(faultsOf(gone)).toEqual([expect.stringContaining('fail database: PostgreSQL at 127.0.0.1:1/everpost')]);
    const crowded = await examine({ DATABASE_POOL_SIZE: '500' });
    expect(faultsOf(crowded)).toEqual([
      expect.stringMatching(/^fail connections: 1 API and 1 worker process may open/),
    ]);
    await rememberSecret(stack.em(), stack.config.APP_SECRET);
    const other = await examine({ APP_SECRET: 'another secret of at least 32 characters' });
    expect(faultsOf(other)).toEqual([expect.stringContaining('fail secrets: the database does not know APP_SECRET')]);
  });
});

describe('the check of Temporal', () => {
  it('fails without its namespace, and where nothing answers', async () => {
    expect(faultsOf(await examine({ TEMPORAL_NAMESPACE: 'nowhere' }))).toEqual([
      'fail Temporal: there is no namespace nowhere',
    ]);
    expect(faultsOf(await examine({ TEMPORAL_ADDRESS: '127.0.0.1:9', TEMPORAL_NAMESPACE: 'default' }))).toEqual([
      expect.stringContaining('fail Temporal: 127.0.0.1:9 does not answer as it should'),
    ]);
  });
});

describe('the check of relays', () => {
  it('fails for a refused login, and warns of messages that are too large and of a missing login', async () => {
    const auth = { user: 'user', pass: 'right' };
    const [strict, open] = await Promise.all([
      createSmtpSink({ auth, startTls: true }),
      createSmtpSink({ size: 1_000 }),
    ]);
    try {
      const tls = 'tls.rejectUnauthorized=false';
      const wrong = `smtp://user:wrong@127.0.0.1:${strict.port}?${tls}`;
      const unasked = `smtp://user:right@127.0.0.1:${open.port}`;
      const report = await examine({ SMTP_URL: `${strict.url}?${tls},${wrong},${unasked}` });
      expect(faultsOf(report)).toEqual([
        expect.stringMatching(/^fail relay: 127\.0\.0\.1:\d+: the login was refused \(535\)/),
        expect.stringMatching(/^warn relay: .*SMTP_URL has a login, and the relay offers none$/),
        expect.stringMatching(/^warn relay: .*takes messages of 1000 octets at most/),
      ]);
      expect(report.checks).toContainEqual(
        expect.objectContaining({ message: expect.stringMatching(/: TLSv1\.\d, login accepted$/) }),
      );
      const untrusted = await examine({ SMTP_URL: strict.url });
      expect(faultsOf(untrusted)).toEqual([expect.stringContaining('fail relay:')]);
    } finally {
      await Promise.all([strict.close(), open.close()]);
    }
  });

  it('gives up on a relay that sends no greeting', async () => {
    const sockets = new Set<Socket>();
    const silent = createTcpServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    expect(faultsOf(await examine({ SMTP_URL: `smtp://127.0.0.1:${port}` }))).toEqual([
      expect.stringContaining('the server is silent'),
    ]);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it('fails when SMTP_URL names no relay', async () => {
    expect(faultsOf(await examine({ SMTP_URL: '' }))).toEqual([
      expect.stringContaining('fail relay: SMTP_URL names no relay'),
    ]);
  });
});

describe('the check of inbound mail', () => {
  it('fails without MX and SPF, warns where DNS is silent and where there is no inbound domain', async () => {
    dns.clear();
    expect(faultsOf(await examine())).toEqual([
      expect.stringContaining('fail inbound MX: in.everpost.test has no MX record'),
      'fail SPF: in.everpost.test has no SPF record',
    ]);
    dns.behave(INBOUND_DOMAIN, { drop: true });
    expect(faultsOf(await examine())).toEqual([
      'warn inbound MX: DNS does not answer (ETIMEOUT)',
      'warn SPF: DNS does not answer (ETIMEOUT)',
    ]);
    expect(faultsOf(await examine({ INBOUND_DOMAIN: '' }))).toEqual([expect.stringContaining('warn inbound MX')]);
  });

  it('fails for a certificate of STARTTLS that cannot be read, and warns of one that expires soon', async () => {
    const [key, cert] = [path.join(home, 'key.pem'), path.join(home, 'cert.pem')];
    const certificate = createTestCertificate('in.everpost.test');
    writeFileSync(key, certificate.key);
    writeFileSync(cert, certificate.cert);
    const files = { INBOUND_TLS_KEY_FILE: key, INBOUND_TLS_CERT_FILE: cert };
    expect(faultsOf(await examine(files))).toEqual([
      expect.stringMatching(/^warn inbound TLS: .* expires in [01] days$/),
    ]);
    expect(faultsOf(await examine({ ...files, INBOUND_TLS_CERT_FILE: '/nowhere' }))).toEqual([
      'fail inbound TLS: the certificate for STARTTLS cannot be read',
    ]);
  });
});

describe('the check of PUBLIC_URL', () => {
  let server: Server;
  beforeAll(async () => {
    server = createServer(createTestCertificate('localhost'), (_request, response) => response.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => void server.close());

  it('fails for an untrusted certificate and for another service, and warns without https', async () => {
    const { port } = server.address() as AddressInfo;
    expect(faultsOf(await examine({ PUBLIC_URL: `https://localhost:${port}` }))).toEqual([
      expect.stringMatching(/^fail PUBLIC_URL: the certificate of .* is not accepted/),
    ]);
    expect(faultsOf(await examine({ PUBLIC_URL: `${stack.url}/elsewhere` }))).toEqual([
      expect.stringMatching(/^fail PUBLIC_URL: .*answers 404/),
    ]);
    expect(faultsOf(await examine({ PUBLIC_URL: 'http://everpost.invalid' }))).toEqual([
      expect.stringContaining('warn PUBLIC_URL: http://everpost.invalid is not https'),
      expect.stringContaining('warn PUBLIC_URL: http://everpost.invalid cannot be reached from here'),
    ]);
  });
});

it('the doctor reads SHAPING_FILE, and names sources that no worker has', async () => {
  const file = path.join(home, 'shaping.json');
  const judge = async (content: object) => {
    writeFileSync(file, JSON.stringify(content));
    return faultsOf(await examine({ SHAPING_FILE: file }));
  };
  expect(await judge({ rules: [{ provider: '*', perDay: 5 }] })).toEqual([]);
  expect(await judge({ rules: [{ provider: '*', source: 'typo', perDay: 5 }] })).toEqual([
    'warn traffic rules: SHAPING_FILE names sources that no worker has: typo',
  ]);
  expect(await judge({ rules: [{ provider: '*', perMonth: 5 }] })).toEqual([
    expect.stringMatching(/^fail traffic rules: SHAPING_FILE .*perMonth/s),
  ]);
});

it('the doctor names a source that no worker has any more, where rules or a warm-up are for it', async () => {
  const warmUp = JSON.stringify({ plan: 'default', step: 0, perDay: { '*': [50] } });
  const file = path.join(home, 'shaping.json');
  writeFileSync(file, JSON.stringify({ rules: [{ provider: '*', source: 'old.test', perDay: 5 }] }));
  await query(
    stack.em(),
    sql`insert into source (name, kind, pool, relay, warm_up, seen_at)
      values ('new.test', 'mx', 'default', 'new.test', ${warmUp}::jsonb, now()),
        ('old.test', 'mx', 'default', 'old.test', ${warmUp}::jsonb, now() - interval '3 days')`,
  );
  expect(faultsOf(await examine({ SHAPING_FILE: file }))).toEqual([
    'warn traffic rules: SHAPING_FILE names sources that no worker has: old.test',
    'warn warm-up: no worker has source old.test any more',
  ]);
  await query(stack.em(), sql`delete from source where name in ('old.test', 'new.test')`);
});
