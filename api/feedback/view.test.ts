import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { CampaignEntity } from '../../shared/domain/campaigns/campaign.entity.ts';
import { ContactEntity } from '../../shared/domain/contacts/contact.entity.ts';
import { EmailEntity } from '../../tests/support/entities/email.entity.ts';
import { sql } from '../../shared/database/sql.ts';
import { textsOf } from '../../shared/pure/languages/languages.ts';
import { query } from '../../tests/support/rows.ts';
import { createLinkSigner } from '../../shared/sending/compose/links.ts';
import { createTestProject, startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';
import { accessibilityFaults, startBrowser, type TestBrowser } from '../../tests/support/browser.ts';

let app: TestApi;
let browser: TestBrowser;
let signer: ReturnType<typeof createLinkSigner>;
beforeAll(async () => {
  [app, browser] = await Promise.all([startTestApi(), startBrowser()]);
  signer = createLinkSigner({ appSecret: app.config.APP_SECRET, publicUrl: app.url });
});
afterAll(() => Promise.all([browser.close(), app.stop()]));

interface NewCampaign {
  status?: 'DRAFT' | 'SENT' | 'CANCELLED';
  subject?: string;
  body?: string;
  type?: 'MARKETING' | 'HEADLESS';
  sentAt?: Date | null;
  isPublic?: boolean;
}

async function storeCampaign(projectId: string, campaign: NewCampaign = {}): Promise<string> {
  const {
    status = 'SENT',
    subject = 'News',
    body = '<p>Hello {{name ?? "reader"}}</p>',
    type = 'MARKETING',
  } = campaign;
  const id = uuidV7();
  const em = app.em();
  em.create(CampaignEntity, {
    id,
    projectId,
    name: 'N',
    subject,
    body,
    from: 'news@example.com',
    type,
    status,
    audienceType: 'ALL',
    sentAt: campaign.sentAt === undefined ? new Date() : campaign.sentAt,
    isPublic: campaign.isPublic ?? false,
  });
  await em.flush();
  return id;
}

/** An email of a campaign to one contact. @returns its view link, and the contact */
async function sentTo(project: TestProject, campaignId: string, data: Record<string, unknown> = {}) {
  const [contactId, emailId, em] = [uuidV7(), uuidV7(), app.em()];
  const { id: projectId } = project.project;
  const email = `${emailId}@mail.test`;
  em.create(ContactEntity, { id: contactId, projectId, email, subscribed: true, data });
  em.create(EmailEntity, {
    id: emailId,
    projectId,
    contactId,
    campaignId,
    campaignSeq: 1,
    toAddress: email,
    status: 'SENT',
    createdAt: new Date(),
  });
  await em.flush();
  return { url: signer.recipientUrls({ contactId, emailId, projectId }).viewUrl, contactId, email };
}

async function read(url: string, headers: Record<string, string> = {}) {
  const reply = await fetch(url, { headers });
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}

describe('GET /view/:token', () => {
  it('shows the email of a campaign as its recipient got it', async () => {
    const body = '<p>Hello {{name}}</p><p><a href="https://shop.test/">Shop</a> <a href="{{viewUrl}}">Browser</a></p>';
    const { url } = await sentTo(app, await storeCampaign(app.project.id, { body }), { name: '<Ann>' });
    const page = await read(url);
    expect(page.status).toBe(200);
    expect(page.text).toContain('Hello &lt;Ann&gt;');
    const link = url.replace(app.url, app.config.publicUrl);
    expect(page.text).toContain(`href="${link}"`);
    expect(page.text).toContain('/t/c/');
    const leave = /href="([^"]+\/unsubscribe\/[^"]+)"/.exec(page.text)?.[1] ?? '';
    expect(leave).not.toBe('');
    // Whoever may unsubscribe somebody may not read the email for that reason.
    expect((await read(leave.replace('/unsubscribe/', '/view/').replace(app.config.publicUrl, app.url))).status).toBe(
      404,
    );
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('x-robots-tag')).toBe('noindex');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('content-security-policy')).toMatch(/^sandbox [^;]*; default-src 'none'/);
  });

  it('shows a transactional email as it was stored, with the images that lie in it', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const sent = await app.api('POST', '/v1/send', {
      body: {
        to: 'a@mail.test',
        from: `hello@example.com`,
        subject: 'Hi',
        body: '<p>Order {{number}} <img src="cid:logo@x"> <img src=\'CID:none\'></p><a href="{{viewUrl}}">View</a>',
        data: { number: { value: 7, persistent: false } },
        attachments: [
          { filename: 'l.png', content: png, contentType: 'image/png', contentId: 'logo@x', disposition: 'inline' },
        ],
      },
    });
    expect(sent).toMatchObject({ status: 200 });
    const { email: emailId, contact } = sent.body.data.emails[0];
    const url = signer.recipientUrls({ contactId: contact.id, emailId, projectId: app.project.id }).viewUrl;
    const page = await read(url);
    expect(page.text).toContain('Order 7');
    expect(page.text).toContain(`src="data:image/png;base64,${png}"`);
    expect(page.text).toContain('CID:none');
    expect(page.text).toContain(`href="${url.replace(app.url, app.config.publicUrl)}"`);
  });

  it('shows nothing for an altered link, a contact that is gone, or the email of another contact', async () => {
    const campaignId = await storeCampaign(app.project.id);
    const { url, contactId } = await sentTo(app, campaignId);
    const token = url.slice(-64);
    const altered = url.replace(token, `${token[0] === 'A' ? 'B' : 'A'}${token.slice(1)}`);
    expect((await read(altered)).status).toBe(404);
    expect((await read(url.slice(0, -1))).status).toBe(404);
    expect((await app.api('DELETE', `/contacts/${contactId}`)).status).toBe(204);
    const gone = await read(url, { 'accept-language': 'de' });
    expect([gone.status, gone.text.includes('Dieser Link funktioniert nicht')]).toEqual([404, true]);
  });

  it('runs nothing that the author wrote', async () => {
    const body =
      '<script>document.title = "ran"</script><img src="x:" onerror="document.title = \'ran\'">' +
      '<form action="/unsubscribe/x" method="post"><button id="go">Go</button></form><p id="end">End</p>';
    const { url } = await sentTo(app, await storeCampaign(app.project.id, { body, type: 'HEADLESS' }));
    await browser.page.goto(url);
    await browser.page.waitForSelector('#end');
    await browser.page.click('#go');
    expect(await browser.page.title()).toBe('News');
    expect(browser.page.url()).toBe(url);
  });
});

describe('an email in a browser', () => {
  const document = (rest: string) =>
    `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">\n${rest}`;
  const whole = document(
    '<html xmlns="http://www.w3.org/1999/xhtml"><head><meta charset="utf-8"><title>Old</title></head>',
  );
  it.each([
    ['of a fragment', '<p>Hello</p><img src="data:," alt="">', 'fr', 'CSS1Compat'],
    ['of a document', `${whole}<body class="b"><p>Hello</p></body></html>`, 'fr', 'CSS1Compat'],
    ['of a document that never ends', `${whole}<body><p>Hello`, 'fr', 'CSS1Compat'],
    ['with a language', '<html lang="ja"><body><main><h1>Hello</h1></main></body></html>', 'ja', 'CSS1Compat'],
    ['that is empty', '', 'fr', 'CSS1Compat'],
  ])('%s has a language, the subject as its title, and no fault', async (_what, body, language, mode) => {
    const { page } = browser;
    const campaignId = await storeCampaign(app.project.id, { body, subject: 'Hi {{name}}', type: 'HEADLESS' });
    const { url } = await sentTo(app, campaignId, { locale: 'fr-CA', name: '</title><b>' });
    await page.goto(url);
    expect(await page.title()).toBe('Hi </title><b>');
    expect(await page.$eval('html', ({ lang }) => lang)).toBe(language);
    // No script runs in the sandbox of the page, nor does that of the check.
    const { text } = await read(url);
    await page.goto('about:blank');
    await page.setContent(text);
    expect(await page.evaluate('document.compatMode')).toBe(mode);
    expect(await page.evaluate('document.querySelectorAll("main, h1").length')).toBe(2);
    if (body.includes('class')) expect(await page.evaluate('document.body.className')).toBe('b');
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('without a subject has the name of the project, and its language', async () => {
    const project = await createTestProject(app.em(), app.url);
    await project.api('PATCH', `/users/@me/projects/${project.project.id}`, {
      body: { language: 'de', displayName: 'Shop & Co' },
    });
    const campaignId = await storeCampaign(project.project.id, { subject: '{{none}}', isPublic: true });
    for (const url of [
      (await sentTo(project, campaignId)).url,
      `${app.url}/archive/${project.keys.publicKey}/${campaignId}`,
    ]) {
      const { text } = await read(url);
      expect(text).toMatch(/^<!doctype html><html lang="de"><title>Shop &amp; Co<\/title><main>/);
    }
  });
});

describe('the archive', () => {
  const linkTo = (project: TestProject) => `${app.config.publicUrl}/archive/${project.keys.publicKey}`;
  const archiveOf = (project: TestProject) => `${app.url}/archive/${project.keys.publicKey}`;

  it('lists what a project publishes once it is sent, newest first, and nothing else', async () => {
    const project = await createTestProject(app.em(), app.url);
    const { id } = project.project;
    const url = archiveOf(project);
    const empty = await read(url);
    expect([empty.status, empty.text.includes('There is nothing here yet.')]).toEqual([200, true]);

    const draft = await storeCampaign(id, { status: 'DRAFT', subject: 'Draft', sentAt: null });
    const old = await storeCampaign(id, { subject: 'Hi {{name ?? "everybody"}} <b>', sentAt: new Date('2026-01-02') });
    const fresh = await storeCampaign(id, { subject: 'Fresh', sentAt: new Date('2026-03-04') });
    await storeCampaign(id, { subject: 'Secret' });
    for (const campaign of [draft, old, fresh]) {
      expect(await project.api('POST', `/campaigns/${campaign}/publish`)).toMatchObject({
        status: 200,
        body: { public: true },
      });
    }
    const page = await read(url, { 'accept-language': 'de-DE' });
    expect(page.text).toContain('lang="de"');
    expect(page.text).toMatch(/Fresh[\s\S]*4\. März 2026[\s\S]*Hi everybody &lt;b&gt;[\s\S]*2\. Januar 2026/);
    expect(page.text).not.toMatch(/Draft|Secret/);
    expect(page.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);

    const feed = await read(`${url}/feed.xml`);
    expect(feed.headers.get('content-type')).toContain('application/atom+xml');
    expect(feed.text.match(/<id>[^<]+<\/id>/g)).toEqual([
      `<id>${linkTo(project)}</id>`,
      `<id>urn:uuid:${fresh}</id>`,
      `<id>urn:uuid:${old}</id>`,
    ]);
    expect(feed.text).toContain('<title>Hi everybody &lt;b&gt;</title>');

    expect((await project.api('POST', `/campaigns/${fresh}/unpublish`)).body).toMatchObject({ public: false });
    expect((await read(url)).text).not.toContain('Fresh');
    expect((await read(`${url}/${fresh}`)).status).toBe(404);
  });

  it('shows a campaign without a contact, without tracking and without links of a recipient', async () => {
    const body =
      '<p>Hello {{name ?? "reader"}} {{email}}</p><a href="https://shop.test/">Shop</a><a href="{{unsubscribeUrl}}">Leave</a>';
    const project = await createTestProject(app.em(), app.url);
    const id = await storeCampaign(project.project.id, { body, isPublic: true });
    const page = await read(`${archiveOf(project)}/${id}`);
    expect(page.status).toBe(200);
    expect(page.text).toContain('Hello reader');
    expect(page.text).toContain('href="https://shop.test/"');
    expect(page.text).toContain(`href="${linkTo(project)}">Leave`);
    expect(page.text).not.toMatch(/\/t\/[oc]\//);
    expect(page.headers.get('content-security-policy')).toMatch(/^sandbox /);
    expect((await read(`${archiveOf(app)}/${id}`)).status).toBe(404);
  });

  it('is found by every public key that holds, and by no other', async () => {
    const project = await createTestProject(app.em(), app.url);
    const add = async (role: string) => (await project.api('POST', '/keys', { body: { name: role, role } })).body;
    const [more, other] = [await add('track'), await add('read')];
    const statusOf = async (key: string) => (await read(`${app.url}/archive/${key}`)).status;
    expect([await statusOf(more.key), await statusOf(other.key), await statusOf(project.keys.secretKey)]).toEqual([
      200, 404, 404,
    ]);
    await project.api('DELETE', `/keys/${more.id}`);
    expect([await statusOf(more.key), await statusOf(project.keys.publicKey)]).toEqual([404, 200]);
  });

  it.each(['en', 'ja', 'ar'] as const)('is a page without faults and without a script, in %s', async (language) => {
    const { page } = browser;
    const project = await createTestProject(app.em(), app.url);
    await project.api('PATCH', `/users/@me/projects/${project.project.id}`, { body: { language } });
    const id = await storeCampaign(project.project.id, { subject: `Issue ${'W'.repeat(90)}`, isPublic: true });
    await page.setJavaScriptEnabled(false);
    await page.setExtraHTTPHeaders({ 'accept-language': language });
    await page.goto(archiveOf(project));
    await page.setJavaScriptEnabled(true);
    const { direction, archive: texts } = textsOf(language);
    expect(await page.evaluate('[document.documentElement.lang, document.documentElement.dir].join()')).toBe(
      `${language},${direction}`,
    );
    expect(await page.$eval('h1', (title) => title.textContent)).toBe(texts.title);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.$eval('main a', (link) => (link as unknown as { href: string }).href)).toBe(
      `${linkTo(project)}/${id}`,
    );
    await page.goto(`${archiveOf(project)}/${id}`);
    expect(await page.$eval('body', (body) => body.textContent)).toContain('Hello reader');
  });

  it('has pages', async () => {
    const project = await createTestProject(app.em(), app.url);
    for (let n = 0; n < 52; n++) {
      await storeCampaign(project.project.id, {
        subject: `Issue ${n}.`,
        isPublic: true,
        // Several were sent in the same millisecond.
        sentAt: new Date(Date.UTC(2026, 0, 1 + Math.floor(n / 10))),
      });
    }
    const first = await read(archiveOf(project));
    const next = /rel="next" href="([^"]+)"/.exec(first.text)?.[1] ?? '';
    const second = await read(next.replace(app.config.publicUrl, app.url));
    const issues = `${first.text}${second.text}`.match(/Issue \d+\./g) ?? [];
    expect([issues.length, new Set(issues).size]).toEqual([52, 52]);
    expect(second.text).not.toContain('rel="next"');
  });

  it.each(['pk_unknown', '%00', 'a/b', encodeURIComponent("'; drop table project")])(
    'is not found for the key %s',
    async (key) => {
      expect((await read(`${app.url}/archive/${key}`)).status).toBe(404);
      expect((await read(`${app.url}/archive/${key}/feed.xml`)).status).toBe(404);
    },
  );

  it('is closed with its project, and ignores a page that it does not know', async () => {
    const project = await createTestProject(app.em(), app.url);
    await storeCampaign(project.project.id, { isPublic: true });
    for (const after of ['x', uuidV7(), ''])
      expect((await read(`${archiveOf(project)}?after=${after}`)).status).toBe(200);
    expect((await read(`${archiveOf(project)}/x`)).status).toBe(404);
    await query(app.em(), sql`update project set disabled = true where id = ${project.project.id}`);
    expect((await read(archiveOf(project))).status).toBe(404);
  });
});

it('answers 404 when somebody publishes the campaign of another project', async () => {
  const other = await createTestProject(app.em(), app.url);
  const id = await storeCampaign(other.project.id);
  const reply = await app.api('POST', `/campaigns/${id}/publish`);
  expect([reply.status, reply.body.error.code]).toEqual([404, 'CAMPAIGN_NOT_FOUND']);
});
