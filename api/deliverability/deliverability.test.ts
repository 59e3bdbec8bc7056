import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { createDnsServer, type DnsServer } from '../../tests/support/dns-server.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { runCommand } from '../../tests/support/cli.ts';
import { query } from '../../tests/support/rows.ts';

let app: TestApi;
let dns: DnsServer;
beforeAll(async () => {
  dns = await createDnsServer();
  dns.set('firm.test', { MX: [[10, 'firm-test.olc.protection.outlook.com']] });
  app = await startTestApi({ config: { DNS_SERVERS: [dns.address] } });
  await addDays('mx1', 'outlook.com', [0, 1, 2], {
    offered: 100,
    accepted: 88,
    deferred_reputation: 12,
    delivery_ms: 88_000,
  });
  await addDays('mx1', 'outlook.com', [3], { offered: 100, accepted: 100, delivery_ms: 50_000 });
  await addDays('mx2', 'gmail.com', [0, 40], { offered: 1_000, accepted: 990, refused_mailbox: 10, complaints: 1 });
});
afterAll(async () => {
  await app.stop();
  await dns.close();
});

const TODAY = sql`(now() at time zone 'UTC')::date`;
const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

async function addDays(
  source: string,
  provider: string,
  days: number[],
  numbers: Record<string, number>,
): Promise<void> {
  await query(
    app.em(),
    sql`
      insert into source_day select (jsonb_populate_record(null::source_day, to_jsonb(z) || ${JSON.stringify(numbers)}::jsonb)).*
      from (
        select ${source} as source, ${provider} as provider, ${TODAY} - d as day, 0 as offered, 0 as accepted,
          0 as deferred_speed, 0 as deferred_reputation, 0 as deferred_other, 0 as refused_mailbox,
          0 as refused_reputation, 0 as refused_other, 0 as complaints, 0 as delivery_ms
        from unnest(${days}::int[]) d
      ) z`,
  );
}
const read = async (search = '') => app.api('GET', `/deliverability${search}`);

describe('GET /deliverability of the only project', () => {
  it('has each source and provider with totals, days, rates and sentences, the largest first', async () => {
    const { status, body } = await read();
    expect(status).toBe(200);
    expect(body).toMatchObject({ from: dayBefore(29), to: dayBefore(0), isOfProject: false });
    const [gmail, outlook] = body.results;
    expect([gmail.source, gmail.provider, outlook.source, outlook.provider]).toEqual([
      'mx2',
      'gmail.com',
      'mx1',
      'outlook.com',
    ]);
    expect(gmail.totals).toMatchObject({ offered: 1_000, refusedMailbox: 10, hardBounceRate: 1, complaintRate: 0.1 });
    expect(gmail.days.map(({ date }: { date: string }) => date)).toEqual([dayBefore(0)]);
    expect(outlook.totals).toMatchObject({
      offered: 400,
      accepted: 364,
      deferredReputation: 36,
      deferredRate: 9,
      acceptedRate: 91,
      refusedRate: 0,
      complaints: 0,
      complaintRate: 0,
      deliverySeconds: 0.863,
    });
    expect(outlook.days).toHaveLength(4);
    expect(outlook.signs).toMatchObject([
      { sign: 'deferredReputation', isUrgent: true, percent: 12, since: dayBefore(2) },
    ]);
    expect(outlook.signs[0].sentence).toMatch(/^Outlook defers 12 % of the mail over mx1 for reputation since \w+day$/);
  });

  it('takes days, a provider and a source, and knows a streak that began before the days', async () => {
    const one = (await read('?days=1&provider=Outlook.com')).body;
    expect(one.results).toMatchObject([
      { provider: 'outlook.com', totals: { offered: 100 }, signs: [{ since: dayBefore(2) }] },
    ]);
    expect(one.results[0].signs[0].sentence).toMatch(/^Outlook defers 12 % for reputation since \w+day$/);
    expect((await read('?days=90&source=mx2')).body.results).toMatchObject([
      { source: 'mx2', totals: { offered: 2_000 } },
    ]);
    expect((await read('?source=mx3')).body.results).toEqual([]);
  });

  it.each(['hotmail.com', 'Live.DE', 'firm.test'])('finds the provider of %s, as the command does', async (domain) => {
    const { body } = await read(`?days=30&provider=${domain}`);
    expect(body.results).toMatchObject([{ provider: 'outlook.com', totals: { offered: 400 } }]);
    const environment = { DATABASE_URL: app.database.url, DNS_SERVERS: dns.address };
    const { out } = await runCommand(['deliverability', '--provider', domain, '--json'], environment);
    expect(JSON.parse(out).results).toMatchObject([{ provider: 'outlook.com' }]);
    expect((await read('?provider=nobody.test')).body.results).toEqual([]);
  });

  it('says why a warm-up stepped back, in the words of the warm-up, also where no number is a sign', async () => {
    const reason = 'One step back after 2026-02-03: 2 % of the accepted emails were reported as spam';
    await addDays('mx5', 'gmail.com', [1], { offered: 100, accepted: 100, complaints: 2 });
    await query(
      app.em(),
      sql`
        with s as (
          insert into source (name, kind, pool, relay, warm_up)
          values ('mx5', 'mx', 'default', 'mx5', '{"plan": "default", "step": 0, "perDay": {"*": [50, 100]}}')
          returning name
        )
        insert into warm_up (source, provider, day, step, use, setback, reason)
        select name, 'gmail.com', ${TODAY}, 0, '{"used": {}, "waits": {}, "lentMs": 0}', 'stepped back', ${reason} from s`,
    );
    expect((await read('?source=mx5')).body.results).toMatchObject([{ signs: [], warmUpReason: reason }]);
    expect((await read('?source=mx2')).body.results).toMatchObject([{ warmUpReason: null }]);
    const { out } = await runCommand(['deliverability', '--source', 'mx5'], { DATABASE_URL: app.database.url });
    expect(out).toContain(`\nWarm-up of mx5 at gmail.com: ${reason}.\n`);
    await query(app.em(), sql`delete from source_day where source = 'mx5'`);
    await query(app.em(), sql`delete from source where name = 'mx5'`);
  });

  it('prefers what was counted under the name itself', async () => {
    await addDays('mx4', 'firm.test', [0], { offered: 7, accepted: 7 });
    const { results } = (await read('?provider=firm.test')).body;
    expect(results).toMatchObject([{ source: 'mx4', provider: 'firm.test', totals: { offered: 7 } }]);
    await query(app.em(), sql`delete from source_day where source = 'mx4'`);
  });

  it.each(['days=0', 'days=91', 'days=1.5', 'days=soon', 'provider=', `source=${'x'.repeat(256)}`])(
    'refuses ?%s and names the parameter',
    async (search) => {
      const { status, body } = await read(`?${search}`);
      expect(status).toBe(422);
      expect(JSON.stringify(body)).toContain(search.split('=')[0]);
    },
  );

  it('needs a key that may read about the project', async () => {
    expect((await app.api('GET', '/deliverability', { key: 'public' })).status).toBe(401);
    const made = async (role: string) => (await app.api('POST', '/keys', { body: { name: role, role } })).body.key;
    const statusOf = async (key: string) =>
      (await fetch(`${app.url}/deliverability`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect([await statusOf(await made('read')), await statusOf(await made('send'))]).toEqual([200, 403]);
  });

  it('has a limited number of results, and the command shows all projects the same', async () => {
    const { out } = await runCommand(['deliverability', '--days', '4', '--source', 'mx1'], {
      DATABASE_URL: app.database.url,
    });
    expect(out).toMatch(/^mx1 +outlook\.com +400 +364 +9 % +0 +1 s$/m);
    expect(out).toMatch(/^Outlook defers 12 % for reputation since \w+day\.$/m);
    await query(
      app.em(),
      sql`
        insert into source_day (source, provider, day, offered, accepted)
        select 'mx3', 'p' || n || '.test', ${TODAY}, n, n from generate_series(1, 150) n`,
    );
    const { results } = (await read('?source=mx3')).body;
    expect(results).toHaveLength(LIMITS.deliverabilityResults);
    expect([results[0].provider, results.at(-1).provider]).toEqual(['p150.test', 'p51.test']);
    const answer = await runCommand(['deliverability', '--json'], { DATABASE_URL: app.database.url });
    expect(JSON.parse(answer.out).results).toHaveLength(LIMITS.deliverabilityResults);
    expect((await runCommand(['deliverability', '--days', '91'], { DATABASE_URL: app.database.url })).exitCode).toBe(1);
  });
});

describe('GET /deliverability of one of several projects', () => {
  it('has only what was counted of its own mail', async () => {
    const [one, two] = [await app.createProject(), await app.createProject()];
    await query(
      app.em(),
      sql`
        insert into provider_day (project_id, provider, day, sent, complained)
        values (${one.project.id}, 'gmail.com', ${TODAY}, 500, 5), (${two.project.id}, 'yahoo.com', ${TODAY}, 70, 0)`,
    );
    const { body } = await one.api('GET', '/deliverability');
    expect((await one.api('GET', '/deliverability?provider=googlemail.com')).body.results).toEqual(body.results);
    expect(body.isOfProject).toBe(true);
    expect(body.results).toHaveLength(1);
    expect(body.results[0]).toMatchObject({
      source: null,
      provider: 'gmail.com',
      signs: [{ sign: 'complaints', percent: 1 }],
    });
    const { accepted, complaints, complaintRate, ...others } = body.results[0].totals;
    expect([accepted, complaints, complaintRate]).toEqual([500, 5, 1]);
    expect(new Set(Object.values(others))).toEqual(new Set([null]));
    expect((await one.api('GET', '/deliverability?source=mx1')).body.results).toEqual([]);
    expect((await two.api('GET', '/deliverability')).body.results).toMatchObject([
      { provider: 'yahoo.com', signs: [] },
    ]);
  });
});
