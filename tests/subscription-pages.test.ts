import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page, SerializedAXNode } from 'puppeteer-core';
import { v7 as uuidV7 } from 'uuid';
import { tokensCss } from '../shared/platform/look/look.ts';
import { readableOn } from '../shared/pure/brand-color.ts';
import { LANGUAGES, textsOf } from '../shared/pure/languages/languages.ts';
import { createLinkSigner } from '../shared/sending/compose/links.ts';
import { startTestApi, type TestApi } from './support/api.ts';
import { accessibilityFaults, startBrowser, type TestBrowser } from './support/browser.ts';

let app: TestApi;
let browser: TestBrowser;
beforeAll(async () => {
  [app, browser] = await Promise.all([startTestApi(), startBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await app.stop();
});

async function contactWith(locale?: string, api = app.api) {
  const { body } = await api('POST', '/contacts', {
    body: { email: `${'long-'.repeat(5)}${uuidV7()}@mail.test`, data: { locale } },
  });
  const signer = createLinkSigner({ appSecret: app.config.APP_SECRET, publicUrl: app.url });
  const links = signer.recipientUrls({ contactId: body.id, emailId: uuidV7(), projectId: app.project.id });
  return { links, isSubscribed: async () => (await api('GET', `/contacts/${body.id}`)).body.subscribed as boolean };
}

/** A project with every setting that recipients can see. Its colour cannot be read on white. */
async function branded() {
  const owner = await app.createProject();
  const reply = await owner.api('PATCH', `/users/@me/projects/${owner.project.id}`, {
    body: {
      displayName: 'Tea & <Co>',
      postalAddress: '1 High Street\nLondon',
      logoUrl: 'https://pics.test/logo.png',
      brandColor: '#FFD400',
      language: 'he',
    },
  });
  expect(reply.status).toBe(200);
  return owner;
}

async function pressEnter(page: Page): Promise<void> {
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
}

/** Roles and names of the elements that assistive technology sees. */
function flatten(nodes: SerializedAXNode[]): { role: string; name: string }[] {
  return nodes.flatMap(({ role, name, children }) => [{ role, name: name ?? '' }, ...flatten(children ?? [])]);
}

describe('the subscription pages in a browser', () => {
  it.each(LANGUAGES)('unsubscribe and subscribe again with the keyboard alone, on a phone, in %s', async (locale) => {
    const { direction, page: texts } = textsOf(locale);
    const { page } = browser;
    const { links, isSubscribed } = await contactWith(locale);
    expect((await page.goto(links.unsubscribeUrl))?.status()).toBe(200);
    expect(await isSubscribed()).toBe(true);

    const shape = (await page.evaluate(`({
      lang: document.documentElement.lang,
      dir: document.documentElement.dir,
      isWide: document.documentElement.scrollWidth > innerWidth,
      buttonHeight: document.querySelector('button').getBoundingClientRect().height,
      isStyled: getComputedStyle(document.querySelector('button')).backgroundColor,
    })`)) as { buttonHeight: number };
    expect(shape).toEqual({
      lang: locale,
      dir: direction,
      isWide: false,
      buttonHeight: expect.any(Number),
      isStyled: 'rgb(59, 91, 219)',
    });
    expect(shape.buttonHeight).toBeGreaterThanOrEqual(44);
    const tree = await page.accessibility.snapshot({ interestingOnly: false });
    const nodes = flatten(tree?.children ?? []);
    expect(nodes).toContainEqual({ role: 'heading', name: texts.unsubscribe });
    expect(nodes).toContainEqual({ role: 'button', name: texts.unsubscribe });
    expect(nodes.map((node) => node.role)).toContain('main');

    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('BUTTON');
    await pressEnter(page);
    expect(await isSubscribed()).toBe(false);
    expect(await page.evaluate("document.querySelector('[role=status]').textContent.length > 20")).toBe(true);

    await page.keyboard.press('Tab');
    await pressEnter(page);
    expect(await isSubscribed()).toBe(true);
    expect(await page.evaluate('location.pathname.split("/")[1]')).toBe('subscribe');
    expect(browser.complaints).toEqual([]);
  });

  // The colours and places do not depend on the language, except for the direction.
  it.each([
    ['light', 1280, ['en', 'ar']],
    ['dark', 360, LANGUAGES],
  ] as const)(
    'have no accessibility faults, %s and %d pixels wide, in the languages %j',
    async (scheme, width, languages) => {
      const { page } = browser;
      await page.setViewport({ width, height: 800 });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      const { api } = await branded();
      for (const locale of languages) {
        const { links } = await contactWith(locale, api);
        for (const url of [links.unsubscribeUrl, links.manageUrl, links.subscribeUrl, links.manageUrl.slice(0, -1)]) {
          await page.goto(url);
          expect([url, await accessibilityFaults(page)]).toEqual([url, []]);
        }
      }
    },
  );

  it('name the sender, with logo and postal address, and write names and addresses in their own direction', async () => {
    const { page } = browser;
    const { api } = await branded();
    const { links } = await contactWith('ar', api);
    await page.goto(links.unsubscribeUrl);
    expect(await page.title()).toBe('إلغاء الاشتراك · Tea & <Co>');
    const read = (selector: string) => page.$eval(selector, (element) => element.textContent);
    expect(await read('header')).toBe('Tea & <Co>');
    expect(await read('footer')).toBe('1 High StreetLondon');
    expect(await page.$$eval('p bdi', (names) => names.map((name) => name.textContent))).toContain('Tea & <Co>');
    expect(await page.$eval('img', (image) => image.getAttribute('src'))).toBe('https://pics.test/logo.png');
    const policy = (await fetch(links.manageUrl)).headers.get('content-security-policy');
    expect(policy).toMatch(/; img-src https:\/\/pics\.test$/);
    expect(
      (await fetch((await contactWith('en')).links.manageUrl)).headers.get('content-security-policy'),
    ).not.toContain('img-src');
  });

  it('have the colour of the sender, with a text that can be read on it', async () => {
    const { page } = browser;
    const { api, keys } = await branded();
    const { links } = await contactWith('en', api);
    const colors = `(({ backgroundColor, color }) => [backgroundColor, color])(getComputedStyle(document.querySelector('button')))`;
    for (const url of [links.unsubscribeUrl, links.manageUrl, `${app.url}/subscribe-form/${keys.publicKey}`]) {
      await page.goto(url);
      expect([url, await page.evaluate(colors)]).toEqual([url, ['rgb(255, 212, 0)', 'rgb(0, 0, 0)']]);
    }
    await page.goto(`${app.url}/archive/${keys.publicKey}`);
    const accent = await page.evaluate(`getComputedStyle(document.documentElement).getPropertyValue('--accent')`);
    for (const ground of ['#fbfbfc', '#15181d']) {
      expect(tokensCss).toContain(ground);
      expect(accent).toContain(readableOn('#ffd400', ground));
    }
  });

  it('show the name of the project when it has no display name', async () => {
    const { links } = await contactWith('en');
    expect(await (await fetch(links.unsubscribeUrl)).text()).toContain('newsletters from <bdi>Test</bdi>');
  });

  it('are in the language of the contact, or else of the browser, or else of the project', async () => {
    const { api } = await branded();
    const languageOf = async (locale: string | undefined, accept: string) => {
      const { links } = await contactWith(locale, api);
      return (await fetch(links.manageUrl, { headers: { 'accept-language': accept } })).headers.get('content-language');
    };
    expect(await languageOf('ja-JP', 'de')).toBe('ja');
    expect(await languageOf(undefined, 'sv, it;q=0.3, nl;q=0.4')).toBe('nl');
    expect(await languageOf('sv', 'sv')).toBe('he');
  });

  it('have a title that states the result when there is nothing to ask', async () => {
    const { links } = await contactWith('en');
    const titleAt = async (url: string, method: string) =>
      /<h1>(.*)<\/h1>/.exec(await (await fetch(url, { method })).text())?.[1];
    expect(await titleAt(links.subscribeUrl, 'GET')).toBe('You are subscribed');
    expect(await titleAt(links.unsubscribeUrl, 'GET')).toBe('Unsubscribe');
    expect(await titleAt(links.unsubscribeUrl, 'POST')).toBe('You are unsubscribed');
    expect(await titleAt(links.unsubscribeUrl, 'GET')).toBe('You are unsubscribed');
    expect(await titleAt(links.subscribeUrl, 'GET')).toBe('Subscribe');
  });

  it('manage a subscription from one page, and say so when a link is broken', async () => {
    const { page } = browser;
    const { links, isSubscribed } = await contactWith('en');
    await page.goto(links.manageUrl);
    await page.focus('button[name=all]');
    await pressEnter(page);
    expect(await isSubscribed()).toBe(false);
    expect((await page.goto(links.manageUrl.slice(0, -1)))?.status()).toBe(404);
    expect(await page.evaluate('document.querySelector("h1").textContent')).toBe('This link does not work');
  });
});
