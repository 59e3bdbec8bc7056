import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { HTTPRequest } from 'puppeteer-core';
import { startTestApi, type TestApi } from './support/api.ts';
import { startBrowser, type TestBrowser } from './support/browser.ts';
import { consolePage, type ConsolePage } from './support/console-page.ts';
import { bounceWords, fillConsole, HOSTILE, type ConsoleWorld } from './support/console-world.ts';
import { eventually } from './support/eventually.ts';

let app: TestApi;
let browser: TestBrowser;
let operator: ConsolePage;
let world: ConsoleWorld;
beforeAll(async () => {
  [app, browser] = await Promise.all([startTestApi(), startBrowser()]);
  world = await fillConsole(app);
  operator = consolePage(browser.page);
});
afterAll(async () => {
  await browser.close();
  await app.stop();
});
// The browser logs every 4xx answer; the page shows these errors itself.
const isAnswer = (complaint: string) => complaint.startsWith('Failed to load resource');
afterEach(() => expect(browser.complaints.splice(0).filter((one) => !isAnswer(one))).toEqual([]));

const fill = async (field: string, text: string) => {
  const { page } = browser;
  await page.click(field, { count: 3 });
  await page.keyboard.press('Backspace');
  await page.type(field, text);
};

describe('the console', () => {
  it('keeps the key in memory only', async () => {
    await operator.enter(app.url, app.keys.secretKey);
    const kept = await browser.page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, document.body.innerHTML])',
    );
    expect(kept).not.toContain(app.keys.secretKey);
    await browser.page.reload();
    await browser.page.waitForSelector('#key');
    expect(await operator.text()).toContain('Secret key of the project');
  });

  it('shows the message of the API for a wrong key', async () => {
    await browser.page.goto(`${app.url}/console`);
    await browser.page.waitForSelector('#key');
    await browser.page.type('#key', app.keys.publicKey);
    await browser.page.keyboard.press('Enter');
    const { body } = await app.api('GET', '/contacts', { key: 'public' });
    await operator.says(body.error.message);
    await operator.says(body.error.suggestion);
  });

  it('shows every value as text, also one with markup', async () => {
    await operator.enter(app.url, app.keys.secretKey);
    await operator.find(world.adaEmailId);
    await operator.says(bounceWords());
    await operator.says(`Receipt ${HOSTILE}`);
    await operator.go(`#/campaigns/${world.campaignId}`);
    await operator.says(`Spring ${HOSTILE}`);
    await operator.says(`Only to those who have the topic “News ${HOSTILE}”.`);
    expect(await browser.page.evaluate('[document.images.length, document.title]')).toEqual([
      0,
      'Campaigns – Everpost console',
    ]);
  });

  it('hides table headers on a phone, where each cell names its column', async () => {
    await operator.enter(app.url, app.keys.secretKey);
    for (const [place, wanted] of [
      ['today', 'Refused today'],
      [`workflows/${world.workflowId}`, '2 failed'],
    ] as const) {
      await operator.go(`#/${place}`);
      await operator.says(wanted);
      await browser.page.waitForSelector('thead');
      const widths = `[...document.querySelectorAll('thead')].map((head) => head.getBoundingClientRect().width)`;
      expect(Math.max(...((await browser.page.evaluate(widths)) as number[]))).toBeLessThanOrEqual(1);
    }
  });

  it('shows the message of the API for a record that does not exist', async () => {
    await operator.go('#/emails/019a0000-0000-7000-8000-000000000000');
    await operator.says('Email not found');
    await operator.go('#/nowhere');
    await operator.says('There is no such page');
  });

  it('says when the API cannot be reached, and continues when it can be reached again', async () => {
    await operator.enter(app.url, app.keys.secretKey);
    await browser.page.setOfflineMode(true);
    // The call returns before the network process of the browser is offline.
    await eventually(async () => (await browser.page.evaluate('navigator.onLine')) === false);
    try {
      await operator.go('#/domains');
      await operator.says('The API cannot be reached');
    } finally {
      await browser.page.setOfflineMode(false);
    }
    await operator.click('Try again');
    await operator.says('shop.test');
  });

  it('can be used with the keyboard alone, and restores the focus after a dialog', async () => {
    const { page } = browser;
    const focused = () => page.evaluate('document.activeElement.textContent') as Promise<string>;
    await operator.enter(app.url, app.keys.secretKey);
    await operator.go(`#/campaigns/${world.campaignId}`);
    await page.waitForSelector('button.danger');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    await page.keyboard.press('Tab');
    while ((await focused()) !== 'Cancel for good') await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await operator.says('Who has not had it never gets it.');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { hidden: true });
    expect(await focused()).toBe('Cancel for good');
    expect((await app.api('GET', `/campaigns/${world.campaignId}`)).body.status).toBe('SENDING');
  });

  it('changes what recipients see of the project, and shows errors of the API', async () => {
    const { page } = browser;
    const project = async () => (await app.api('GET', '/users/@me/projects')).body[0];
    await operator.enter(app.url, app.keys.secretKey);
    await operator.go('#/settings');
    await page.waitForSelector('#logoUrl');
    await fill('#displayName', HOSTILE);
    await fill('#logoUrl', 'http://shop.test/logo.png');
    await page.select('#language', 'de');
    await operator.click('Save');
    await operator.says('logoUrl: Must be an https:// address of a picture');
    expect(await project()).toMatchObject({ displayName: null, language: null });

    await fill('#logoUrl', 'https://shop.test/logo.png');
    await page.type('#postalAddress', 'Tea & Co\nMain Street 1');
    await operator.click('Save');
    await operator.says('Saved.');
    const settings = { displayName: HOSTILE, logoUrl: 'https://shop.test/logo.png', language: 'de' };
    expect(await project()).toMatchObject({ ...settings, postalAddress: 'Tea & Co\nMain Street 1' });

    await fill('#displayName', '');
    await page.select('#language', '');
    await operator.click('Save');
    await eventually(async () => (await project()).displayName === null);
    expect(await project()).toMatchObject({ ...settings, displayName: null, language: null });
  });

  it('creates, changes and deletes topics', async () => {
    const { page } = browser;
    const topic = async () => (await app.api('GET', '/topics?search=offers')).body.data[0];
    await operator.enter(app.url, app.keys.secretKey);
    await operator.go('#/topics');
    await page.waitForSelector('#key');
    await fill('#key', 'offers');
    await fill('#name-new', 'Offers');
    await page.select('#default', 'opt_out');
    await operator.click('Create');
    await page.waitForSelector('#name-offers');
    expect(await topic()).toMatchObject({ name: 'Offers', description: null, defaultSubscription: 'opt_out' });
    expect(await page.$eval('#key', (field) => (field as { value?: string }).value)).toBe('');

    await fill('#name-offers', 'Our offers');
    await page.type('#description-offers', 'Once a month');
    await page.select('#visibility-offers', 'private');
    await page.select('#confirmed-offers', 'false');
    await page.focus('#name-offers');
    await page.keyboard.press('Enter');
    await eventually(async () => (await topic()).name === 'Our offers');
    expect(await topic()).toMatchObject({ description: 'Once a month', visibility: 'private', doubleOptIn: false });
  });

  it('shows the button of an action only where the API offers the action', async () => {
    const { page } = browser;
    const asked: string[] = [];
    let allowed = '';
    const answer = async (request: HTTPRequest): Promise<void> => {
      const [, verb] = /\/campaigns\/[^/]+\/(pause|resend)$/.exec(request.url()) ?? [];
      if (verb === undefined) return request.continue();
      const method = request.method();
      if (method !== 'OPTIONS') asked.push(`${method} ${verb} ${await request.fetchPostData()}`);
      const status = method === 'OPTIONS' ? (allowed === '' ? 404 : 204) : 200;
      await request.respond({ status, headers: { Allow: allowed }, contentType: 'application/json', body: '{}' });
    };
    await page.setRequestInterception(true);
    const onRequest = (request: HTTPRequest) => void answer(request);
    page.on('request', onRequest);
    await operator.enter(app.url, app.keys.secretKey);
    await operator.go(`#/campaigns/${world.campaignId}`);
    expect(await operator.says('Recipients that are bounced')).not.toMatch(/Pause|Send again/);

    allowed = 'POST';
    await operator.enter(app.url, app.keys.secretKey);
    await operator.go(`#/campaigns/${world.campaignId}`);
    for (const label of ['Pause', 'Send again to all that are bounced']) {
      await operator.click(label);
      await page.waitForSelector('dialog[open]');
      await page.click('dialog .choices button');
      await page.waitForSelector('dialog', { hidden: true });
    }
    expect(asked).toEqual(['POST pause {}', 'POST resend {"states":["BOUNCED"]}']);
    page.off('request', onRequest);
    await page.setRequestInterception(false);
  });
});
