// Prints what script and style of the console weigh, compressed; and for pages of the docs, what a page weighs without
// the font, and how soon a browser has painted it.
import { gzipSync } from 'node:zlib';
import express from 'express';
import type { AddressInfo } from 'node:net';
import { readConsoleFiles } from '../../api/console/console-files.ts';
import { mountDocs } from '../../api/docs/docs.routes.ts';
import { mountLook } from '../../api/look/look.routes.ts';
import { mountReference } from '../../api/reference/reference.routes.ts';
import { createEndpoints } from '../../api/routes.ts';
import { readLook } from '../../shared/platform/look/look.ts';
import { startBrowser } from './browser.ts';
import { testConfig } from './config.ts';

const KILOBYTES_MAX = 60;
const PAINT_MS_MAX = 300;
/** The fastest counts: other programs may have had the processor. */
const LOADS = 4;
const PAGES = [
  '/docs',
  '/docs/guides/segments',
  '/docs/operations',
  '/docs/reference/sendEmail',
  '/docs/reference/addWorkflowStep',
];

const loaded = [...readConsoleFiles().files, ...readLook().files].filter(([name]) => /\.(mjs|js|css)$/.test(name));
const compressed = loaded.reduce((sum, [, { body }]) => sum + gzipSync(body).length, 0);
console.log(`${'/console'.padEnd(32)} ${(compressed / 1000).toFixed(1).padStart(6)} kB in ${loaded.length} files`);

const app = express();
mountLook(app);
mountDocs(app, mountReference(app, createEndpoints(testConfig()), 'http://127.0.0.1'), 'http://127.0.0.1');
const server = app.listen(0, '127.0.0.1');
const { page, close } = await startBrowser();
let isTooMuch = false;
try {
  const cdp = await page.createCDPSession();
  await cdp.send('Network.enable');
  let octets = 0;
  let isFont = new Set<string>();
  cdp.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (request.url.endsWith('.woff2')) isFont.add(requestId);
  });
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!isFont.has(requestId)) octets += encodedDataLength;
  });
  for (const path of PAGES) {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
    // The first reader of a page waits until it is rendered; later ones are measured, without a cache of their own.
    await page.goto(url);
    const paints: number[] = [];
    for (let time = 0; time < LOADS; time += 1) {
      await cdp.send('Network.clearBrowserCache');
      [octets, isFont] = [0, new Set()];
      await page.goto(url, { waitUntil: 'networkidle0' });
      const paint = await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime`);
      paints.push(Number(paint));
    }
    const paint = Math.min(...paints);
    const kilobytes = octets / 1000;
    isTooMuch ||= kilobytes > KILOBYTES_MAX || paint > PAINT_MS_MAX;
    console.log(
      `${path.padEnd(32)} ${kilobytes.toFixed(1).padStart(6)} kB, first paint ${paint.toFixed(0).padStart(4)} ms`,
    );
  }
} finally {
  await close();
  server.closeAllConnections();
  server.close();
}
console.log(`at most ${KILOBYTES_MAX} kB and ${PAINT_MS_MAX} ms: ${isTooMuch ? 'exceeded' : 'kept'}`);
process.exitCode = isTooMuch ? 1 : 0;
