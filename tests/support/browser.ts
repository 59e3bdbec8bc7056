import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import bundledChromium from '@sparticuz/chromium';
import axe from 'axe-core';
import { launch, type Browser, type Page } from 'puppeteer-core';

/** A headless Chromium with one page, as large as a phone. */
export interface TestBrowser {
  page: Page;
  /** Errors and warnings of the browser so far, such as blocked resources and script errors. */
  complaints: string[];
  close: () => Promise<void>;
}

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const PHONE = { width: 320, height: 640, deviceScaleFactor: 2, isMobile: true };

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** `CHROMIUM_PATH`, or else an installed browser, or else the one of an npm package for Linux on x64. */
async function browserPath(): Promise<string> {
  const named = process.env['CHROMIUM_PATH'];
  if (named) return named;
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const installed = PROGRAMS.flatMap((name) => folders.map((folder) => path.join(folder, name))).find(isExecutable);
  if (installed !== undefined) return installed;
  if (process.platform === 'linux' && process.arch === 'x64') return bundledChromium.executablePath();
  throw new Error('This test needs Chromium or Chrome: install one, or name one in CHROMIUM_PATH.');
}

/** Starts a browser. @throws Error when there is none on this machine */
export async function startBrowser(): Promise<TestBrowser> {
  const isRoot = process.getuid?.() === 0;
  const browser: Browser = await launch({
    executablePath: await browserPath(),
    headless: 'shell',
    args: ['--disable-dev-shm-usage', ...(isRoot ? ['--no-sandbox'] : [])],
    // Without a language of the machine, Chromium takes one that Intl refuses.
    env: { ...process.env, LC_ALL: 'en_US.UTF-8', LANGUAGE: 'en_US' },
    defaultViewport: PHONE,
  });
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // Every browser requests an icon; a missing one is no fault of the page.
    const isIcon = message.location().url?.endsWith('/favicon.ico') ?? false;
    if (['error', 'warn'].includes(message.type()) && !isIcon) complaints.push(message.text());
  });
  page.on('pageerror', (error) => void complaints.push(String(error)));
  return { page, complaints, close: () => browser.close() };
}

const LOAD_AXE = `globalThis.loadAxe = () => {${axe.source}\n};`;
const canLoadAxe = new WeakSet<Page>();

/** What axe-core finds wrong in a page, each with the element. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  if (!canLoadAxe.has(page)) {
    // Not a script of the page: its policy would refuse it. It has half a megabyte, so the browser is told once.
    await page.evaluateOnNewDocument(LOAD_AXE);
    await page.evaluate(LOAD_AXE);
    canLoadAxe.add(page);
  }
  await page.evaluate('"axe" in window || loadAxe()');
  return (await page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ' ' + html.slice(0, 200))))`)) as string[];
}
