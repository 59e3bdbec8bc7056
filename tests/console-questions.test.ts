import axe from 'axe-core';
import { v7 as uuidV7 } from 'uuid';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { query, sql } from '../shared/database/sql.ts';
import { startTestApi, type TestApi } from './support/api.ts';
import { startBrowser, type TestBrowser } from './support/browser.ts';
import { consolePage, type ConsolePage } from './support/console-page.ts';
import { bounceWords, fillConsole, HOSTILE, type ConsoleWorld } from './support/console-world.ts';

const TEMPORAL_UI_URL = 'https://temporal.test/namespaces/default';
const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const WIDTHS = { phone: 390, desk: 1_440, wall: 3_840 };

/** The violations that axe-core finds, and whether the page is wider than its window. */
const OBJECTIONS = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => [
  ...violations.map(({ id, nodes }) => id + ' ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(' ')),
  ...(document.documentElement.scrollWidth > innerWidth ? ['too wide'] : []),
])`;

let app: TestApi;
let browser: TestBrowser;
let operator: ConsolePage;
let world: ConsoleWorld;
beforeAll(async () => {
  [app, browser] = await Promise.all([startTestApi({ config: { TEMPORAL_UI_URL } }), startBrowser()]);
  world = await fillConsole(app);
  operator = consolePage(browser.page);
  await browser.page.setViewport({ width: WIDTHS.desk, height: 900 });
});
afterAll(async () => {
  await browser.close();
  await app.stop();
});
afterEach(() => expect(operator.clicks()).toBeLessThanOrEqual(2));

const enter = () => operator.enter(app.url, app.keys.secretKey);

describe('an operator finds in two clicks at most', () => {
  it('why somebody did not get an email', async () => {
    await enter();
    await operator.find('ada@mail.test');
    await operator.says(bounceWords());
    expect(operator.clicks()).toBe(0);
  });

  it('why somebody is not subscribed', async () => {
    await enter();
    await operator.find('ada@mail.test');
    await operator.says('The contact has never been subscribed');
    const [{ id }] = (await app.api('GET', '/contacts?search=ada@mail.test')).body.data;
    for (const subscribed of [true, false]) await app.api('PATCH', `/contacts/${id}`, { body: { subscribed } });
    await enter();
    await operator.find('ada@mail.test');
    await operator.says('The contact was unsubscribed by the request PATCH /contacts/:id');
  });

  it('where an email is now, and why it waits', async () => {
    await enter();
    await operator.find(world.bobEmailId);
    await operator.says('The server asked for another attempt later');
    await operator.says('451 4.7.1 greylisted, try again later');
  });

  it('how to let an address get email again, without the address in a URL, which proxies log', async () => {
    await enter();
    const urls: string[] = [];
    browser.page.on('request', (request) => urls.push(decodeURIComponent(request.url().replace(/#.*/, ''))));
    await operator.find('ada@mail.test');
    await operator.says(/Suppressed as hard bounce/);
    await operator.click('Let it have email again');
    await browser.page.click('dialog .choices button');
    await operator.says('The address is not suppressed.');
    expect((await app.api('GET', '/suppressions')).body.suppressions).toEqual([]);
    expect(urls.length).toBeGreaterThan(3);
    expect(urls.filter((url) => url.includes('ada'))).toEqual([]);
  });

  it('how far a campaign is', async () => {
    await enter();
    await operator.click('Campaigns');
    await operator.says('Campaigns, newest first');
    await operator.click(`Spring ${HOSTILE}`);
    await operator.says(/\d+ of 120 recipients are done/);
  });

  it('who did not get a campaign, and why', async () => {
    await enter();
    await operator.click('Campaigns');
    await operator.says('Campaigns, newest first');
    await operator.click(`Spring ${HOSTILE}`);
    await operator.says('Recipients that are bounced');
    await operator.says('550 5.7.1 refused for spam');
  });

  it('how much went out today, and how many complained', async () => {
    await enter();
    await operator.says('Accepted by servers today');
    await operator.says(/Complaint rate of 30 days\s+0.0 % \(goal below 0.1 %, limit 0.3 %\)/);
  });

  it('how much is waiting, and since when', async () => {
    await enter();
    await operator.says(/Emails that wait\s+21/);
    await operator.says(/The oldest is due for\s+5 min/);
  });

  it('which provider refuses, and with which words', async () => {
    await enter();
    await operator.says('Refused today, by provider');
    await operator.says('550 5.7.1 refused for spam');
  });

  it('which DNS record of a domain is missing', async () => {
    await enter();
    await operator.click('Domains');
    await operator.says(/DKIM, TXT[\s\S]*missing/);
    const states = await browser.page.$$eval('h2 .state.busy', (found) => found.map(({ textContent }) => textContent));
    expect(states).toContain('trusted, unsigned');
  });

  it('which executions have failed, where, why, and what Temporal knows of them', async () => {
    await enter();
    await operator.click('Workflows');
    await operator.says('Workflows, newest first');
    await operator.click('Welcome');
    await operator.says('The webhook answered 500');
    await operator.says('2 failed');
    const links = await browser.page.$$eval('a[href^="https://temporal.test"]', (found) =>
      found.map((link) => link.getAttribute('href')),
    );
    expect(links).toContain(`${TEMPORAL_UI_URL}/workflows/execution%2F${world.executionId}`);
  });
});

it('the key / leads to the search field, and is a character in it', async () => {
  await enter();
  await browser.page.keyboard.type('//');
  expect(await browser.page.$eval('input[name=wanted]', (field) => [field.value, field.matches(':focus')])).toEqual([
    '/',
    true,
  ]);
});

it('the page of a suppressed email says why in words', async () => {
  const id = uuidV7();
  await query(
    app.em(),
    sql`
      insert into email (id, project_id, to_address, subject, status, error, created_at)
      values (${id}, ${world.owner.project.id}, 'eve@mail.test', 'News', 'SUPPRESSED', 'HARD_BOUNCE', now())`,
  );
  await enter();
  await operator.find(id);
  expect(await operator.says('the address is suppressed since a hard bounce')).not.toContain('HARD_BOUNCE');
});

describe('every page', () => {
  const pages = () => [
    ['today', 'Refused today'],
    ['emails', 'Emails, newest first'],
    [`emails/${world.bobEmailId}`, 'What happened'],
    ['address/ada%40mail.test', 'Topics of the contact'],
    ['campaigns', 'newest first'],
    [`campaigns/${world.campaignId}`, 'Recipients that are'],
    ['domains', 'Records of'],
    ['workflows', 'newest first'],
    [`workflows/${world.workflowId}?execution=${world.executionId}`, 'What became of each step'],
    ['segments', 'newest first'],
    ['topics', 'every subscribed contact gets it'],
    ['suppressions', 'suppressed'],
    ['settings', 'Name that recipients see'],
    ...['emails', 'campaigns', 'workflows', 'segments'].map((list) => [`${list}/${UNKNOWN}`, 'Try again']),
  ];

  it.each([
    ['a phone', WIDTHS.phone, 'light'],
    ['a desk', WIDTHS.desk, 'dark'],
    ['a wall', WIDTHS.wall, 'light'],
  ])('fits %s and has no violations that axe-core finds', async (_name, width, scheme) => {
    await browser.page.setViewport({ width, height: 900 });
    await browser.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await enter();
    await browser.page.evaluate(axe.source);
    const objections: string[] = [];
    for (const [place = '', wanted = ''] of pages()) {
      await operator.go(`#/${place}`);
      await operator.says(wanted);
      if (place === 'today') await browser.page.waitForSelector('canvas');
      for (const objection of (await browser.page.evaluate(OBJECTIONS)) as string[])
        objections.push(`${place}: ${objection}`);
    }
    expect(objections).toEqual([]);
  });
});
