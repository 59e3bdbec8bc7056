import type { HTTPRequest, Page } from 'puppeteer-core';
import { eventually } from './eventually.ts';

/** A console in a browser, and an operator who counts clicks. */
export interface ConsolePage {
  page: Page;
  /** Opens the console with a key. */
  enter: (url: string, key: string) => Promise<void>;
  /** Clicks on the first link or button of that name. */
  click: (name: string) => Promise<void>;
  clicks: () => number;
  /** Opens the command field, types, and opens the first record that is found. */
  find: (text: string) => Promise<void>;
  /** Waits until the page has all that it asked for. */
  settles: () => Promise<void>;
  text: () => Promise<string>;
  /** Waits until the page says something. */
  says: (wanted: string | RegExp) => Promise<string>;
  go: (hash: string) => Promise<void>;
}

/** How long nothing is asked before a page counts as complete. */
const STILL_MS = 150;

/** Drives a page of a browser. */
export function consolePage(page: Page): ConsolePage {
  let clicks = 0;
  // The browser never says what became of requests of a document that it has left.
  const asked = new Set<HTTPRequest>();
  let changedAt = performance.now();
  const note = (change: (request: HTTPRequest) => void) => (request: HTTPRequest) => {
    change(request);
    changedAt = performance.now();
  };
  page.on(
    'request',
    note((request) => {
      if (request.isNavigationRequest() && request.frame() === page.mainFrame()) asked.clear();
      asked.add(request);
    }),
  );
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(
      end,
      note((request) => asked.delete(request)),
    );
  const text = () => page.evaluate('document.body.innerText') as Promise<string>;
  const says: ConsolePage['says'] = async (wanted) => {
    const holds = (shown: string) => (typeof wanted === 'string' ? shown.includes(wanted) : wanted.test(shown));
    return eventually(async () => {
      const shown = await text();
      if (!holds(shown)) throw new Error(`The page does not say ${String(wanted)}, but: ${shown}`);
      return shown;
    });
  };
  return {
    page,
    text,
    says,
    async enter(url, key) {
      await page.goto(`${url}/console`);
      // Pasted: each key that is typed is three messages to the browser.
      await (await page.waitForSelector('#key'))!.focus();
      await page.keyboard.sendCharacter(key);
      await page.keyboard.press('Enter');
      await page.waitForSelector('#content');
      clicks = 0;
    },
    async click(name) {
      const wanted = `::-p-xpath(//*[self::a or self::button or self::summary][normalize-space()="${name}"])`;
      // What is loaded again may replace the element between finding it and clicking on it.
      await eventually(async () => {
        await (await page.waitForSelector(wanted, { visible: true }))?.click();
        return true;
      });
      clicks += 1;
    },
    clicks: () => clicks,
    async find(wanted) {
      await page.keyboard.press('/');
      await page.waitForSelector('input[name=wanted]');
      await page.type('input[name=wanted]', wanted);
      await page.waitForSelector('#found-0');
      await page.keyboard.press('Enter');
      // A dialog that is hidden, but still there, takes no key.
      await page.waitForFunction("document.querySelector('dialog') === null");
    },
    async settles() {
      await eventually(async () => {
        if (asked.size > 0 || performance.now() - changedAt < STILL_MS) return false;
        // The page of parts shows what loading looks like.
        return (await page.$('.skeleton:not([aria-labelledby=loading] *)')) === null;
      });
    },
    async go(hash) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    },
  };
}
