import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { v7 as uuidV7 } from 'uuid';
import { startMailbox } from '../../local/mailbox/mailbox.ts';
import { findFreePort } from '../../local/processes/free-port.ts';
import { startProcessGuard } from '../../local/processes/process-guard.ts';
import { projectRoot } from '../../shared/platform/paths.ts';
import { createLinkSigner } from '../../shared/sending/compose/links.ts';
import { startTestApi, type TestApi, type TestProject } from '../support/api.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { consolePage } from '../support/console-page.ts';
import { CONSOLE_LISTS, fillConsole, pagesOf, type ConsoleWorld } from '../support/console-world.ts';
import { query, sql } from '../../shared/database/sql.ts';

/** Where the pictures go: `PICTURES_FOLDER`, or else the folder `pictures`. */
const FOLDER = process.env['PICTURES_FOLDER'] ?? path.join(projectRoot, 'pictures');
const WIDTHS = [1_440, 1_024, 390];
const SCHEMES = ['light', 'dark'];
/** Pages that are higher are cut off. */
const PICTURE_HEIGHT_MAX = 1_800;
const TIMEOUT_MS = 1_200_000;
/** Only pictures whose name has this text. */
const WANTED = process.env['PICTURES'] ?? '';
/** Pages of the docs that have something of each kind. */
const DOCS = [
  '',
  'architecture',
  'guides/segments',
  'guides/campaigns',
  'configuration',
  'limits',
  'operations',
  'scaling',
  'feedback',
  'errors',
  'errors/VALIDATION_ERROR',
  'reference',
  'reference/sendEmail',
  'nothing',
  'reference/addWorkflowStep',
];

let app: TestApi;
let browser: TestBrowser;
beforeAll(async () => {
  [app, browser] = await Promise.all([
    startTestApi({ config: { CONSOLE: true, apiUrl: 'http://localhost' } }),
    startBrowser(),
  ]);
  mkdirSync(FOLDER, { recursive: true });
});
afterAll(async () => {
  await browser.close();
  await app.stop();
});

/** Takes pictures in every width and scheme. @param open makes the browser show a place */
async function take(
  kind: string,
  places: readonly string[],
  open: (place: string) => Promise<unknown>,
  start: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  const { page } = browser;
  for (const scheme of SCHEMES) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    for (const width of WIDTHS) {
      const wanted = places.filter((place) => nameOf(place, kind, width, scheme).includes(WANTED));
      if (wanted.length === 0) continue;
      const shown = width === 390 ? 844 : 900;
      await page.setViewport({ width, height: shown });
      await start();
      for (const place of wanted) {
        await open(place);
        const height = (await page.evaluate('document.documentElement.scrollHeight')) as number;
        await page.screenshot({
          path: path.join(FOLDER, nameOf(place, kind, width, scheme)),
          ...(height > shown && { clip: { x: 0, y: 0, width, height: Math.min(height, PICTURE_HEIGHT_MAX) } }),
        });
      }
    }
  }
}

function nameOf(place: string, kind: string, width: number, scheme: string): string {
  const name = place
    .replace(/[0-9a-f-]{36}/g, 'one')
    .replaceAll(/[^a-z]+/gi, '-')
    .replace(/-$/, '');
  return `${name || 'index'}.${kind}.${width}.${scheme}.png`;
}

async function takeConsole({ keys }: TestProject, kind: string, places: readonly string[]): Promise<void> {
  const operator = consolePage(browser.page);
  const open = async (place: string) => {
    await operator.go(`#/${place}`);
    await operator.settles();
  };
  await take(kind, places, open, () => operator.enter(app.url, keys.secretKey));
}

/** What recipients see of a project, by name. */
async function readersPages({ owner, adaId, campaignId }: ConsoleWorld): Promise<Record<string, string>> {
  await owner.api('PATCH', `/users/@me/projects/${owner.project.id}`, {
    body: { displayName: 'Tea & Co', postalAddress: '1 High Street\nLondon', brandColor: '#0f766e' },
  });
  for (const [key, name] of [
    ['offers', 'Offers'],
    ['tips', 'Tips for better tea'],
  ])
    await owner.api('POST', '/topics', {
      body: { key, name, description: `${name}, once a week`, visibility: 'public', defaultSubscription: 'opt_in' },
    });
  await query(
    app.em(),
    sql`update campaign set status = 'SENT', sent_at = now(), is_public = true, body = '<h1>Spring</h1><p>New teas</p>' where id = ${campaignId}`,
  );
  await query(app.em(), sql`update contact set subscribed = true where id = ${adaId}`);
  const signer = createLinkSigner({ appSecret: app.config.APP_SECRET, publicUrl: app.url });
  const links = signer.recipientUrls({ contactId: adaId, emailId: uuidV7(), projectId: owner.project.id });
  return {
    unsubscribe: links.unsubscribeUrl,
    subscribe: links.subscribeUrl,
    manage: links.manageUrl,
    broken: links.manageUrl.slice(0, -1),
    form: `${app.url}/subscribe-form/${owner.keys.publicKey}`,
    archive: `${app.url}/archive/${owner.keys.publicKey}`,
    archived: `${app.url}/archive/${owner.keys.publicKey}/${campaignId}`,
    'empty-archive': `${app.url}/archive/${app.keys.publicKey}`,
  };
}

/** The pages for recipients in a language that is written from left to right, and in one that is not. */
async function takeReaders(world: ConsoleWorld): Promise<void> {
  const pages = await readersPages(world);
  const goto = (place: string) => browser.page.goto(pages[place]!, { waitUntil: 'networkidle0' });
  await take('readers', Object.keys(pages), goto);
  for (const language of ['de', 'ar']) {
    await query(
      app.em(),
      sql`update contact set data = data || ${JSON.stringify({ locale: language })}::jsonb where id = ${world.adaId}`,
    );
    await browser.page.setExtraHTTPHeaders({ 'Accept-Language': language });
    await take(`readers-${language}`, ['manage', 'unsubscribe', 'form', 'archive', 'broken'], goto);
  }
  await browser.page.setExtraHTTPHeaders({});
}

/** The mailbox of the local stack, without mail and with some. */
async function takeMailbox(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'everpost-pictures-'));
  const mailbox = await startMailbox({
    folder: path.join(folder, 'mail'),
    logFile: path.join(folder, 'mailbox.log'),
    stopRank: 1,
    smtpPort: await findFreePort(20_250),
    webPort: await findFreePort(20_800),
    guard: startProcessGuard(),
  });
  const sender = createTransport({ url: mailbox.smtpUrl, pool: true } as object);
  const show = async (place: string) => {
    await browser.page.goto(mailbox.webUrl, { waitUntil: 'load' });
    await browser.page.waitForSelector('#list li');
    if (place !== 'message') return;
    await (await browser.page.waitForSelector('#list button'))?.click();
    await browser.page.waitForSelector('#message:not([hidden])');
  };
  try {
    await take('mailbox-empty', ['list'], show);
    for (let n = 0; n < 60; n += 1)
      await sender.sendMail({
        from: { name: 'The Shop', address: 'shop@local.test' },
        to: `reader${n}@example.com`,
        text: 'Hi',
        subject: n % 3 === 0 ? `مرحبا بالعالم ${n}` : `Your order ${n} has left ${'and is on its way '.repeat(n % 4)}`,
        html: `<h1>Order ${n}</h1><p>It is on its <a href="https://example.com/${n}">way</a>.</p>`,
        attachments: [{ filename: 'receipt.pdf', content: 'x'.repeat(20_000) }],
      });
    await take('mailbox', ['list', 'message'], show);
  } finally {
    sender.close();
    await mailbox.child.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

it(
  'takes pictures of every page',
  async () => {
    const typical: TestProject = app;
    const world = await fillConsole(app, { owner: typical, hostile: '' });
    // A project that is alone sees the numbers of sources.
    await takeConsole(typical, 'alone', ['deliverability']);
    const [full, empty] = [await app.createProject(), await app.createProject()];
    const worlds: [TestProject, string, ConsoleWorld][] = [
      [typical, 'typical', world],
      [full, 'full', await fillConsole(app, { owner: full, rows: 10_000 })],
    ];
    const goto = (url: string) => browser.page.goto(url, { waitUntil: 'networkidle0' });
    await take('console', ['sign-in'], () => goto(`${app.url}/console`));
    await takeConsole(empty, 'empty', CONSOLE_LISTS);
    for (const [project, kind, world] of worlds)
      await takeConsole(
        project,
        kind,
        pagesOf(world).map(([place]) => place),
      );
    await take('docs', DOCS, (place) => goto(`${app.url}/docs/${place}`));
    await takeReaders(worlds[1]![2]);
    await takeMailbox();
  },
  TIMEOUT_MS,
);
