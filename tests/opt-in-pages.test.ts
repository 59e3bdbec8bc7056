import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { createTopic } from '../shared/domain/topics/topics.ts';
import { LANGUAGES, textsOf } from '../shared/pure/languages/languages.ts';
import { appSecretsOf } from '../shared/platform/sealed-values.ts';
import { createFormTokens } from '../api/subscribe/form-token.ts';
import { startTestApi, type TestApi, type TestProject } from './support/api.ts';
import { accessibilityFaults, startBrowser, type TestBrowser } from './support/browser.ts';
import { advance, confirm, confirmPathOf, optInsOf, postForm, subjectsTo, subscribe } from './support/opt-ins.ts';
import { query } from './support/rows.ts';

let app: TestApi;
let browser: TestBrowser;
let brand: TestProject;
let count = 0;
const freshEmail = () => `visitor-${++count}@mail.test`;
beforeAll(async () => {
  [app, browser] = await Promise.all([
    startTestApi({ config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 } }),
    startBrowser(),
  ]);
  brand = await app.createProject();
  await brand.api('PATCH', `/users/@me/projects/${brand.project.id}`, {
    body: { displayName: 'Tea & <Co>', postalAddress: '1 High Street\nLondon' },
  });
  const topic = { defaultSubscription: 'opt_out', visibility: 'public' } as const;
  await createTopic(app.em(), brand.project.id, {
    ...topic,
    key: 'offers',
    name: 'Offers & <more>',
    description: 'Once a month',
    texts: { de: { name: 'Angebote', description: 'Einmal im Monat' } },
  });
  await createTopic(app.em(), brand.project.id, { ...topic, key: 'staff', name: 'Staff only', visibility: 'private' });
});
afterAll(async () => {
  await browser.close();
  await app.stop();
});

const contactOf = async (email: string, owner: TestProject = brand) =>
  (await owner.api('POST', '/contacts/search', { body: { search: email } })).body.data[0];
const optInOf = async (email: string) => (await optInsOf(app.em(), brand.project.id, email)).at(-1);
const formUrl = (query = '') => `${app.url}/subscribe-form/${brand.keys.publicKey}${query}`;
const actionUrl = () => `${app.url}/v1/subscribe?key=${brand.keys.publicKey}`;
const linkOf = async (email: string) => `${app.url}${confirmPathOf(app, (await optInOf(email))?.id as string)}`;
/** The token of a form that was shown a while ago. */
const shownAgo = (ms: number, projectId = brand.project.id) =>
  createFormTokens(appSecretsOf(app.config), () => Date.now() - ms).sign(projectId);

async function expectNoFaults(url: string): Promise<void> {
  const { page } = browser;
  await page.goto(url);
  expect([url, await accessibilityFaults(page)]).toEqual([url, []]);
}

describe('the hosted form', () => {
  it.each([
    ['de', 'Angebote'],
    ['ja', 'Offers & <more>'],
    ['ar', 'Offers & <more>'],
  ] as const)('is filled and confirmed without a script, with the keyboard alone, in %s', async (language, topic) => {
    const { page } = browser;
    const email = freshEmail();
    const { direction, optIn: texts, page: words } = textsOf(language);
    await page.setJavaScriptEnabled(false);
    await page.goto(formUrl(`?language=${language}`));
    await page.keyboard.press('Tab');
    await page.keyboard.type(email);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.setJavaScriptEnabled(true);
    expect(await page.$eval('html', (html) => [html.lang, html.dir])).toEqual([language, direction]);
    expect(await page.$$eval('label', (labels) => labels.map((label) => label.textContent))).toEqual([
      texts.emailLabel,
      topic,
    ]);
    // A person needs longer than two seconds; the test pretends that the form was shown before.
    await page.$eval('[name=formToken]', (input, token) => input.setAttribute('value', token), shownAgo(2_500));
    await Promise.all([page.waitForNavigation(), page.click('button')]);
    expect(await page.$eval('h1', (title) => title.textContent)).toBe(texts.thanksTitle);
    expect(await page.$eval('[role=status]', (text) => text.textContent)).toContain(email);
    expect(await contactOf(email)).toMatchObject({ subscribed: false, pending: true });

    await page.goto(await linkOf(email));
    expect(await page.$$eval('li', (names) => names.map((name) => name.textContent))).toEqual([topic]);
    expect(await contactOf(email)).toMatchObject({ subscribed: false });
    await Promise.all([page.waitForNavigation(), page.click('button')]);
    expect(await page.$eval('h1', (title) => title.textContent)).toBe(words.subscribedTitle);
    expect(await contactOf(email)).toMatchObject({ subscribed: true, data: { locale: language } });
    expect(browser.complaints).toEqual([]);
  });

  it.each(LANGUAGES)('speaks %s, and so do the pages behind the link', async (language) => {
    const { direction, optIn: texts } = textsOf(language);
    const email = freshEmail();
    const html = await (await fetch(formUrl(`?language=${language}`))).text();
    expect(html).toContain(`<html lang="${language}" dir="${direction}">`);
    expect(html).toContain(texts.emailLabel);
    expect(html).not.toContain('Staff only');
    await subscribe(brand, { email, language, topics: ['offers'] });
    await advance(app, (await optInOf(email))?.id as string);
    expect(await subjectsTo(app.em(), brand.project.id, email)).toEqual([texts.subject]);
    const asked = await (await fetch(await linkOf(email))).text();
    expect(asked).toContain(`<html lang="${language}" dir="${direction}">`);
    expect(asked).toContain(`>${texts.confirm}</button>`);
  });

  it.each([
    ['light', 1280],
    ['dark', 360],
  ] as const)(
    'has no accessibility faults, nor do the pages behind the link, %s and %d wide',
    async (scheme, width) => {
      const { page } = browser;
      await page.setViewport({ width, height: 800 });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      for (const language of ['en', 'ar', 'ja'] as const) {
        await expectNoFaults(formUrl(`?language=${language}`));
        const [pending, expired] = [freshEmail(), freshEmail()];
        for (const email of [pending, expired]) await subscribe(brand, { email, language, topics: ['offers'] });
        await advance(app, (await optInOf(expired))?.id as string, 8);
        for (const email of [pending, expired]) await expectNoFaults(await linkOf(email));
        await confirm(app, (await optInOf(pending))?.id as string);
        await expectNoFaults(await linkOf(pending));
      }
    },
  );

  it('is refused to nobody but a program', async () => {
    const thanks = async (fields: Record<string, string>) => {
      const { status, html } = await postForm(actionUrl(), fields);
      return { status, html: html.replaceAll(fields['email'] ?? '', '') };
    };
    const [person, fast, foreign, forged, bot] = Array.from({ length: 5 }, freshEmail);
    const answers = [
      await thanks({ email: person!, formToken: shownAgo(2_001) }),
      await thanks({ email: fast!, formToken: shownAgo(1_500) }),
      await thanks({ email: foreign!, formToken: shownAgo(60_000, app.project.id) }),
      await thanks({ email: forged!, formToken: `1000.${'A'.repeat(22)}` }),
      await thanks({ email: bot!, comment: 'Buy now' }),
    ];
    expect(new Set(answers.map(({ status, html }) => `${status} ${html}`)).size).toBe(1);
    expect(await contactOf(person!)).toBeDefined();
    for (const email of [fast, foreign, forged, bot]) expect(await contactOf(email!)).toBeUndefined();
  });

  it('shows a wrong address again, with what is wrong', async () => {
    const { status, html } = await postForm(actionUrl(), { email: '<b>nobody', topics: ['offers'], language: 'en' });
    expect(status).toBe(422);
    expect(html).toContain('role="alert"');
    expect(html).toContain('value="&lt;b&gt;nobody" aria-invalid="true"');
    expect(html).toMatch(/value="offers" checked/);
  });

  it('is not there for a key that is unknown, secret or of a disabled project', async () => {
    const other = await app.createProject();
    const url = (key: string) => `${app.url}/subscribe-form/${key}`;
    for (const key of ['pk_nothing', other.keys.secretKey, other.keys.publicKey.replace(/.$/, 'x')]) {
      expect((await fetch(url(key))).status).toBe(404);
    }
    expect((await fetch(url(other.keys.publicKey))).status).toBe(200);
    await query(app.em(), sql`update project set disabled = true where id = ${other.project.id}`);
    expect((await fetch(url(other.keys.publicKey))).status).toBe(404);
  });
});

describe('a form on a page of others', () => {
  it('comes as HTML that needs no script', async () => {
    const reply = await fetch(formUrl('/embed?language=fr'));
    expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const html = await reply.text();
    expect(html).toContain(`action="${app.config.publicUrl}/v1/subscribe?key=${brand.keys.publicKey}"`);
    expect(html).toContain('Adresse e-mail');
    expect(html).toContain('Offers &amp; &lt;more&gt;');
    expect(html).not.toMatch(/<script|formToken|style=/);
  });

  it('stores fields named data.<key>, and several topics', async () => {
    const email = freshEmail();
    const { status } = await postForm(actionUrl(), {
      email,
      'data.firstName': 'Ada',
      'data.empty': '',
      topics: ['offers'],
      language: 'pt-BR',
      wording: 'News, please',
    });
    expect(status).toBe(200);
    await confirm(app, (await optInOf(email))?.id as string);
    expect((await contactOf(email)).data).toEqual({ firstName: 'Ada', locale: 'pt' });
  });

  it('may be sent as multipart/form-data', async () => {
    const post = (body: FormData | string, headers: Record<string, string> = {}) =>
      fetch(actionUrl(), { method: 'POST', body, headers });
    const email = freshEmail();
    const form = new FormData();
    for (const [name, value] of Object.entries({ email, 'data.größe': 'Ö', language: 'de' })) form.set(name, value);
    form.set('photo', new File(['x'.repeat(9_000)], 'x.png'));
    const { status, headers } = await post(form);
    expect([status, headers.get('content-language')]).toEqual([200, 'de']);
    await confirm(app, (await optInOf(email))?.id as string);
    expect((await contactOf(email)).data).toEqual({ größe: 'Ö', locale: 'de' });
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=x']) {
      const cut = '--x\r\nContent-Disposition: form-data; name="photo"; filename="x.png"\r\n\r\nx';
      for (const body of ['--y\r\n', cut]) {
        expect((await post(body, { 'content-type': type })).status).toBe(400);
      }
    }
  });

  it('leads to trusted hosts only', async () => {
    const redirectHosts = ['thanks.test', 'localhost:3000'];
    await brand.api('PATCH', `/users/@me/projects/${brand.project.id}`, { body: { doubleOptIn: { redirectHosts } } });
    for (const redirectUrl of [
      'https://example.com/thanks?a=b',
      'https://www.example.com/',
      'https://thanks.test/',
      'http://localhost:3000/x',
    ]) {
      const { status, headers } = await postForm(actionUrl(), { email: freshEmail(), redirectUrl });
      expect([status, headers.get('location')]).toEqual([303, redirectUrl]);
    }
    for (const redirectUrl of [
      'https://evil.test',
      'https://www.thanks.test',
      'http://localhost:4000/',
      'https://notexample.com',
      'https://example.com.evil.test',
      'https://evil.test/?https://example.com',
      'https://evil.test#@example.com',
    ]) {
      const email = freshEmail();
      const { status, headers, html } = await postForm(actionUrl(), { email, redirectUrl, topics: ['offers'] });
      expect([redirectUrl, status, headers.get('location')]).toEqual([redirectUrl, 422, null]);
      expect(html).toContain(`The host ${new URL(redirectUrl).host} is no verified sender domain`);
      expect(html).toContain(`value="${email}">`);
      expect(html).toMatch(/value="offers" checked/);
      expect(await contactOf(email)).toBeUndefined();
    }
  });

  it('needs a key, and a form that is not too large', async () => {
    expect((await postForm(`${app.url}/v1/subscribe`, { email: freshEmail() })).status).toBe(401);
    expect(
      (await postForm(`${app.url}/v1/subscribe?key=${brand.keys.secretKey}`, { email: freshEmail() })).status,
    ).toBe(401);
    expect((await postForm(actionUrl(), { email: freshEmail(), 'data.x': 'x'.repeat(80_000) })).status).toBe(413);
    expect((await postForm(actionUrl(), { email: freshEmail(), 'data.x': 'a\0b' })).status).toBe(422);
  });
});

describe('the page behind the link', () => {
  it('stays the same, whoever opens it and how often', async () => {
    const email = freshEmail();
    await subscribe(brand, { email });
    const link = await linkOf(email);
    const replies = await Promise.all([1, 2, 3, 4].map(() => fetch(link, { method: 'POST' })));
    const pages = new Set(await Promise.all(replies.map((reply) => reply.text())));
    expect(pages.size).toBe(1);
    expect(await (await fetch(link)).text()).toContain('You are subscribed');
    const events = await query(
      app.em(),
      sql`select v.name from event v join contact c on c.id = v.contact_id where c.email = ${email}`,
    );
    expect(events).toEqual([{ name: 'contact.subscribed' }]);
  });

  it('subscribes nobody again who has left since', async () => {
    const email = freshEmail();
    await subscribe(brand, { email });
    const link = await linkOf(email);
    await fetch(link, { method: 'POST' });
    await brand.api('PATCH', `/contacts/${(await contactOf(email)).id}`, { body: { subscribed: false } });
    expect(await (await fetch(link, { method: 'POST' })).text()).toContain('You are unsubscribed');
    expect(await contactOf(email)).toMatchObject({ subscribed: false });
  });

  it('says that it has expired, and sends another link within the cap', async () => {
    const email = freshEmail();
    await subscribe(brand, { email, topics: ['offers'], data: { secret: 1 } });
    const first = await optInOf(email);
    await advance(app, first?.id as string);
    await query(app.em(), sql`update opt_in set expires_at = now() - interval '1 second' where id = ${first?.id}`);
    const link = await linkOf(email);
    // The workflow has not ended it yet.
    for (const reply of [await fetch(link), await fetch(link, { method: 'POST' })]) {
      expect(await reply.text()).toContain('This link has expired');
    }
    expect(await contactOf(email)).toMatchObject({ subscribed: false });
    for (let attempt = 0; attempt < 4; attempt++) {
      const reply = await confirm(app, first?.id as string, '/again');
      expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('Thank you')]);
      await advance(app, (await optInOf(email))?.id as string);
    }
    expect(await subjectsTo(app.em(), brand.project.id, email)).toHaveLength(3);
    const second = await optInOf(email);
    expect(second).toMatchObject({ state: 'pending', topic_ids: first?.topic_ids, is_first: true, data: {} });
    await confirm(app, second?.id as string);
    expect(await contactOf(email)).toMatchObject({ subscribed: true });
    const again = await confirm(app, second?.id as string, '/again');
    expect([again.status, again.headers.get('location')]).toEqual([
      303,
      `../${confirmPathOf(app, second?.id as string).slice(9)}`,
    ]);
  });

  it('is not there for a token that was altered, or whose contact is gone', async () => {
    const email = freshEmail();
    await subscribe(brand, { email });
    const link = await linkOf(email);
    for (const faulty of [link.slice(0, -1), `${link.slice(0, -1)}${link.endsWith('A') ? 'B' : 'A'}`, `${link}x`]) {
      for (const method of ['GET', 'POST']) expect((await fetch(faulty, { method })).status).toBe(404);
    }
    await brand.api('DELETE', `/contacts/${(await contactOf(email)).id}`);
    for (const method of ['GET', 'POST']) expect((await fetch(link, { method })).status).toBe(404);
    expect(await contactOf(email)).toBeUndefined();
  });

  it('has no script, loads nothing, and is stored and framed nowhere', async () => {
    const email = freshEmail();
    await subscribe(brand, { email });
    for (const url of [await linkOf(email), formUrl()]) {
      const { headers } = await fetch(url);
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'/,
      );
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });
});
