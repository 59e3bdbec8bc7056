import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { LOCALES } from '../shared/pure/locale.ts';
import { createLinkSigner } from '../shared/platform/links.ts';
import { startBrowser, type Browser } from './support/chromium.ts';
import { startTestApi, type TestApi } from './support/api.ts';

let app: TestApi;
let browser: Browser;
beforeAll(async () => {
  [app, browser] = await Promise.all([startTestApi(), startBrowser()]);
}, 420_000);
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

describe('the subscription pages in a browser', () => {
  it.each(LOCALES)('unsubscribe and subscribe again with the keyboard alone, on a phone, in %s', async (locale) => {
    const { page } = browser;
    const { links, isSubscribed } = await contactWith(locale);
    expect(await page.open(links.unsubscribeUrl)).toBe(200);
    expect(await isSubscribed()).toBe(true);

    const shape = await page.evaluate(`({
      lang: document.documentElement.lang,
      isWide: document.documentElement.scrollWidth > innerWidth,
      buttonHeight: document.querySelector('button').getBoundingClientRect().height,
      isStyled: getComputedStyle(document.querySelector('button')).backgroundColor,
    })`);
    expect(shape).toEqual({
      lang: locale,
      isWide: false,
      buttonHeight: expect.any(Number),
      isStyled: 'rgb(26, 86, 219)',
    });
    expect(shape.buttonHeight).toBeGreaterThanOrEqual(44);
    const nodes = await page.accessibleNodes();
    expect(nodes).toContainEqual({ role: 'heading', name: UNSUBSCRIBE[locale] });
    expect(nodes).toContainEqual({ role: 'button', name: UNSUBSCRIBE[locale] });
    expect(nodes.map((node) => node.role)).toContain('main');

    await page.press('Tab');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('BUTTON');
    await page.pressEnterAndWait();
    expect(await isSubscribed()).toBe(false);
    expect(await page.evaluate("document.querySelector('[role=status]').textContent.length > 20")).toBe(true);

    await page.press('Tab');
    await page.pressEnterAndWait();
    expect(await isSubscribed()).toBe(true);
    expect(await page.evaluate('location.pathname.split("/")[1]')).toBe('subscribe');
    expect(page.complaints()).toEqual([]);
  });

  it('manage a subscription from one page, and say so when a link is broken', async () => {
    const { page } = browser;
    const { links, isSubscribed } = await contactWith('en');
    await page.open(links.manageUrl);
    await page.press('Tab');
    await page.pressEnterAndWait();
    expect(await isSubscribed()).toBe(false);
    expect(await page.open(links.manageUrl.slice(0, -1))).toBe(404);
    expect(await page.evaluate('document.querySelector("h1").textContent')).toBe('This link does not work');
  });
});
