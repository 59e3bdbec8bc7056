import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { CampaignEntity } from '../../shared/domain/campaigns/campaign.entity.ts';
import { ContactEntity } from '../../shared/domain/contacts/contact.entity.ts';
import { EmailEntity } from '../../tests/support/entities/email.entity.ts';
import { EventEntity } from '../../tests/support/entities/event.entity.ts';
import { blockLinks, unblockLinks } from '../../shared/domain/engagement/blocked-links.ts';
import { deleteProject } from '../../shared/domain/lifecycle/delete-project.ts';
import { updateProject } from '../../shared/domain/lifecycle/update-project.ts';
import { sql } from '../../shared/database/sql.ts';
import { query } from '../../tests/support/rows.ts';
import { createLinkSigner, encodeClickTarget, type EmailLinks } from '../../shared/sending/compose/links.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { eventually } from '../../tests/support/eventually.ts';
import { createSentMail, type SentMail, type SentMailOptions } from '../../tests/support/sent-mail.ts';

let app: TestApi;
let signer: ReturnType<typeof createLinkSigner>;
beforeAll(async () => {
  app = await startTestApi();
  signer = createLinkSigner({ appSecret: app.config.APP_SECRET, publicUrl: app.url });
});
afterAll(() => app.stop());

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

interface Sent extends SentMail {
  links: EmailLinks;
}

/** A campaign that has sent one email to one contact. */
async function sentEmail(status?: SentMailOptions['status'], data?: Record<string, unknown>): Promise<Sent> {
  const mail = await createSentMail(app.em(), app.project.id, { status, data });
  return { ...mail, links: signer.recipientUrls(mail) };
}

type Visit = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> };

async function visit(url: string, init: Visit = {}): Promise<Response> {
  return fetch(url, { redirect: 'manual', ...init, headers: { 'user-agent': FIREFOX, ...init.headers } });
}

async function stateOf({ emailId, campaignId, contactId }: Sent) {
  const em = app.em();
  const email = await em.findOneOrFail(EmailEntity, { id: emailId });
  const campaign = await em.findOneOrFail(CampaignEntity, { id: campaignId });
  const events = await em.find(EventEntity, { contactId }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  return {
    status: email.status,
    engagements: [email.opens, email.clicks],
    counts: [campaign.openedCount, campaign.clickedCount],
    events: events.map((event) => event.name),
    data: events.map((event) => event.data),
  };
}

describe('GET /t/o/:token.gif', () => {
  it('answers an image that no cache keeps, and counts the email once and every opening', async () => {
    const mail = await sentEmail();
    const replies = await Promise.all(Array.from({ length: 6 }, () => visit(mail.links.openUrl)));
    expect(replies.map((reply) => reply.status)).toEqual(Array(6).fill(200));
    const { headers } = replies[0]!;
    expect(headers.get('content-type')).toBe('image/gif');
    expect(headers.get('cache-control')).toContain('no-store');
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    expect(Buffer.from(await replies[0]!.arrayBuffer()).toString('latin1')).toMatch(/^GIF89a\x01\0\x01\0/);

    const state = await stateOf(mail);
    expect(state).toMatchObject({
      status: 'OPENED',
      engagements: [6, 0],
      counts: [1, 0],
      events: Array(6).fill('email.open'),
    });
    const numbered = state.data.map((data) => `${String(data['opens'])} ${String(data['isFirstOpen'])}`);
    expect(numbered.sort()).toEqual(['1 true', '2 false', '3 false', '4 false', '5 false', '6 false']);
    expect(state.data.find((data) => data['opens'] === 1)).toEqual({
      emailId: mail.emailId,
      subject: 'News',
      from: 'news@example.com',
      to: `${mail.emailId}@mail.test`,
      campaignId: mail.campaignId,
      templateId: null,
      workflowId: null,
      opens: 1,
      isFirstOpen: true,
      isMachine: false,
      openedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });
});

describe('GET /t/c/:token', () => {
  const target = 'https://shop.test/a?b=c&d=%20e#f';

  it('redirects with 302, and counts the click in an email without images as an open, too', async () => {
    const mail = await sentEmail();
    const url = mail.links.clickUrl(encodeClickTarget(target));
    const reply = await visit(url);
    expect([reply.status, reply.headers.get('location')]).toEqual([302, target]);
    await visit(url);
    await visit(mail.links.openUrl);
    const state = await stateOf(mail);
    expect(state).toMatchObject({
      status: 'CLICKED',
      engagements: [2, 2],
      counts: [1, 1],
      events: expect.arrayContaining(['email.open', 'email.click', 'email.click', 'email.open']),
    });
    expect(state.data).toHaveLength(4);
    const clicked = { link: target, clickedAt: expect.any(String) };
    expect(state.data).toContainEqual(expect.objectContaining({ ...clicked, clicks: 1, isFirstClick: true }));
    expect(state.data).toContainEqual(expect.objectContaining({ ...clicked, clicks: 2, isFirstClick: false }));
    expect(state.data).toContainEqual(expect.objectContaining({ opens: 1, isFirstOpen: true }));
    expect(state.data).toContainEqual(expect.objectContaining({ opens: 2, isFirstOpen: false }));
  });

  it('counts exactly when many emails are opened and clicked at once', async () => {
    const mails = await Promise.all(Array.from({ length: 8 }, () => sentEmail()));
    await Promise.all(
      Array.from({ length: 160 }, (_, i) => {
        const { links } = mails[i % mails.length]!;
        return visit(i % 3 === 0 ? links.clickUrl(encodeClickTarget(target)) : links.openUrl);
      }),
    );
    for (const mail of mails) {
      const { status, counts, events, data } = await stateOf(mail);
      expect({ status, counts }).toEqual({ status: 'CLICKED', counts: [1, 1] });
      expect(events.length).toBeGreaterThanOrEqual(20);
      expect(data.filter((item) => item['isFirstOpen'] === true)).toHaveLength(1);
      expect(data.filter((item) => item['isFirstClick'] === true)).toHaveLength(1);
    }
  });

  it('never lowers a state, and records nothing for an email that was never sent', async () => {
    const bounced = await sentEmail('BOUNCED');
    const failed = await sentEmail('FAILED');
    for (const { links } of [bounced, failed])
      expect((await visit(links.clickUrl(encodeClickTarget(target)))).status).toBe(302);
    expect(await stateOf(bounced)).toMatchObject({ status: 'BOUNCED', counts: [1, 1] });
    expect(await stateOf(failed)).toMatchObject({ status: 'FAILED', counts: [0, 0], events: [] });
  });

  it.each([
    ['HEAD', { method: 'HEAD' }],
    ['a prefetch', { headers: { 'sec-purpose': 'prefetch;prerender' } }],
    ['a preview', { headers: { purpose: 'preview' } }],
    ['a security gateway', { headers: { 'user-agent': 'Mozilla/5.0 (compatible; Barracuda Sentinel (EE))' } }],
    ['a link preview', { headers: { 'user-agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' } }],
  ])('serves %s and does not count it', async (_name, init: Visit) => {
    const mail = await sentEmail();
    expect((await visit(mail.links.clickUrl(encodeClickTarget(target)), init)).status).toBe(302);
    expect((await visit(mail.links.openUrl, init)).status).toBe(200);
    expect(await stateOf(mail)).toMatchObject({ status: 'SENT', counts: [0, 0], events: [] });
  });

  it('counts the image proxies of web mail, and not the one that fetches everything ahead', async () => {
    const mail = await sentEmail();
    await visit(mail.links.openUrl, { headers: { 'user-agent': 'Mozilla/5.0' } });
    expect((await stateOf(mail)).events).toEqual([]);
    const gmail = 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)';
    await visit(mail.links.openUrl, { headers: { 'user-agent': gmail } });
    expect((await stateOf(mail)).events).toEqual(['email.open']);
  });

  it('starts the automations that have this event as their trigger', async () => {
    const mail = await sentEmail();
    const automationId = uuidV7();
    await query(
      app.em(),
      sql`
        insert into automation (id, project_id, name, trigger_event, enabled, graph_id, created_at, updated_at)
        values (${automationId}, ${app.project.id}, 'Follow up', 'email.click', true, ${uuidV7()}, now(), now())`,
    );
    await visit(mail.links.clickUrl(encodeClickTarget(target)));
    const started = await query(
      app.em(),
      sql`
        select contact_id, context->>'link' as link, exists (select from outbox o where o.subject_id = x.id) as is_queued
        from automation_execution x where automation_id = ${automationId}`,
    );
    expect(started).toEqual([{ contact_id: mail.contactId, link: target, is_queued: true }]);
    await query(app.em(), sql`delete from automation where id = ${automationId}`);
  });

  it('answers 404 to an altered or foreign token, and redirects nowhere', async () => {
    const mail = await sentEmail();
    const foreign = createLinkSigner({ appSecret: 'another secret of 32 characters and more', publicUrl: app.url });
    const foreignLinks = foreign.recipientUrls({ ...mail, projectId: app.project.id });
    const good = mail.links.clickUrl(encodeClickTarget(target));
    for (const url of [
      `${good}A`,
      good.slice(0, -2),
      good.replace(/.(?=[\w-]{5}$)/, (character) => (character === 'A' ? 'B' : 'A')),
      foreignLinks.clickUrl(encodeClickTarget('https://evil.test/')),
      foreignLinks.openUrl,
      `${app.url}/t/c/x?url=https://evil.test/`,
      `${app.url}/t/o/x.gif`,
      mail.links.openUrl.replace('.gif', ''),
    ]) {
      const reply = await visit(url);
      expect([url, reply.status, reply.headers.get('location')]).toEqual([url, 404, null]);
    }
    expect((await stateOf(mail)).events).toEqual([]);
  });
});

describe('links that are blocked', () => {
  const target = 'https://shop.test/spring';

  /** An email of a project of its own, whose links know the project. */
  async function sentByOther() {
    const { project, api } = await app.createProject();
    const address = `${uuidV7()}@mail.test`;
    const { body } = await api('POST', '/contacts', { body: { email: address } });
    const [projectId, contactId, emailId] = [project.id, body.id as string, uuidV7()];
    const em = app.em();
    const sent = { status: 'SENT', createdAt: new Date() } as const;
    em.create(EmailEntity, { id: emailId, projectId, contactId, toAddress: address, ...sent });
    await em.flush();
    return { projectId, contactId, emailId, links: signer.recipientUrls({ contactId, emailId, projectId }) };
  }
  const clickOf = (links: EmailLinks, url = target) => visit(links.clickUrl(encodeClickTarget(url)));
  const isClosed = async (links: EmailLinks, url?: string) => (await clickOf(links, url)).status === 410;

  it('lead nowhere once their project is disabled, and its readers can still unsubscribe', async () => {
    const { projectId, contactId, emailId, links } = await sentByOther();
    expect((await clickOf(links)).headers.get('location')).toBe(target);
    await updateProject(app.em(), projectId, { disabled: true });
    await eventually(() => isClosed(links));
    const clicks = async () => (await app.em().findOneOrFail(EmailEntity, { id: emailId })).clicks;
    const clicksBefore = await clicks();
    const reply = await visit(links.clickUrl(encodeClickTarget(target)), { headers: { 'accept-language': 'de' } });
    expect([reply.headers.get('location'), reply.headers.get('content-language')]).toEqual([null, 'de']);
    expect(await reply.text()).toContain('nicht mehr aktiv');
    expect(await clicks()).toBe(clicksBefore);
    expect((await visit(links.unsubscribeUrl, { method: 'POST' })).status).toBe(200);
    expect((await app.em().findOneOrFail(ContactEntity, { id: contactId })).subscribed).toBe(false);
    await updateProject(app.em(), projectId, { disabled: false });
    await eventually(async () => (await clickOf(links)).status === 302);
  });

  it('lead nowhere once their project is deleted, and links in deleted emails of others go on', async () => {
    const [gone, kept] = [await sentByOther(), await sentByOther()];
    await query(app.em(), sql`delete from email where id = ${kept.emailId}`);
    await deleteProject(app.em(), gone.projectId, async () => undefined);
    await eventually(() => isClosed(gone.links));
    expect((await visit(gone.links.unsubscribeUrl, { method: 'POST' })).status).toBe(200);
    expect((await clickOf(kept.links)).headers.get('location')).toBe(target);
  });

  it('lead nowhere once an operator has blocked their host or their project, until the block ends', async () => {
    const { projectId, links } = await sentByOther();
    const { links: old } = await sentEmail();
    await blockLinks(app.em(), 'evil.test');
    await eventually(() => isClosed(links, 'https://www.EVIL.test.:8443/login'));
    expect(await isClosed(old, 'http://evil.test/')).toBe(true);
    expect(await isClosed(links, 'https://notevil.test/?evil.test')).toBe(false);
    await blockLinks(app.em(), projectId);
    await eventually(() => isClosed(links));
    await unblockLinks(app.em(), 'evil.test');
    await eventually(async () => (await clickOf(old, 'http://evil.test/')).status === 302);
  });
});

describe('the subscription pages', () => {
  async function isSubscribed({ contactId }: Sent): Promise<boolean> {
    return (await app.em().findOneOrFail(ContactEntity, { id: contactId })).subscribed;
  }
  const unsubscribedCount = async ({ campaignId }: Sent) =>
    (await app.em().findOneOrFail(CampaignEntity, { id: campaignId })).unsubscribedCount;

  it('only show on GET, in the language of the contact, without scripts', async () => {
    const mail = await sentEmail('SENT', { locale: 'de-AT' });
    for (const [url, text] of [
      [mail.links.unsubscribeUrl, 'Möchten Sie an <bdi>'],
      [mail.links.subscribeUrl, 'Sie sind angemeldet'],
      [mail.links.manageUrl, 'Ihr Abonnement'],
    ] as const) {
      const reply = await visit(url);
      expect([reply.status, reply.headers.get('content-language')]).toEqual([200, 'de']);
      expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'");
      const page = await reply.text();
      expect(page).toContain('<html lang="de" dir="ltr">');
      expect(page).toContain(text);
      expect(page).not.toContain('<script');
    }
    expect(await isSubscribed(mail)).toBe(true);
  });

  it('unsubscribe on POST, also with the one-click body of RFC 8058, and count once for each email', async () => {
    const mail = await sentEmail();
    const oneClick = {
      method: 'POST',
      body: 'List-Unsubscribe=One-Click',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    };
    const replies = await Promise.all([1, 2, 3].map(() => visit(mail.links.unsubscribeUrl, oneClick)));
    expect(replies.map((reply) => [reply.status, reply.headers.get('set-cookie')])).toEqual(Array(3).fill([200, null]));
    expect(await isSubscribed(mail)).toBe(false);
    expect((await stateOf(mail)).events).toEqual(['contact.unsubscribed']);

    expect((await visit(mail.links.subscribeUrl, { method: 'POST' })).status).toBe(200);
    expect(await isSubscribed(mail)).toBe(true);
    const form = new FormData();
    form.set('List-Unsubscribe', 'One-Click');
    await visit(mail.links.unsubscribeUrl, { method: 'POST', body: form });
    expect((await stateOf(mail)).events).toEqual([
      'contact.unsubscribed',
      'contact.subscribed',
      'contact.unsubscribed',
    ]);
    expect(await unsubscribedCount(mail)).toBe(1);
  });

  it('find the contact by its address when it was created again under another id', async () => {
    const mail = await sentEmail();
    const { body: contact } = await app.api('GET', `/contacts/${mail.contactId}`);
    await app.api('DELETE', `/contacts/${mail.contactId}`);
    const gone = await visit(mail.links.unsubscribeUrl, { method: 'POST' });
    expect([gone.status, (await gone.text()).includes('no longer on the list')]).toEqual([200, true]);
    const { body: again } = await app.api('POST', '/contacts', { body: { email: contact.email } });
    await visit(mail.links.unsubscribeUrl, { method: 'POST' });
    expect((await app.api('GET', `/contacts/${again.id}`)).body.subscribed).toBe(false);
  });

  it('answer 404 to an altered token, as a page, and change nothing', async () => {
    const mail = await sentEmail();
    const url = mail.links.unsubscribeUrl.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    const shown = await visit(url, { headers: { 'accept-language': 'fr-FR,fr;q=0.9' } });
    expect([shown.status, (await shown.text()).includes('Ce lien ne fonctionne pas')]).toEqual([404, true]);
    expect((await visit(url, { method: 'POST' })).status).toBe(404);
    expect((await visit(`${app.url}/manage/x`)).status).toBe(404);
    expect(await isSubscribed(mail)).toBe(true);
  });
});
