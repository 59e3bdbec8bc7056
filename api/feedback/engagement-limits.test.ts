import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { ContactEntity } from '../../shared/domain/contacts/contact.entity.ts';
import { EmailEntity } from '../../tests/support/entities/email.entity.ts';
import {
  ENGAGEMENT_EVENTS_MAX,
  recordEngagements,
  type Engagement,
} from '../../shared/domain/engagement/engagement.ts';
import { sql } from '../../shared/database/sql.ts';
import { query, queryOne } from '../../tests/support/rows.ts';
import { createLinkSigner, encodeClickTarget, type EmailLinks } from '../../shared/sending/compose/links.ts';
import { createLogger } from '../../shared/platform/logger.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { createEngagementRecorder } from './engagement-recorder.ts';

const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
const ENGAGEMENTS_PER_MINUTE = 60;

let app: TestApi;
let signer: ReturnType<typeof createLinkSigner>;
beforeAll(async () => {
  app = await startTestApi();
  signer = createLinkSigner({ appSecret: app.config.APP_SECRET, publicUrl: app.url });
});
afterAll(() => app.stop());

interface Sent {
  emailId: string;
  contactId: string;
  links: EmailLinks;
}

async function sentEmail(): Promise<Sent> {
  const em = app.em();
  const [contactId, emailId] = [uuidV7(), uuidV7()];
  const { id: projectId } = app.project;
  const address = `${emailId}@mail.test`;
  em.create(ContactEntity, { id: contactId, projectId, email: address, subscribed: true, data: {} });
  em.create(EmailEntity, {
    id: emailId,
    projectId,
    contactId,
    toAddress: address,
    status: 'SENT',
    createdAt: new Date(),
  });
  await em.flush();
  return { emailId, contactId, links: signer.recipientUrls({ contactId, emailId, projectId }) };
}

async function eventsOf(contactId: string): Promise<Record<string, number>> {
  const rows = await query(
    app.em(),
    sql`select name, count(*) from event where contact_id = ${contactId} group by name`,
  );
  return Object.fromEntries(rows.map((row) => [row.name, row.count]));
}

const countsOf = (emailId: string) => queryOne(app.em(), sql`select opens, clicks from email where id = ${emailId}`);

const engagement = (emailId: string, url: string | null, repeats = 0): Engagement => ({
  id: uuidV7(),
  emailId,
  url,
  ageMs: 0,
  repeats,
  machineReason: null,
});

describe('engagements of one email', () => {
  it('are all counted, and only the first of each kind are events', async () => {
    const { emailId, contactId } = await sentEmail();
    for (let batch = 0; batch < 5; batch++) {
      const opens = Array.from({ length: 30 }, () => engagement(emailId, null));
      const clicks = Array.from({ length: 20 }, () => engagement(emailId, 'https://shop.test/'));
      await recordEngagements(app.em(), [...opens, ...clicks]);
    }
    expect(await countsOf(emailId)).toEqual({ opens: 150, clicks: 100 });
    expect(await eventsOf(contactId)).toEqual({
      'email.open': ENGAGEMENT_EVENTS_MAX,
      'email.click': ENGAGEMENT_EVENTS_MAX,
    });
  });

  it('that were combined are all counted, and later events are numbered after them', async () => {
    const { emailId, contactId } = await sentEmail();
    await recordEngagements(app.em(), [
      engagement(emailId, null, 9),
      engagement(emailId, null),
      engagement(emailId, null, 1_000),
    ]);
    expect(await countsOf(emailId)).toEqual({ opens: 1_012, clicks: 0 });
    const rows = await query(
      app.em(),
      sql`select (data ->> 'opens')::int as opens from event where contact_id = ${contactId} order by opens`,
    );
    expect(rows.map((row) => row.opens)).toEqual([1, 11, 12]);
    await recordEngagements(app.em(), [engagement(emailId, null)]);
    expect(await eventsOf(contactId)).toEqual({ 'email.open': 3 });
  });

  it('fill little of the queue, however many there are', async () => {
    const [loud, quiet] = [uuidV7(), uuidV7()];
    const recorded: Engagement[] = [];
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const recorder = createEngagementRecorder({
      logger: createLogger({ level: 'silent', name: 'test' }),
      capacity: 200,
      emailsOf: (emailIds) =>
        Promise.resolve(new Map(emailIds.map((id) => [id, { projectId: 'a project', sentAgoMs: null }]))),
      revise: () => Promise.resolve(),
      async record(engagements) {
        await held;
        recorded.push(...engagements);
      },
    });
    const first = recorder.add({ emailId: quiet, url: null });
    const storm = Array.from({ length: 10_000 }, () => recorder.add({ emailId: loud, url: null }));
    const later = recorder.add({ emailId: quiet, url: null });
    release();
    await Promise.all([first, ...storm, later]);
    expect(recorded.filter((it) => it.emailId === quiet)).toHaveLength(2);
    const loudOnes = recorded.filter((it) => it.emailId === loud);
    expect(loudOnes.length).toBeLessThanOrEqual(2 * ENGAGEMENT_EVENTS_MAX);
    expect(loudOnes.reduce((sum, it) => sum + 1 + it.repeats, 0)).toBe(10_000);
  });
});

describe('one address that asks for the same link again and again', () => {
  it('gets it, and is no longer counted', async () => {
    const [loud, quiet] = [await sentEmail(), await sentEmail()];
    const image = (sent: Sent) => fetch(sent.links.openUrl, { headers: BROWSER });
    const replies = [];
    for (let visit = 0; visit < 2 * ENGAGEMENTS_PER_MINUTE; visit++) replies.push((await image(loud)).status);
    expect(new Set(replies)).toEqual(new Set([200]));
    const clicked = await fetch(loud.links.clickUrl(encodeClickTarget('https://shop.test/')), {
      headers: BROWSER,
      redirect: 'manual',
    });
    expect(clicked.status).toBe(302);
    await image(quiet);
    expect((await countsOf(loud.emailId))?.opens).toBeLessThan(2 * ENGAGEMENTS_PER_MINUTE);
    expect((await countsOf(quiet.emailId))?.opens).toBe(1);
  });
});

describe('a subscription that is changed by its links', () => {
  const post = (url: string) => fetch(url, { method: 'POST' });

  it('changes back and forth some times a day, and can always be ended', async () => {
    const { contactId, links } = await sentEmail();
    const statuses: number[] = [];
    for (let turn = 0; turn < 30; turn++) {
      await post(links.unsubscribeUrl);
      statuses.push((await post(links.subscribeUrl)).status);
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.slice(20).every((status) => status === 429)).toBe(true);
    expect(await eventsOf(contactId)).toEqual({ 'contact.subscribed': 20, 'contact.unsubscribed': 21 });
    expect((await post(links.unsubscribeUrl)).status).toBe(200);
    const contact = await app.api('GET', `/contacts/${contactId}`);
    expect(contact.body.subscribed).toBe(false);
  });

  it('is not limited by the changes that the project makes', async () => {
    const { contactId, links } = await sentEmail();
    for (let turn = 0; turn < 25; turn++) {
      await app.api('PATCH', `/contacts/${contactId}`, { body: { subscribed: turn % 2 === 1 } });
    }
    await app.api('PATCH', `/contacts/${contactId}`, { body: { subscribed: false } });
    expect((await post(links.subscribeUrl)).status).toBe(200);
  });
});
