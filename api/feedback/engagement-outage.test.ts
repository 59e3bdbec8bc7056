import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findFreePort } from '../../local/processes/free-port.ts';
import { CampaignEntity } from '../../shared/domain/campaigns/campaign.entity.ts';
import { EmailEntity } from '../../tests/support/entities/email.entity.ts';
import { readEngagedEmails, recordEngagements, type Engagement } from '../../shared/domain/engagement/engagement.ts';
import { EventEntity } from '../../tests/support/entities/event.entity.ts';
import { createProject } from '../../shared/domain/projects/projects.ts';
import { createOrm, type Orm } from '../../shared/domain/schema/orm.ts';
import { query, sql } from '../../shared/database/sql.ts';
import { createLinkSigner, encodeClickTarget, type EmailLinks } from '../../shared/sending/compose/links.ts';
import { createLogger } from '../../shared/platform/logger.ts';
import { createTestDatabase, untilBlocked, type TestDatabase } from '../../tests/support/database.ts';
import { testEnvironment } from '../../tests/support/environment.ts';
import { eventually } from '../../tests/support/eventually.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { createSentMail, type SentMail } from '../../tests/support/sent-mail.ts';
import { startEverpostProcess } from '../../tests/support/everpost-process.ts';
import { startTcpProxy, type TcpProxy } from '../../tests/support/tcp-proxy.ts';
import { createEngagementRecorder } from './engagement-recorder.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const OUTAGE_MS = 200;
const TARGET = 'https://shop.test/';

let database: TestDatabase;
let proxy: TcpProxy;
let app: TestApi;
/** Reaches the database through the proxy, for the recorders that tests create. */
let orm: Orm;
beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startTcpProxy(database.url);
  app = await startTestApi({ database, databaseUrl: proxy.url, config: { DATABASE_POOL_SIZE: 4 } });
  orm = await createOrm({ databaseUrl: proxy.url, poolSize: 2 });
});
afterAll(async () => {
  await app.stop();
  await orm.close();
  await proxy.close();
  await database.drop();
});

interface Sent extends SentMail {
  links: EmailLinks;
}

async function sentEmail(): Promise<Sent> {
  const mail = await createSentMail(app.em(), app.project.id);
  const signer = createLinkSigner({ appSecret: app.config.APP_SECRET, publicUrl: app.url });
  return { ...mail, links: signer.recipientUrls(mail) };
}

async function visit(url: string): Promise<number> {
  return (await fetch(url, { redirect: 'manual', headers: { 'user-agent': FIREFOX } })).status;
}
const open = ({ links }: Sent) => visit(links.openUrl);
const click = ({ links }: Sent) => visit(links.clickUrl(encodeClickTarget(TARGET)));

const eventsOf = ({ emailId }: Sent) => app.em().find(EventEntity, { emailId }, { orderBy: { createdAt: 'asc' } });

async function stateOf({ emailId, campaignId }: Sent) {
  const { status, opens, clicks } = await app.em().findOneOrFail(EmailEntity, { id: emailId });
  const campaign = await app.em().findOneOrFail(CampaignEntity, { id: campaignId });
  return { status, engagements: [opens, clicks], counts: [campaign.openedCount, campaign.clickedCount] };
}

describe('opens, clicks and pages without PostgreSQL', () => {
  it('are served, and counted once it is back, each once and at the time it happened', async () => {
    const mails = [await sentEmail(), await sentEmail(), await sentEmail()];
    await proxy.cut();
    const cutAt = Date.now();
    for (const mail of mails) {
      expect(await Promise.all([open(mail), open(mail), click(mail)])).toEqual([200, 200, 302]);
    }
    // An outage that lasts, so that the moments of its end and of the engagements can be told apart.
    await new Promise((resolve) => setTimeout(resolve, OUTAGE_MS));
    const restoredAt = Date.now();
    await proxy.restore();
    for (const mail of mails) {
      const events = await eventually(async () => {
        const found = await eventsOf(mail);
        return found.length >= 3 && found;
      });
      expect(events.map((event) => event.name).sort()).toEqual(['email.click', 'email.open', 'email.open']);
      for (const { createdAt, data } of events) {
        expect(createdAt.getTime()).toBeGreaterThanOrEqual(cutAt - 5);
        expect(createdAt.getTime()).toBeLessThan(restoredAt);
        expect(data['openedAt'] ?? data['clickedAt']).toBe(createdAt.toISOString());
      }
      expect(await stateOf(mail)).toEqual({ status: 'CLICKED', engagements: [2, 1], counts: [1, 1] });
    }
    const later = await sentEmail();
    await open(later);
    expect((await stateOf(later)).engagements).toEqual([1, 0]);
  });

  it('pages that cannot be shown say so to people in their language, and to programs as JSON', async () => {
    const { links } = await sentEmail();
    const get = (headers: Record<string, string>) => fetch(links.unsubscribeUrl, { headers });
    const inGerman = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'accept-language': 'de-AT,de;q=0.9' };
    await proxy.cut();
    const [page, json] = [await get(inGerman), await get({ accept: '*/*' })];
    await proxy.restore();
    for (const reply of [page, json]) {
      expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '2']);
    }
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(await page.text()).toContain('<h1>Diese Seite kann gerade nicht angezeigt werden</h1>');
    expect(await json.json()).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE' } });
    expect((await get(inGerman)).status).toBe(200);
  });

  it('are counted once when the connection broke before their commit was confirmed', async () => {
    const mail = await sentEmail();
    const holder = app.em();
    await holder.begin();
    await query(holder, sql`select from email where id = ${mail.emailId} for update`);
    expect(await Promise.all([open(mail), click(mail)])).toEqual([200, 302]);
    await untilBlocked(app.em, 1);
    // The server does not notice that nobody waits for the statement any more, and will complete it.
    await proxy.cut();
    await proxy.restore();
    await untilBlocked(app.em, 2);
    await holder.commit();
    await eventually(async () => (await stateOf(mail)).status === 'CLICKED');
    const after = await sentEmail();
    // This open is recorded after the engagements that waited before it.
    await eventually(async () => (await open(after)) && (await stateOf(after)).engagements[0] !== 0);
    expect(await stateOf(mail)).toEqual({ status: 'CLICKED', engagements: [1, 1], counts: [1, 1] });
    expect((await eventsOf(mail)).map((event) => event.name).sort()).toEqual(['email.click', 'email.open']);
  });
});

describe('an API process that is stopped without PostgreSQL', () => {
  it('records what it holds when the database comes back in time', async () => {
    const mail = await sentEmail();
    const port = String(await findFreePort(0));
    const temporal = { connectionOptions: { address: testEnvironment().temporalAddress }, namespace: 'default' };
    const api = startEverpostProcess('api', app.config, temporal, { HOST: '127.0.0.1', PORT: port });
    try {
      await eventually(async () => (await fetch(`http://127.0.0.1:${port}/ready`)).ok, 60_000);
      await proxy.cut();
      expect(await visit(mail.links.openUrl.replace(app.url, `http://127.0.0.1:${port}`))).toBe(200);
      const ended = api.terminate();
      await proxy.restore();
      expect(await ended).toBe(0);
      expect((await stateOf(mail)).status).toBe('OPENED');
    } finally {
      await api.kill();
    }
  });
});

describe('opens and clicks of a project with a locked email', () => {
  it('wait, and those of other projects do not', async () => {
    const [locked, free] = [await sentEmail(), await sentEmail()];
    const { project } = await createProject(app.em(), 'Other');
    await query(app.em(), sql`update email set project_id = ${project.id} where id = ${free.emailId}`);
    await query(app.em(), sql`update campaign set project_id = ${project.id} where id = ${free.campaignId}`);
    const holder = app.em();
    await holder.begin();
    try {
      await query(holder, sql`select from email where id = ${locked.emailId} for update`);
      for (let round = 0; round < 5; round++) {
        expect(await Promise.all([open(locked), open(free), click(locked)])).toEqual([200, 200, 302]);
      }
      expect((await stateOf(free)).engagements).toEqual([5, 0]);
      // Nobody has waited until the statement that needs the lock was ended.
      await untilBlocked(app.em, 1);
      expect((await stateOf(locked)).engagements).toEqual([0, 0]);
    } finally {
      await holder.commit();
    }
    await eventually(async () => (await stateOf(locked)).engagements.every((count: number) => count === 5));
    expect(await stateOf(locked)).toEqual({ status: 'CLICKED', engagements: [5, 5], counts: [1, 1] });
  });
});

describe('createEngagementRecorder without PostgreSQL', () => {
  const logger = createLogger({ level: 'silent', name: 'test' });
  const record = (engagements: Engagement[], lockMs?: number) => recordEngagements(orm.em.fork(), engagements, lockMs);
  const emailsOf = (emailIds: string[]) => readEngagedEmails(orm.em.fork(), emailIds);
  const revise = () => Promise.resolve();

  it('keeps only the latest engagements, as many as its capacity', async () => {
    const [attempted, oldest, ...latest] = [await sentEmail(), await sentEmail(), await sentEmail(), await sentEmail()];
    const engagements = createEngagementRecorder({ record, revise, emailsOf, logger, capacity: 2 });
    await proxy.cut();
    await engagements.add({ emailId: attempted.emailId, url: null });
    for (const { emailId } of [oldest, ...latest]) await engagements.add({ emailId, url: null });
    await proxy.restore();
    for (const mail of [attempted, ...latest]) {
      await eventually(async () => (await stateOf(mail)).status === 'OPENED');
    }
    expect((await stateOf(oldest)).status).toBe('SENT');
  });

  it('records the waiting engagements before the process ends, within the time it has', async () => {
    const mail = await sentEmail();
    const engagements = createEngagementRecorder({ record, revise, emailsOf, logger });
    await proxy.cut();
    await engagements.add({ emailId: mail.emailId, url: null });
    const draining = engagements.drain(30_000);
    await proxy.restore();
    await draining;
    expect((await stateOf(mail)).status).toBe('OPENED');
  });

  it('ends although the database stays unavailable', async () => {
    const mail = await sentEmail();
    const engagements = createEngagementRecorder({ record, revise, emailsOf, logger });
    await proxy.cut();
    await engagements.add({ emailId: mail.emailId, url: null });
    await engagements.drain(50);
    await engagements.add({ emailId: mail.emailId, url: null });
    await proxy.restore();
    expect((await stateOf(mail)).status).toBe('SENT');
  });
});
