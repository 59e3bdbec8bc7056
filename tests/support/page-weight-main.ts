// Measures the console and pages of the docs in Chromium, and prints it as JSON: what a page weighs compressed, without
// the font; when the browser first paints; and when the reader can use it. With EVERPOST_URL it measures that server,
// and with SECRET_KEY as well how long it takes from signing in to the first page with its data.
import { once } from 'node:events';
import express from 'express';
import type { AddressInfo } from 'node:net';
import { mountConsole } from '../../api/console/console.routes.ts';
import { mountDocs } from '../../api/docs/docs.routes.ts';
import type { Authenticator } from '../../api/http/authenticator.ts';
import { mountLook } from '../../api/look/look.routes.ts';
import { mountReference } from '../../api/reference/reference.routes.ts';
import { createEndpoints } from '../../api/routes.ts';
import { startBrowser } from './browser.ts';
import { testConfig } from './config.ts';

const LIMITS = { consoleKilobytes: 120, docsKilobytes: 60, firstPaintMs: 300, usableMs: 600 };
/** The fastest counts: other programs may have had the processor. */
const LOADS = 5;
const CONSOLE = '/console';
const DOCS = [
  '/docs',
  '/docs/guides/segments',
  '/docs/operations',
  '/docs/reference/sendEmail',
  '/docs/reference/addWorkflowStep',
];
/** A page can be used when this is there: the field for the key, or the end of the text. */
const USABLE = '#key, main > footer, .turns';
const SIGNED_IN = `document.querySelector('#content .figure .number') && !document.querySelector('.skeleton')`;

/** The server in this process; nothing that it serves here needs a database. */
async function serve(): Promise<{ url: string; stop: () => void }> {
  const app = express();
  mountLook(app);
  const endpoints = createEndpoints(testConfig());
  mountConsole(app, testConfig(), {} as Authenticator, endpoints);
  mountDocs(app, mountReference(app, endpoints, 'http://127.0.0.1'), 'http://127.0.0.1');
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

const { EVERPOST_URL, SECRET_KEY } = process.env;
const { url, stop } = EVERPOST_URL ? { url: EVERPOST_URL, stop: () => undefined } : await serve();
const { page, close } = await startBrowser();

await page.evaluateOnNewDocument(`new MutationObserver(() => {
  if (!window.usableAt && document.querySelector('${USABLE}')) window.usableAt = performance.now();
  if (!window.signedInAt && ${SIGNED_IN}) window.signedInAt = performance.now();
}).observe(document, { childList: true, subtree: true })`);

/** A moment that a page notes, in its own time. */
const timeOf = async (name: string) => Number(await (await page.waitForFunction(`window.${name}`)).jsonValue());

/** The bodies that the page has loaded, without the font, in octets. */
const OCTETS = `performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'))
  .filter(({ name }) => !name.endsWith('.woff2')).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`;
const FIRST_PAINT = `performance.getEntriesByName('first-contentful-paint')[0].startTime`;

async function loads(path: string) {
  const cdp = await page.createCDPSession();
  // The first reader of a page waits until it is rendered; later ones are measured, without a cache of their own.
  await page.goto(url + path);
  const [paints, usables]: [number[], number[]] = [[], []];
  for (let time = 0; time < LOADS; time += 1) {
    await cdp.send('Network.clearBrowserCache');
    await page.goto(url + path, { waitUntil: 'networkidle0' });
    paints.push(Number(await page.evaluate(FIRST_PAINT)));
    usables.push(await timeOf('usableAt'));
  }
  const kilobytes = Math.round(Number(await page.evaluate(OCTETS)) / 1_000);
  await cdp.detach();
  return {
    path,
    kilobytes,
    firstPaintMs: Math.round(Math.min(...paints)),
    usableMs: Math.round(Math.min(...usables)),
  };
}

/** From the Enter key in the form to the first page with its data. */
async function signedIn(key: string): Promise<number> {
  const found: number[] = [];
  for (let time = 0; time < LOADS; time += 1) {
    await page.goto(url + CONSOLE);
    await page.waitForSelector('#key');
    await page.$eval('#key', (field, value) => ((field as unknown as { value: string }).value = value), key);
    const start = Number(await page.evaluate('performance.now()'));
    await page.keyboard.press('Enter');
    found.push((await timeOf('signedInAt')) - start);
  }
  return Math.round(Math.min(...found));
}

try {
  const pages = [];
  for (const path of [CONSOLE, ...DOCS]) pages.push(await loads(path));
  const signedInMs = SECRET_KEY ? await signedIn(SECRET_KEY) : undefined;
  const isKept =
    (signedInMs ?? 0) <= LIMITS.usableMs &&
    pages.every(
      ({ path, kilobytes, firstPaintMs, usableMs }) =>
        kilobytes <= (path === CONSOLE ? LIMITS.consoleKilobytes : LIMITS.docsKilobytes) &&
        firstPaintMs <= LIMITS.firstPaintMs &&
        usableMs <= LIMITS.usableMs,
    );
  console.log(JSON.stringify({ url, limits: LIMITS, isKept, signedInMs, pages }, null, 2));
  process.exitCode = isKept ? 0 : 1;
} finally {
  await close();
  stop();
}
