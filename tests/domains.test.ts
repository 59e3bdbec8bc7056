import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { unsignedWarning } from '../shared/domain/domains/domain-health.ts';
import { sql } from '../shared/database/sql.ts';
import { query, queryOne } from './support/rows.ts';
import { trustDomain } from '../shared/domain/domains/sender-domains.ts';
import { createTemplate } from './support/automations.ts';
import { createDnsServer, type DnsServer } from './support/dns-server.ts';
import { startTestApi, type TestApi, type TestProject } from './support/api.ts';

const TEST_DOMAIN = 'example.com';
const INBOUND_DOMAIN = 'inbound.everpost.test';
const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000';

let dns: DnsServer;
let app: TestApi;
let owner: TestProject;
beforeAll(async () => {
  dns = await createDnsServer();
  app = await startTestApi({ config: { DNS_SERVERS: [dns.address], INBOUND_DOMAIN } });
});
beforeEach(async () => {
  dns.clear();
  owner = await app.createProject();
});
afterAll(async () => {
  await app.stop();
  await dns.close();
});

interface Record {
  type: 'TXT' | 'MX';
  name: string;
  value: string;
  purpose: string;
  required: boolean;
  found: boolean;
}

/** Adds the records that the API has answered with to the zone, as the owner of a domain would. */
function publish(records: Record[]): void {
  for (const name of new Set(records.map((record) => record.name))) {
    const own = records.filter((record) => record.name === name);
    dns.set(name, {
      TXT: own.filter(({ type }) => type === 'TXT').map(({ value }) => value),
      MX: own
        .filter(({ type }) => type === 'MX')
        .map(({ value }) => [Number(value.split(' ')[0]), value.split(' ')[1]!] as const),
    });
  }
}
const required = (records: Record[]) => records.filter((record) => record.required);
const foundOf = (records: Record[]) => records.filter((record) => record.found).map((record) => record.purpose);

async function add(domain: string, project = owner): Promise<any> {
  const { status, body } = await project.api('POST', '/domains', { body: { domain } });
  expect(status).toBe(201);
  return body;
}
const check = async (id: string, project = owner) => (await project.api('GET', `/domains/${id}/verify`)).body;

describe('POST /domains', () => {
  it('answers the pending domain with the records to set up', async () => {
    const body = await add('News.Example.ORG.');
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      domain: 'news.example.org',
      verified: false,
      status: 'PENDING',
      signed: false,
      projectId: owner.project.id,
      lastCheckedAt: null,
      verifiedAt: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      records: [
        {
          type: 'TXT',
          name: expect.stringMatching(/^ep[0-9a-f]{10}\._domainkey\.news\.example\.org$/),
          value: expect.stringMatching(/^v=DKIM1; k=rsa; p=[\w+/]{390,}={0,2}$/),
          purpose: 'DKIM',
          required: true,
          found: false,
        },
        {
          type: 'MX',
          name: 'bounce.news.example.org',
          value: `10 ${INBOUND_DOMAIN}`,
          purpose: 'RETURN_PATH',
          required: true,
          found: false,
        },
        {
          type: 'TXT',
          name: 'bounce.news.example.org',
          value: `v=spf1 include:${INBOUND_DOMAIN} ~all`,
          purpose: 'SPF',
          required: true,
          found: false,
        },
        {
          type: 'TXT',
          name: '_dmarc.news.example.org',
          value: 'v=DMARC1; p=none',
          purpose: 'DMARC',
          required: false,
          found: false,
        },
      ],
    });
  });

  it('accepts international names and stores their ASCII form', async () => {
    expect((await add('Bücher.example')).domain).toBe('xn--bcher-kva.example');
    const again = await owner.api('POST', '/domains', { body: { domain: 'xn--bcher-kva.example' } });
    expect(again.status).toBe(409);
  });

  it('answers 409 for a domain that the project has, also for a trusted one and in simultaneous requests', async () => {
    const requests = Array.from({ length: 4 }, () =>
      owner.api('POST', '/domains', { body: { domain: 'once.example' } }),
    );
    const statuses = (await Promise.all(requests)).map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 409, 409, 409]);
    const trusted = await owner.api('POST', '/domains', { body: { domain: TEST_DOMAIN } });
    expect([trusted.status, trusted.body.error.code]).toEqual([409, 'CONFLICT']);
  });

  it('gives every project a key of its own for the same name', async () => {
    const other = await app.createProject();
    const mine = await add('shared.example');
    const theirs = await add('shared.example', other);
    expect(theirs.records[0].name).not.toBe(mine.records[0].name);
    expect(theirs.records[0].value).not.toBe(mine.records[0].value);
    publish(mine.records);
    expect((await check(mine.id)).status).toBe('VERIFIED');
    expect((await check(theirs.id, other)).status).toBe('PENDING');
  });

  it('accepts no id of another project', async () => {
    const other = await app.createProject();
    const own = await owner.api('POST', '/domains', { body: { domain: 'a.example', projectId: owner.project.id } });
    expect([own.status, own.body.projectId]).toEqual([201, owner.project.id]);
    for (const projectId of [other.project.id, UNKNOWN_ID]) {
      const reply = await owner.api('POST', '/domains', { body: { domain: 'b.example', projectId } });
      expect([reply.status, reply.body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
    }
    expect((await other.api('GET', `/domains/project/${other.project.id}`)).body).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ['no value', undefined],
    ['null', null],
    ['a number', 7],
    ['an empty text', ''],
    ['one label', 'localhost'],
    ['an address', 'a@b.example'],
    ['an IP address', '192.0.2.1'],
    ['a URL', 'https://b.example'],
    ['a wildcard', '*.example.com'],
    ['SQL', "x'; drop table contact; --"],
    ['a long name', `${'a.'.repeat(130)}example`],
  ])('refuses %s as a domain', async (_what, domain) => {
    const { status, body } = await owner.api('POST', '/domains', { body: { domain } });
    expect([status, body.error.code, body.error.errors[0].field]).toEqual([422, 'VALIDATION_ERROR', 'domain']);
  });

  it('stores the private key sealed', async () => {
    const { id } = await add('sealed.example');
    const row = await queryOne(app.em(), sql`select dkim_private_key as key from sender_domain where id = ${id}`);
    expect(row!.key.length).toBeGreaterThan(1_000);
    expect(row!.key.toString('latin1')).not.toMatch(/PRIVATE KEY/);
    expect(row!.key.subarray(0, 2).toString('hex')).not.toBe('3082');
  });
});

describe('GET /domains/project/:projectId', () => {
  it('lists pending and verified domains, and trusted ones with the records that would verify them', async () => {
    await add('pending.example');
    const { status, body } = await owner.api('GET', `/domains/project/${owner.project.id}`);
    expect(status).toBe(200);
    expect(body.map((domain: any) => [domain.domain, domain.status, domain.signed])).toEqual([
      [TEST_DOMAIN, 'VERIFIED', false],
      ['pending.example', 'PENDING', false],
    ]);
    expect(await unsignedWarning(app.em(), { publicUrl: 'https://mail.example' })).toContain(TEST_DOMAIN);
    expect(await unsignedWarning(app.em(), { publicUrl: 'http://localhost' })).toBeUndefined();
    expect(body[0].records[0].value).toMatch(/^v=DKIM1; k=rsa; p=MII/);
    const again = await owner.api('GET', `/domains/project/${owner.project.id}`);
    expect(again.body[0].records).toEqual(body[0].records);
  });

  it('answers 404 for any other project', async () => {
    for (const id of [app.project.id, UNKNOWN_ID, 'nonsense']) {
      const { status, body } = await owner.api('GET', `/domains/project/${id}`);
      expect([status, body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
    }
  });
});

describe('GET /domains/:id/verify', () => {
  it('verifies a domain once all required records exist, and then email may be sent from it', async () => {
    const { id, records } = await add('new.example');
    const refused = await owner.api('POST', '/templates', {
      body: { name: 'T', subject: 'S', body: 'B', from: 'a@new.example' },
    });
    expect([refused.status, refused.body.error.details.reason]).toEqual([403, 'DOMAIN_NOT_VERIFIED']);

    publish(records.filter((record: Record) => record.purpose === 'DKIM'));
    const half = await check(id);
    expect([half.status, foundOf(half.records), half.verifiedAt]).toEqual(['PENDING', ['DKIM'], null]);
    expect(half.lastCheckedAt).toEqual(expect.any(String));

    publish(required(records));
    const whole = await check(id);
    expect(whole).toMatchObject({ status: 'VERIFIED', verified: true, signed: true, verifiedAt: expect.any(String) });
    expect(foundOf(whole.records)).toEqual(['DKIM', 'RETURN_PATH', 'SPF']);
    await createTemplate(owner, { from: 'a@new.example' });
  });

  it.each<[string, (key: string) => string[]]>([
    ['another key', () => [`v=DKIM1; k=rsa; p=${'A'.repeat(392)}`]],
    ['a revoked key', () => ['v=DKIM1; k=rsa; p=']],
    ['half of the key', (key) => [`v=DKIM1; k=rsa; p=${key.slice(0, 255)}`]],
    ['the key for another hash', (key) => [`v=DKIM1; h=sha1; p=${key}`]],
    ['the key beside a second one', (key) => [`v=DKIM1; p=${key}`, 'v=DKIM1; p=AAAA']],
    ['something else', () => ['v=spf1 -all']],
  ])('does not accept %s as the DKIM record', async (_what, texts) => {
    const { id, records } = await add('wrong.example');
    publish(required(records));
    const key = records[0].value.split('p=')[1];
    dns.set(records[0].name, { TXT: texts(key) });
    expect((await check(id)).status).toBe('PENDING');
  });

  it('accepts the key in every form that a zone may have, with other tags, white space or an alias', async () => {
    const { id, records } = await add('as-written.example');
    publish(required(records));
    const key: string = records[0].value.split('p=')[1];
    dns.set('key.elsewhere.example', { TXT: [`k=rsa;t=s; p=${key.slice(0, 200)} ${key.slice(200)}; n=note`] });
    dns.set(records[0].name, { CNAME: 'key.elsewhere.example' });
    expect((await check(id)).status).toBe('VERIFIED');
  });

  it('finds a DMARC policy of a parent domain', async () => {
    const { id } = await add('deep.mail.example.net');
    dns.set('_dmarc.example.net', { TXT: ['v=DMARC1; p=reject'] });
    expect(foundOf((await check(id)).records)).toEqual(['DMARC']);
  });

  it('does not accept two SPF policies', async () => {
    const { id, records } = await add('spf.example');
    publish(required(records));
    dns.set('bounce.spf.example', {
      MX: [[5, INBOUND_DOMAIN]],
      TXT: [`v=spf1 include:${INBOUND_DOMAIN} -all`, 'v=spf1 -all'],
    });
    expect(foundOf((await check(id)).records)).toEqual(['DKIM', 'RETURN_PATH']);
  });

  it('makes a verified domain pending at the third failed check in a row', async () => {
    const { id, records } = await add('lost.example');
    publish(required(records));
    const verified = await check(id);
    dns.clear();
    const first = await check(id);
    expect([first.status, first.verifiedAt, foundOf(first.records)]).toEqual(['VERIFIED', verified.verifiedAt, []]);
    expect((await check(id)).status).toBe('VERIFIED');
    publish(required(records));
    expect((await check(id)).status).toBe('VERIFIED');

    dns.clear();
    await check(id);
    await check(id);
    expect(await check(id)).toMatchObject({ status: 'PENDING', verified: false, verifiedAt: null });
    publish(required(records));
    expect((await check(id)).status).toBe('VERIFIED');
  });

  it('counts no time-out and no broken name server as a failed check', async () => {
    const { id, records } = await add('silent.example');
    publish(required(records));
    await check(id);
    for (const behaviour of [
      { rcode: 'SERVFAIL' },
      { rcode: 'REFUSED' },
      { rcode: 'SERVFAIL' },
      { rcode: 'SERVFAIL' },
    ] as const) {
      dns.behave('silent.example', behaviour);
      const body = await check(id);
      expect([body.status, foundOf(body.records)]).toEqual(['VERIFIED', ['DKIM', 'RETURN_PATH', 'SPF']]);
    }
    dns.behave('silent.example', { drop: true });
    const startedAt = performance.now();
    expect((await check(id)).status).toBe('VERIFIED');
    const durationMs = performance.now() - startedAt;
    expect(durationMs).toBeGreaterThan(1_000);
    expect(durationMs).toBeLessThan(20_000);
  });

  it('leaves a trusted domain verified whatever DNS says', async () => {
    const [trusted] = (await owner.api('GET', `/domains/project/${owner.project.id}`)).body;
    for (let i = 0; i < 4; i++) expect((await check(trusted.id)).status).toBe('VERIFIED');
    publish(required(trusted.records));
    expect(foundOf((await check(trusted.id)).records)).toEqual(['DKIM']);
    dns.clear();
    for (let i = 0; i < 4; i++) expect((await check(trusted.id)).status).toBe('VERIFIED');
    const rows = await query(app.em(), sql`select trusted, dns_verified from sender_domain where id = ${trusted.id}`);
    expect(rows).toEqual([{ trusted: true, dns_verified: false }]);
  });

  it('answers 404 for the domain of another project, as DELETE /domains/:id does', async () => {
    const { id } = await add('mine.example');
    for (const [method, path] of [
      ['GET', `/domains/${id}/verify`],
      ['DELETE', `/domains/${id}`],
    ] as const) {
      const { status, body } = await app.api(method, path);
      expect([status, body.error.code]).toEqual([404, 'DOMAIN_NOT_FOUND']);
    }
    expect((await check(id)).id).toBe(id);
  });
});

describe('DELETE /domains/:id', () => {
  const campaign = { name: 'C', subject: 'S', body: 'B', from: 'a@xn--bcher-kva.example', audienceType: 'ALL' };

  it('removes a domain, which may be added again with another key', async () => {
    const { id, records } = await add('gone.example');
    expect((await owner.api('DELETE', `/domains/${id}`)).status).toBe(204);
    expect((await owner.api('DELETE', `/domains/${id}`)).status).toBe(404);
    expect((await add('gone.example')).records[0].value).not.toBe(records[0].value);
  });

  it('answers 409 while a template or a campaign that is not sent uses the domain, in any spelling', async () => {
    const { id, records } = await add('bücher.example');
    publish(required(records));
    await check(id);
    const templateId = await createTemplate(owner, { from: 'a@bücher.example' });
    const inUse = await owner.api('DELETE', `/domains/${id}`);
    expect([inUse.status, inUse.body.error.code, inUse.body.error.details]).toEqual([
      409,
      'CONFLICT',
      { templates: 1, campaigns: 0 },
    ]);
    await owner.api('DELETE', `/templates/${templateId}`);

    const { body } = await owner.api('POST', '/campaigns', { body: campaign });
    for (const status of ['DRAFT', 'SCHEDULED', 'SENDING']) {
      await query(app.em(), sql`update campaign set status = ${status} where id = ${body.data.id}`);
      expect([status, (await owner.api('DELETE', `/domains/${id}`)).status]).toEqual([status, 409]);
    }
    await query(app.em(), sql`update campaign set status = 'SENT' where id = ${body.data.id}`);
    expect((await owner.api('DELETE', `/domains/${id}`)).status).toBe(204);
  });

  it('ignores templates of a similar domain and templates of other projects', async () => {
    const { id } = await add('example.co');
    const other = await app.createProject();
    await trustDomain(app.em(), other.project.id, 'example.co');
    await createTemplate(owner, { from: `a@${TEST_DOMAIN}` });
    await createTemplate(other, { from: 'a@example.co' });
    expect((await owner.api('DELETE', `/domains/${id}`)).status).toBe(204);
  });
});

describe('an installation without an inbound domain', () => {
  it('requires DKIM, recommends DMARC, and keeps its verified domains when it gets an inbound domain', async () => {
    const plain = await startTestApi({ database: app.database, config: { DNS_SERVERS: [dns.address] } });
    try {
      const { body } = await plain.api('POST', '/domains', { body: { domain: 'plain.example' } });
      expect(body.records.map((record: Record) => [record.purpose, record.required])).toEqual([
        ['DKIM', true],
        ['DMARC', false],
      ]);
      publish(required(body.records));
      expect((await plain.api('GET', `/domains/${body.id}/verify`)).body.status).toBe('VERIFIED');
      // This API has an inbound domain, and uses the same database.
      const later = await app.api('GET', `/domains/${body.id}/verify`, { key: plain.keys.secretKey });
      expect(later.body.status).toBe('VERIFIED');
      expect(later.body.records.map((record: Record) => [record.purpose, record.required])).toEqual([
        ['DKIM', true],
        ['RETURN_PATH', false],
        ['SPF', false],
        ['DMARC', false],
      ]);
    } finally {
      await plain.stop();
    }
  });
});
