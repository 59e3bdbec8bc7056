import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from './support/api.ts';
import { startBrowser, type TestBrowser } from './support/browser.ts';
import { consolePage, type ConsolePage } from './support/console-page.ts';
import { bounceWords, fillConsole, HOSTILE, type ConsoleWorld } from './support/console-world.ts';

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
// The browser reports every 4xx that a page is told; the page shows them.
const isAnswer = (complaint: string) => complaint.startsWith('Failed to load resource');
afterEach(() => expect(browser.complaints.splice(0).filter((one) => !isAnswer(one))).toEqual([]));

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

  it('shows what the API says of a key that is not right', async () => {
    await browser.page.goto(`${app.url}/console`);
    await browser.page.waitForSelector('#key');
    await browser.page.type('#key', app.keys.publicKey);
    await browser.page.keyboard.press('Enter');
    const { body } = await app.api('GET', '/contacts', { key: 'public' });
    await operator.says(body.error.message);
    await operator.says(body.error.suggestion);
  });

  it('shows every value as text, also that of a hostile person', async () => {
    await operator.enter(app.url, app.keys.secretKey);
    await operator.find(world.adaEmailId);
    await operator.says(bounceWords());
    await operator.says(`Receipt ${HOSTILE}`);
    await operator.go(`#/campaigns/${world.campaignId}`);
    await operator.says(`Spring ${HOSTILE}`);
    expect(await browser.page.evaluate('[document.images.length, document.title]')).toEqual([
      0,
      'Campaigns – Everpost console',
    ]);
  });

  it('says what the API says where something is not there', async () => {
    await operator.go('#/emails/019a0000-0000-7000-8000-000000000000');
    await operator.says('Email not found');
    await operator.go('#/nowhere');
    await operator.says('There is no such page');
  });
});
