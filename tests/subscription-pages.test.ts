import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page, SerializedAXNode } from 'puppeteer-core';
import { v7 as uuidV7 } from 'uuid';
import { LOCALES } from '../shared/pure/contacts/locale.ts';
import { createLinkSigner } from '../shared/platform/links.ts';
import { startTestApi, type TestApi } from './support/api.ts';
import { startBrowser, type TestBrowser } from './support/browser.ts';

let app: TestApi;
let browser: TestBrowser;
beforeAll(async () => {
  [app, browser] = await Promise.all([startTestApi(), startBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await app.stop();
});

const UNSUBSCRIBE = {
  en: 'Unsubscribe',
  de: 'Abmelden',
  fr: 'Se désabonner',
  es: 'Darse de baja',
  nl: 'Afmelden',
  pt: 'Cancelar a inscrição',
};

async function contactWith(locale: string) {
  const { body } = await app.api('POST', '/contacts', {
    body: { email: `${'long-'.repeat(5)}${uuidV7()}@mail.test`, data: { locale } },
  });
  const signer = createLinkSigner({ appSecret: app.config.APP_SECRET, publicUrl: app.url });
  const links = signer.recipientUrls({ contactId: body.id, emailId: uuidV7() });
  return { links, isSubscribed: async () => (await app.api('GET', `/contacts/${body.id}`)).body.subscribed as boolean };
}

async function pressEnter(page: Page): Promise<void> {
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
}

/** Roles and names of what assistive technology sees. */
function flatten(nodes: SerializedAXNode[]): { role: string; name: string }[] {
  return nodes.flatMap(({ role, name, children }) => [{ role, name: name ?? '' }, ...flatten(children ?? [])]);
}

describe('the subscription pages in a browser', () => {
  it.each(LOCALES)('unsubscribe and subscribe again with the keyboard alone, on a phone, in %s', async (locale) => {
    const { page } = browser;
    const { links, isSubscribed } = await contactWith(locale);
    expect((await page.goto(links.unsubscribeUrl))?.status()).toBe(200);
    expect(await isSubscribed()).toBe(true);

    const shape = (await page.evaluate(`({
      lang: document.documentElement.lang,
      isWide: document.documentElement.scrollWidth > innerWidth,
      buttonHeight: document.querySelector('button').getBoundingClientRect().height,
      isStyled: getComputedStyle(document.querySelector('button')).backgroundColor,
    })`)) as { buttonHeight: number };
    expect(shape).toEqual({
      lang: locale,
      isWide: false,
      buttonHeight: expect.any(Number),
      isStyled: 'rgb(26, 86, 219)',
    });
    expect(shape.buttonHeight).toBeGreaterThanOrEqual(44);
    const tree = await page.accessibility.snapshot({ interestingOnly: false });
    const nodes = flatten(tree?.children ?? []);
    expect(nodes).toContainEqual({ role: 'heading', name: UNSUBSCRIBE[locale] });
    expect(nodes).toContainEqual({ role: 'button', name: UNSUBSCRIBE[locale] });
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

  it('manage a subscription from one page, and say so when a link is broken', async () => {
    const { page } = browser;
    const { links, isSubscribed } = await contactWith('en');
    await page.goto(links.manageUrl);
    await page.keyboard.press('Tab');
    await pressEnter(page);
    expect(await isSubscribed()).toBe(false);
    expect((await page.goto(links.manageUrl.slice(0, -1)))?.status()).toBe(404);
    expect(await page.evaluate('document.querySelector("h1").textContent')).toBe('This link does not work');
  });
});
