import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { HTTPRequest } from 'puppeteer-core';
import { startTestApi, type TestApi } from './support/api.ts';
import { createAutomation } from './support/automations.ts';
import { startBrowser, type TestBrowser } from './support/browser.ts';
import { consolePage, type ConsolePage } from './support/console-page.ts';
import { fillConsole, HOSTILE, pagesOf, type ConsoleWorld } from './support/console-world.ts';
import { query, sql } from '../shared/database/sql.ts';
import { eventually } from './support/eventually.ts';

let app: TestApi;
let browser: TestBrowser;
let operator: ConsolePage;
let world: ConsoleWorld;
beforeAll(async () => {
  [app, browser] = await Promise.all([startTestApi({ config: { apiUrl: 'http://localhost' } }), startBrowser()]);
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
    expect(await operator.text()).toContain('Where do I find a key?');
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

  it('shows every value as text, on every page', async () => {
    await operator.enter(app.url, app.keys.secretKey);
    for (const [place, wanted] of pagesOf(world)) {
      await operator.go(`#/${place}`);
      await operator.says(wanted);
      // The icon is the only image; the title is that of the page.
      expect([place, await browser.page.evaluate('document.querySelectorAll("img:not(.brand img)").length')]).toEqual([
        place,
        0,
      ]);
      expect([place, await browser.page.title()]).toEqual([place, expect.stringMatching(/ – Everpost$/)]);
    }
  });

  it('says why a warm-up repeats a day', async () => {
    await operator.enter(app.url, app.keys.secretKey);
    await operator.go('#/deliverability');
    // A phone shows, too, which source a row is about.
    await operator.says('relay-2');
    await operator.says(
      'Warm-up of relay-1 at gmail.com: 2026-02-03 is repeated: 2 % of the accepted emails were reported',
    );
  });

  it('moves nothing while a page loads', async () => {
    await browser.page.setViewport({ width: 1_440, height: 900 });
    await operator.enter(app.url, app.keys.secretKey);
    await operator.settles();
    const shifts: [string, unknown][] = [];
    for (const place of ['emails', 'today', 'contacts', 'campaigns', 'automations', `emails/${world.bobEmailId}`]) {
      await browser.page.evaluate(`
        window.shifted = 0;
        window.watcher?.disconnect();
        window.watcher = new PerformanceObserver((list) => {
          for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifted += value;
        });
        window.watcher.observe({ type: 'layout-shift' });`);
      await operator.go(`#/${place}`);
      await operator.settles();
      shifts.push([place, await browser.page.evaluate('window.shifted')]);
    }
    // Below 0.1, people notice nothing.
    expect(shifts.filter(([, sum]) => Number(sum) > 0.1)).toEqual([]);
    await browser.page.setViewport({ width: 320, height: 640, isMobile: true });
  });

  it('shows the HTML of an email in a frame that runs nothing and loads nothing', async () => {
    const asked: string[] = [];
    const note = (request: HTTPRequest) => void asked.push(request.url());
    browser.page.on('requestfinished', note);
    const attack = `<script>parent.document.title = 'ran'</script><img src="https://evil.test/x.png" onerror="alert(1)">
      <link rel="stylesheet" href="https://evil.test/x.css"><meta http-equiv="refresh" content="0; url=https://evil.test/">
      <form action="https://evil.test/"><button>Go</button></form><p style="color: rgb(1, 2, 3)" id="end">End</p>`;
    await query(app.em(), sql`update email_content set html = ${attack} where email_id = ${world.adaEmailId}`);
    await operator.enter(app.url, app.keys.secretKey);
    await operator.go(`#/emails/${world.adaEmailId}`);
    const frame = await (await browser.page.waitForSelector('iframe.preview'))!.contentFrame();
    await frame.waitForSelector('#end');
    // Its own styles hold, and nothing else that it brought.
    expect(await frame.evaluate('getComputedStyle(document.querySelector("#end")).color')).toBe('rgb(1, 2, 3)');
    expect(await frame.evaluate('[document.scripts.length, self.origin]')).toEqual([0, 'null']);
    await operator.settles();
    expect(asked.filter((url) => !url.startsWith(app.url))).toEqual([]);
    expect(await browser.page.title()).toBe('Emails – Everpost');
    browser.page.off('requestfinished', note);
    browser.complaints.splice(0);
  });

  it('asks for another key when one ends, and keeps the place', async () => {
    const { body: key } = await app.api('POST', '/keys', { body: { name: 'Short', role: 'read' } });
    await operator.enter(app.url, key.key ?? key.data.key);
    await operator.go(`#/contacts/${world.adaId}`);
    await operator.says('plan');
    await app.api('DELETE', `/keys/${key.id ?? key.data.id}`);
    await operator.go(`#/contacts/${world.adaId}?tab=consent`);
    await operator.says('This key has ended');
    await browser.page.type('dialog #key', app.keys.secretKey);
    await browser.page.keyboard.press('Enter');
    await browser.page.waitForSelector('dialog', { hidden: true });
    await operator.says('Suppressed');
    expect(await browser.page.evaluate('location.hash')).toBe(`#/contacts/${world.adaId}?tab=consent`);
  });

  it('says what a key may not do', async () => {
    const { body: key } = await app.api('POST', '/keys', { body: { name: 'Reads', role: 'support' } });
    await operator.enter(app.url, key.key ?? key.data.key);
    await operator.go('#/campaigns');
    await operator.says('A key with the role "support" may not call GET /campaigns');
    await operator.says('Sign in with a key that may do this');
  });

  it('offers only the pages and actions that a key may use', async () => {
    const keyOf = async (role: string) => (await app.api('POST', '/keys', { body: { name: role, role } })).body.key;
    const offered = async (name: string) => {
      const names = await browser.page.$$eval('a, button', (all) => all.map((each) => each.textContent?.trim()));
      return names.includes(name);
    };
    const atContact = async (key: string) => {
      await operator.enter(app.url, key);
      await operator.go(`#/contacts/${world.adaId}`);
      await operator.settles();
      const names = ['Contacts', 'Campaigns', 'Keys', 'Lift suppression', 'Erase', 'Sign out'];
      return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await offered(name)])));
    };
    const all = {
      Contacts: true,
      Campaigns: true,
      Keys: true,
      'Lift suppression': true,
      Erase: true,
      'Sign out': true,
    };
    expect(await atContact(app.keys.secretKey)).toEqual(all);
    expect(await atContact(await keyOf('support'))).toEqual({ ...all, Campaigns: false, Keys: false, Erase: false });
    const reader = await keyOf('read');
    expect(await atContact(reader)).toEqual({ ...all, 'Lift suppression': false, Erase: false });
    await operator.go('#/settings');
    await operator.says('Postal address');
    expect([
      await offered('Save'),
      await browser.page.$eval('#displayName', (field) => field.matches(':disabled')),
    ]).toEqual([false, true]);
  });

  it('does not say that all is well of what a key may not read', async () => {
    const owner = await app.createProject();
    await operator.enter(app.url, owner.keys.secretKey);
    await operator.says('Needs attention');
    const { body: support } = await owner.api('POST', '/keys', { body: { name: 'Support', role: 'support' } });
    await operator.enter(app.url, support.key);
    await operator.says('Nothing of what this key may read needs attention');
    await operator.settles();
    expect(await operator.text()).not.toContain('may not call');
  });

  it('shows the message of the API for a record that does not exist', async () => {
    await operator.go('#/emails/019a0000-0000-7000-8000-000000000000');
    await operator.says('Email not found');
    await operator.go('#/nowhere');
    await operator.says('There is no such page');
    await operator.go('#/parts');
    await operator.says('Pills');
  });

  it('says when the API cannot be reached, and continues when it can be reached again', async () => {
    await operator.enter(app.url, app.keys.secretKey);
    await browser.page.setOfflineMode(true);
    // The call returns before the network process of the browser is offline.
    await eventually(() => browser.page.evaluate("fetch('/health').then(() => false, () => true)") as Promise<boolean>);
    try {
      await operator.go('#/domains');
      await operator.says('The API cannot be reached');
      await operator.click('Retry');
      await operator.says('The API cannot be reached');
    } finally {
      await browser.page.setOfflineMode(false);
    }
    // The page asks again by itself.
    await operator.says('shop.test');
  });

  it('can be used with the keyboard alone, and restores the focus after a dialog', async () => {
    const { page } = browser;
    const focused = () => page.evaluate('document.activeElement.textContent.trim()') as Promise<string>;
    await operator.enter(app.url, app.keys.secretKey);
    await operator.go('#/campaigns');
    await operator.says('Spring');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    await page.keyboard.press('j');
    expect(await focused()).toContain('Spring');
    await page.keyboard.press('Enter');
    await operator.says('Not reached');
    await operator.settles();
    await page.keyboard.press('Tab');
    while ((await focused()) !== 'Pause') await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await operator.says('It stops at once and keeps its place');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { hidden: true });
    expect(await focused()).toBe('Pause');
    await page.keyboard.press('?');
    await operator.says('Next and previous row');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { hidden: true });
    await page.keyboard.press('Escape');
    await eventually(async () => (await page.evaluate('location.hash')) === '#/campaigns');
    expect((await app.api('GET', `/campaigns/${world.campaignId}`)).body.paused).toBe(false);
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
    await operator.says('Saved');
    const settings = { displayName: HOSTILE, logoUrl: 'https://shop.test/logo.png', language: 'de' };
    expect(await project()).toMatchObject({ ...settings, postalAddress: 'Tea & Co\nMain Street 1' });

    await fill('#displayName', '');
    await page.select('#language', '');
    await operator.click('Save');
    await eventually(async () => (await project()).displayName === null);
    expect(await project()).toMatchObject({ ...settings, displayName: null, language: null });
  });

  it('says where opens and clicks of machines do not count', async () => {
    const steps = {
      opened: {
        type: 'WAIT_FOR_EVENT',
        config: { eventName: 'email.open', humanOnly: true },
        branches: { event: 'clicked' },
      },
      clicked: { type: 'WAIT_FOR_EVENT', config: { eventName: 'email.click' } },
    };
    const people = await createAutomation(app, 'email.click', steps, { name: 'Of people', humanOnly: true });
    const all = await createAutomation(app, 'email.click', {}, { name: 'Of all' });
    await operator.enter(app.url, app.keys.secretKey);
    await operator.go('#/automations');
    await operator.says('email.click, people only');
    await operator.go(`#/automations/${people}`);
    await operator.says('Starts with email.click, people only');
    const kinds =
      '[...document.querySelectorAll(".graph text.kind")].map((text) => text.textContent.trim()).filter(Boolean)';
    expect(await browser.page.evaluate(`${kinds}.sort().join("; ")`)).toBe(
      'Trigger, people only; Wait for event; Wait for event, people only',
    );
    await operator.go(`#/automations/${all}`);
    await operator.says('Of all');
    expect(await operator.text()).not.toContain('people only');
  });

  it('creates and changes topics', async () => {
    const { page } = browser;
    const topic = async () => (await app.api('GET', '/topics?search=offers')).body.data[0];
    await operator.enter(app.url, app.keys.secretKey);
    await operator.go('#/topics');
    await operator.click('Create topic');
    await page.waitForSelector('dialog #key');
    await fill('dialog #key', 'offers');
    await fill('#name-new', 'Offers');
    await page.select('#defaultSubscription', 'opt_out');
    await page.click('dialog .primary');
    await eventually(async () => (await topic()) !== undefined);
    expect(await topic()).toMatchObject({ name: 'Offers', description: null, defaultSubscription: 'opt_out' });
  });

  it('creates a key and shows it once', async () => {
    const { page } = browser;
    await operator.enter(app.url, app.keys.secretKey);
    await operator.go('#/keys');
    await operator.click('Create key');
    await page.waitForSelector('dialog #name');
    await page.type('dialog #name', 'Shop');
    await page.type('dialog #senderDomains', 'example.com, mail.example.com');
    await page.evaluate('document.querySelector("dialog #expires").value = "2099-02-01"');
    await page.click('dialog .primary');
    await operator.says(/sk_[0-9a-f]{20}/);
    const { body: keys } = await app.api('GET', '/keys');
    const shop = keys.find(({ name }: { name: string }) => name === 'Shop');
    expect(shop).toMatchObject({
      role: 'send',
      senderDomains: ['example.com', 'mail.example.com'],
      expiresAt: '2099-02-01T00:00:00.000Z',
    });
    // What is shown again replaces the button.
    await eventually(() => page.click('dialog .primary').then(() => true));
    await page.waitForSelector('dialog', { hidden: true });
    expect(await operator.text()).not.toMatch(/sk_[0-9a-f]{20}/);
    await app.api('PATCH', `/keys/${shop.id}`, { body: { name: '' } });
    await operator.go('#/keys');
    await operator.click('Shop');
    await operator.says('No entry fits');
    await operator.go(`#/audit?subjectId=${shop.id}`);
    await operator.says('Create key');
    await operator.says(/Update key.*Refused/s);
    await operator.go(`#/audit?subjectId=${shop.id}&outcome=done`);
    await eventually(async () => !(await operator.text()).includes('Update key'));
    expect(await operator.text()).toContain('Create key');
  });

  it('pauses a campaign, and tells how many a resend would reach before it sends', async () => {
    await operator.enter(app.url, app.keys.secretKey);
    await operator.go(`#/campaigns/${world.campaignId}`);
    await operator.click('Pause');
    await browser.page.waitForSelector('dialog .primary');
    await browser.page.click('dialog .primary');
    await operator.says('Resume');
    await query(app.em(), sql`update campaign set status = 'SENT', paused_at = null where id = ${world.campaignId}`);
    await operator.enter(app.url, app.keys.secretKey);
    await operator.go(`#/campaigns/${world.campaignId}`);
    await operator.click('Send again');
    await operator.says('0 of 40 can get it.');
    expect(await browser.page.$eval('dialog .primary', (button) => button.hasAttribute('disabled'))).toBe(true);
  });
});
