import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { sql } from '../shared/database/sql.ts';
import { createTopic } from '../shared/domain/topics/topics.ts';
import { LANGUAGES, textsOf, type Language } from '../shared/pure/languages/languages.ts';
import { createLinkSigner } from '../shared/sending/compose/links.ts';
import { startTestApi, type TestApi, type TestProject } from './support/api.ts';
import { accessibilityFaults, startBrowser, type TestBrowser } from './support/browser.ts';
import { query } from './support/rows.ts';

let app: TestApi;
let browser: TestBrowser;
beforeAll(async () => {
  [app, browser] = await Promise.all([startTestApi(), startBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await app.stop();
});

/** The longest texts that a topic can have; none has a place to break. */
const LONGEST = { name: '<i>&"'.repeat(20), description: 'W'.repeat(500) };

/** A project that asks about tracking, with topics. */
async function createWorld(count: number, texts: { name: string; description: string }) {
  const owner = await app.createProject();
  await query(app.em(), sql`update project set tracking = 'CONSENTED' where id = ${owner.project.id}`);
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const rest = { defaultSubscription: 'opt_in', visibility: 'public' } as const;
    ids.push((await createTopic(app.em(), owner.project.id, { key: `topic-${n}`, ...texts, ...rest })).id);
  }
  return { owner, ids };
}

/** The links of an email about a topic that a contact with a language got. */
async function addReader({ project, api }: TestProject, topicId: string, locale?: Language) {
  const { body } = await api('POST', '/contacts', { body: { email: `${uuidV7()}@mail.test`, data: { locale } } });
  const emailId = uuidV7();
  await query(
    app.em(),
    sql`
      insert into email (id, project_id, contact_id, to_address, status, topic_id, created_at)
      values (${emailId}, ${project.id}, ${body.id}, ${body.email}, 'SENT', ${topicId}, now())`,
  );
  const signer = createLinkSigner({ appSecret: app.config.APP_SECRET, publicUrl: app.url });
  const choices = async () => ({
    topics: await query(
      app.em(),
      sql`select topic_id, subscribed from topic_subscription where contact_id = ${body.id} order by topic_id`,
    ),
    contact: (await query(app.em(), sql`select * from contact where id = ${body.id}`))[0],
  });
  return { links: signer.recipientUrls({ contactId: body.id, emailId, projectId: project.id }), choices };
}

async function press(selector: string): Promise<void> {
  await Promise.all([browser.page.waitForNavigation(), browser.page.click(selector)]);
}

const text = (selector: string) => browser.page.$eval(selector, (element) => element.textContent);
const labelOf = (field: string) => text(`label[for="${field}"]`);

describe.each(['with', 'without'])('the preference page %s scripts', (scripts) => {
  beforeAll(() => browser.page.setJavaScriptEnabled(scripts === 'with'));
  afterAll(() => browser.page.setJavaScriptEnabled(true));

  it.each(['en', 'de', 'ar'] as const)('leaves, joins, pauses and changes the language, in %s', async (language) => {
    const { page } = browser;
    const { owner, ids } = await createWorld(3, { name: 'Tea', description: 'Every day' });
    const [ofEmail = '', second = '', third = ''] = ids;
    const { links, choices } = await addReader(owner, ofEmail, language);
    const { page: texts, choices: more, direction } = textsOf(language);

    await page.goto(links.unsubscribeUrl);
    expect(await text('h1')).toBe(texts.unsubscribe);
    await press('button');
    expect([await text('h1'), await text('legend')]).toEqual([texts.unsubscribedTitle, more.topics]);
    expect(await text('[role=status]')).toContain('Tea');
    expect((await choices()).topics).toEqual([{ topic_id: ofEmail, subscribed: false }]);

    expect(await labelOf('reason')).toBe(more.askReason);
    await page.select('#reason', 'too_many');
    await page.type('#comment', 'Less, please');
    await page.click(`label[for="choice-${second}"]`);
    await press('button');
    expect(await text('[role=status]')).toBe(more.saved);
    expect(await page.$('#reason')).not.toBeNull();
    const records = await query(
      app.em(),
      sql`select details -> 'feedback' as feedback from consent_record where contact_id = ${(await choices()).contact?.['id']} and cause <> 'api' order by id`,
    );
    expect(records).toEqual([
      { feedback: { reason: 'too_many', text: 'Less, please' } },
      { feedback: { reason: 'too_many', text: 'Less, please' } },
    ]);

    await page.click(`#choice-${second}`);
    await page.click('#choice-pause');
    await page.click('#choice-tracking');
    await press('button');
    const after = await choices();
    expect(after.topics).toEqual([ofEmail, second].map((topic_id) => ({ topic_id, subscribed: topic_id === second })));
    expect(after.contact).toMatchObject({ subscribed: true, paused_until: expect.any(Date), tracking_allowed: true });
    expect(await page.$('#reason')).toBeNull();
    const day = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' });
    expect(await labelOf('choice-pause')).toBe(
      more.pausedUntil.replace('{date}', day.format(after.contact?.['paused_until'] as Date)),
    );
    expect(await page.$eval(`#choice-${third}`, (box) => (box as unknown as { checked: boolean }).checked)).toBe(true);

    expect(await page.evaluate('document.documentElement.dir')).toBe(direction);
    await page.select('#language', 'language:he');
    await press('button');
    expect(await page.evaluate('[document.documentElement.lang, document.documentElement.dir].join()')).toBe('he,rtl');
    await press('button[name=all]');
    expect((await choices()).contact).toMatchObject({ subscribed: false });
    expect(await text('button[name=all]')).toBe(textsOf('he').page.subscribe);
    expect(browser.complaints).toEqual([]);
  });

  it('saves, and does not end everything, when the Enter key is pressed in a field', async () => {
    const { page } = browser;
    const { owner, ids } = await createWorld(1, { name: 'Tea', description: 'Every day' });
    const { links, choices } = await addReader(owner, ids[0] ?? '');
    await page.goto(links.manageUrl);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    expect((await choices()).contact).toMatchObject({ subscribed: true });
    expect((await choices()).topics).toMatchObject([{ subscribed: false }]);
  });
});

describe('the preference page', () => {
  // The colours and places do not depend on the language, except for the direction.
  it.each([
    ['light', 1280, ['en', 'ar']],
    ['dark', 320, LANGUAGES],
  ] as const)(
    'has no accessibility faults, %s and %d pixels wide, in the languages %j',
    async (scheme, width, languages) => {
      const { page } = browser;
      await page.setViewport({ width, height: 800 });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      const { owner, ids } = await createWorld(2, { name: 'Tea', description: 'Every day' });
      for (const language of languages) {
        const { links } = await addReader(owner, ids[0] ?? '', language);
        for (const url of [links.manageUrl, links.unsubscribeUrl]) {
          await page.goto(url);
          expect([url, await accessibilityFaults(page)]).toEqual([url, []]);
        }
        if (!['en', 'ar'].includes(language)) continue;
        await press('button');
        expect([language, await accessibilityFaults(page)]).toEqual([language, []]);
        await page.click('#choice-pause');
        await press('button');
        expect([language, await accessibilityFaults(page)]).toEqual([language, []]);
        await press('button[name=all]');
        expect([language, await accessibilityFaults(page)]).toEqual([language, []]);
      }
    },
  );

  it('has room for a hundred topics with the longest texts, on a phone, and saves them all', async () => {
    const { page } = browser;
    await page.setViewport({ width: 320, height: 640, isMobile: true });
    const { owner, ids } = await createWorld(100, LONGEST);
    const { links, choices } = await addReader(owner, ids[0] ?? '');
    await page.goto(links.manageUrl);
    expect(await text(`label[for="choice-${ids[99]}"]`)).toBe(LONGEST.name);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.$$eval('fieldset input', (boxes) => {
      for (const box of boxes) (box as unknown as { click: () => void }).click();
    });
    await press('button');
    const { topics } = await choices();
    expect([topics.length, topics.filter(({ subscribed }) => subscribed === true)]).toEqual([100, []]);
    await page.type('#comment', '語'.repeat(500));
    await page.$$eval('fieldset input', (boxes) => {
      for (const box of boxes) (box as unknown as { click: () => void }).click();
    });
    await press('button');
    expect((await choices()).topics.filter(({ subscribed }) => subscribed === true)).toHaveLength(100);
    expect(browser.complaints).toEqual([]);
  });

  it('has controls that are large enough, named, and marked when they have the focus', async () => {
    const { page } = browser;
    const { owner, ids } = await createWorld(1, { name: 'Tea', description: 'Every day' });
    const { links } = await addReader(owner, ids[0] ?? '');
    await page.goto(links.manageUrl);
    const tree = JSON.stringify(await page.accessibility.snapshot());
    for (const name of ['Tea', 'Language', 'Save', 'Unsubscribe from everything']) expect(tree).toContain(name);
    for (let control = 0; control < 6; control++) {
      await page.keyboard.press('Tab');
      const focused = (await page.evaluate(`(() => {
        const { height } = document.activeElement.getBoundingClientRect();
        return { height, outline: getComputedStyle(document.activeElement).outlineStyle };
      })()`)) as { height: number };
      expect(focused).toEqual({ height: expect.any(Number), outline: 'solid' });
      expect(focused.height).toBeGreaterThanOrEqual(24);
    }
  });
});
