import { readFileSync } from 'node:fs';
import path from 'node:path';
import { v7 as uuidV7 } from 'uuid';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { query, sql } from '../shared/database/sql.ts';
import { projectRoot } from '../shared/platform/paths.ts';
import { startTestApi, type TestApi } from './support/api.ts';
import { accessibilityFaults, startBrowser, type TestBrowser } from './support/browser.ts';
import { consolePage, type ConsolePage } from './support/console-page.ts';
import { bounceWords, fillConsole, HOSTILE, pagesOf, type ConsoleWorld } from './support/console-world.ts';

const TEMPORAL_UI_URL = 'https://temporal.test/namespaces/default';
const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const WIDTHS = { phone: 390, desk: 1_440 };

/** Axe looks at some forty pages. */
const AXE_MS = 300_000;

/** What axe-core finds, and whether the page is wider than its window. */
async function objections(): Promise<string[]> {
  const isTooWide = await browser.page.evaluate('document.documentElement.scrollWidth > innerWidth');
  return [...(await accessibilityFaults(browser.page)), ...(isTooWide ? ['too wide'] : [])];
}

let app: TestApi;
let browser: TestBrowser;
let operator: ConsolePage;
let world: ConsoleWorld;
beforeAll(async () => {
  [app, browser] = await Promise.all([
    startTestApi({ config: { TEMPORAL_UI_URL, apiUrl: 'http://localhost' } }),
    startBrowser(),
  ]);
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
    await operator.find('ada@mail');
    await operator.says('Email bounced');
    await operator.says(bounceWords());
    expect(operator.clicks()).toBe(0);
  });

  it('what somebody saw', async () => {
    await enter();
    await operator.find(world.adaEmailId);
    const frame = await (await browser.page.waitForSelector('iframe.preview'))!.contentFrame();
    await frame.waitForSelector('::-p-text(Order 4711)');
    browser.complaints.splice(0);
  });

  it('who somebody is, and why she is not subscribed', async () => {
    await enter();
    await operator.find('ada@mail.test');
    await operator.says('The contact has never been subscribed');
    await operator.says(/plan\s+pro/);
    for (const subscribed of [true, false])
      await app.api('PATCH', `/contacts/${world.adaId}`, { body: { subscribed } });
    await enter();
    await operator.find('ada@mail.test');
    await operator.says('Unsubscribed by the request PATCH /contacts/:id');
  });

  it('somebody by a part of her name, and a campaign by its name or id', async () => {
    await enter();
    await operator.find('Ada <img');
    await operator.says('ada@mail.test');
    await operator.find('spring');
    await operator.says('Not reached');
    await operator.find(world.campaignId);
    await operator.says('Not reached');
    await operator.find(world.executionId);
    await operator.says('Tell the shop');
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
    await operator.says(/Suppressed\s+hard bounce/);
    await operator.click('Lift suppression');
    await browser.page.waitForSelector('dialog .primary');
    await browser.page.click('dialog .primary');
    await operator.says('ada@mail.test may have email again');
    expect((await app.api('GET', '/suppressions')).body.suppressions).toEqual([]);
    expect(urls.length).toBeGreaterThan(3);
    expect(urls.filter((url) => url.includes('ada@'))).toEqual([]);
  });

  it('how far a campaign is, who did not get it, and why', async () => {
    await enter();
    await operator.click('Campaigns');
    await operator.click(`Spring ${HOSTILE}`);
    await operator.says(/\d+ of 120 done/);
    await operator.says(/Not reached\s*60/);
    await operator.says(/550 5.7.1 refused for spam\s+Bounced\s+20/);
  });

  it('how to pause a campaign, from the first page', async () => {
    await enter();
    await operator.click(`Spring ${HOSTILE}`);
    await operator.click('Pause');
    await operator.says('It stops at once and keeps its place');
  });

  it('how fast a campaign is, how long it takes, and why it is not faster', async () => {
    await enter();
    await operator.says('100 of 120 done');
    const hold = {
      level: 'project',
      reason: 'throttled',
      words: 'project limit, 1 a second',
      until: new Date(Date.now() + 60_000).toISOString(),
    };
    await query(
      app.em(),
      sql`
        update campaign set sent_count = sent_count + 2, waiting = ${JSON.stringify(hold)}::jsonb
        where id = ${world.campaignId}`,
    );
    await operator.says(/102 of 120 done · [\d.]+ a second · about \d+ (s|min) left · project limit, 1 a second/);
  });

  it('how campaigns compare', async () => {
    await enter();
    await operator.click('Campaigns');
    await operator.says(/Delivered\s+Opened\s+Clicked\s+Bounced/);
    await operator.says(/Sending\s+120\s+32.3 %\s+0.0 %\s+0.0 %\s+32.3 %/);
  });

  it('how much went out today, and how many complained', async () => {
    await enter();
    await operator.says(/Sent today\s+\d+/);
    await operator.says(/Complaints, 7 days\s+0.0 %\s+Goal 0.1 %, limit 0.3 %/);
  });

  it('how much is waiting, why, and since when', async () => {
    await enter();
    await operator.says(/Campaign recipient\s+project limit, 1 a second\s+18\s+\d+ min/);
    await operator.says(/Email\s+1\s+not due/);
  });

  it('which provider refuses, and with which words', async () => {
    await enter();
    await operator.says('Refused today, by provider');
    await operator.says('550 5.7.1 refused for spam');
  });

  it('which DNS record of a domain is missing', async () => {
    await enter();
    await operator.click('Domains');
    await operator.says(/DKIM\s*Missing/);
    await operator.says('Trusted, unsigned');
  });

  it('which executions have failed, where, why, and what Temporal knows of them', async () => {
    await enter();
    await operator.says('2 executions of Welcome failed');
    await operator.click('2 executions of Welcome failed');
    await operator.says('Tell the shop: The webhook answered 500');
    await operator.says('Retry all that failed');
    await operator.click('eve@mail.test');
    await operator.says('In the Temporal UI');
    const links = await browser.page.$$eval('a[href^="https://temporal.test"]', (found) =>
      found.map((link) => link.getAttribute('href')),
    );
    expect(links).toContain(`${TEMPORAL_UI_URL}/workflows/execution%2F${world.executionId}`);
  });

  it('which webhook deliveries fail, and what was answered', async () => {
    await enter();
    await operator.click('Webhook https://shop.test/everpost is failing');
    await operator.says('The answer was 503');
    await operator.says('It has accepted nothing since');
  });

  it('who of us did what', async () => {
    await enter();
    await operator.click('Audit');
    await operator.says(/Remove suppression\s+Done/);
    await operator.says('Start automation execution');
  });

  it('whom another attempt of a campaign would reach', async () => {
    await query(app.em(), sql`update campaign set status = 'SENT' where id = ${world.campaignId}`);
    await enter();
    await operator.find('spring');
    await operator.click('Send again');
    await operator.says('0 of 40 can get it.');
  });
});

it('a project without email is told once, with a request that works', async () => {
  const fresh = await app.createProject();
  await operator.enter(app.url, fresh.keys.secretKey);
  expect((await operator.says('No email in 30 days')).match(/No email/g)).toHaveLength(1);
  expect(await objections()).toEqual([]);
  await operator.go('#/deliverability');
  await operator.says('No provider has answered yet');
  expect(await objections()).toEqual([]);
  await operator.go('#/emails');
  await operator.says('No email yet');
  const request = await browser.page.waitForSelector('.empty pre');
  const shown = await request!.evaluate((element) => element.textContent);
  const [, body = ''] = /-d '([^']+)'/.exec(shown) ?? [];
  expect(await fresh.api('POST', '/v1/send', { body: JSON.parse(body) as object })).toMatchObject({ status: 200 });
  // A share of nearly no reports would look like a disaster.
  await query(
    app.em(),
    sql`
      insert into event (id, project_id, name, data, created_at)
      select everpost_uuid_v7(), ${fresh.project.id}, 'email.sent', '{}', now() from generate_series(1, 3)`,
  );
  await operator.enter(app.url, fresh.keys.secretKey);
  await operator.says(/Delivered, 7 days\s+–\s+Servers reported 0 of 3/);
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
    ...pagesOf(world),
    ...['emails', 'campaigns', 'automations', 'segments', 'contacts', 'webhooks', 'templates'].map(
      (list) => [`${list}/${UNKNOWN}`, 'Retry'] as [string, string],
    ),
  ];

  it('is looked at here', () => {
    const source = readFileSync(path.join(projectRoot, 'api/console/web/views.mjs'), 'utf8');
    const routes = [...source.matchAll(/^ {2}'?([\w-]+)'?: \{\s+title[^}]*\}/gm)].flatMap(([line, name]) => [
      ...(line.includes(' all: ') ? [`${name}`] : []),
      ...(line.includes(' one: ') ? [`${name}/`] : []),
    ]);
    const shown = new Set(pagesOf(world).map(([place]) => place.replace(/(?<=\/).*|\?.*/, '')));
    expect(routes.length).toBeGreaterThan(20);
    expect(routes.filter((route) => !shown.has(route))).toEqual([]);
  });

  it.each([
    ['a phone', WIDTHS.phone, 'light'],
    ['a desk', WIDTHS.desk, 'dark'],
  ])(
    'fits %s and has no violations that axe-core finds',
    async (_name, width, scheme) => {
      await browser.page.setViewport({ width, height: 900 });
      await browser.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await browser.page.goto(`${app.url}/console`);
      await operator.says('Where do I find a key?');
      const found = [...(await objections())];
      await enter();
      for (const [place = '', wanted = ''] of pages()) {
        await operator.go(`#/${place}`);
        await operator.says(wanted);
        found.push(...(await objections()).map((objection) => `${place}: ${objection}`));
      }
      expect(found).toEqual([]);
    },
    AXE_MS,
  );
});
