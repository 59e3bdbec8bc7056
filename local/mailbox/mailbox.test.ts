import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import axe from 'axe-core';
import { createTransport } from 'nodemailer';
import { findFreePort } from '../processes/free-port.ts';
import { startBrowser } from '../../tests/support/browser.ts';
import { consolePage } from '../../tests/support/console-page.ts';
import { startMailbox } from './mailbox.ts';
import type { Mailbox } from './mailbox.ts';
import { openMailboxStore } from './mailbox-store.ts';
import type { MailSummary } from './mailbox-store.ts';
import { startProcessGuard } from '../processes/process-guard.ts';

interface List {
  total: number;
  messages: MailSummary[];
}

describe('mailbox', () => {
  let folder: string;
  let mailbox: Mailbox;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'everpost-mailbox-'));
    mailbox = await start();
  });
  afterAll(async () => {
    await mailbox.child.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(): Promise<Mailbox> {
    return startMailbox({
      folder: path.join(folder, 'mail'),
      smtpPort: await findFreePort(20_250),
      webPort: await findFreePort(20_800),
      logFile: path.join(folder, 'mailbox.log'),
      stopRank: 1,
      guard: startProcessGuard(),
    });
  }
  const transport = () => createTransport({ url: mailbox.smtpUrl, pool: true, maxConnections: 20 } as object);
  const get = async (url: string): Promise<List> => (await fetch(`${mailbox.webUrl}${url}`)).json() as Promise<List>;

  it('takes a thousand messages over twenty connections and keeps them across a restart', async () => {
    const sender = transport();
    const sent = Array.from({ length: 1000 }, (_, number) =>
      sender.sendMail({ from: 'a@local.test', to: `u${number}@example.com`, subject: `Grüße ${number}`, text: 'Hi' }),
    );
    await Promise.all(sent);
    sender.close();
    expect((await get('/api/messages?pageSize=1')).total).toBe(1000);

    await mailbox.child.stop();
    mailbox = await start();
    expect((await get('/api/messages?pageSize=1')).total).toBe(1000);
    const found = await get(`/api/messages?search=${encodeURIComponent('grüße 777')}`);
    expect(found.messages).toMatchObject([{ to: 'u777@example.com', envelope: { from: 'a@local.test' } }]);
  });

  it('shows the parts of a message, newest first, without letting it run scripts', async () => {
    const sender = transport();
    const html = '<p>Hello <img src="cid:logo"></p><script>steal()</script>';
    const attachments = [{ filename: 'logo.png', content: Buffer.from('picture'), cid: 'logo' }];
    await sender.sendMail({
      from: 'a@local.test',
      to: 'b@example.com',
      subject: 'Parts',
      text: 'T',
      html,
      attachments,
    });
    sender.close();
    const { messages } = await get('/api/messages?pageSize=1');
    expect(messages[0]).toMatchObject({ subject: 'Parts' });

    const url = `${mailbox.webUrl}/api/messages/${messages[0]!.id}`;
    expect(await (await fetch(url)).json()).toMatchObject({
      text: 'T',
      attachments: [{ filename: 'logo.png', bytes: 7 }],
    });
    const shown = await fetch(`${url}/html`);
    expect(shown.headers.get('content-security-policy')).toMatch(
      /^sandbox allow-popups allow-popups-to-escape-sandbox;/,
    );
    // Nothing is loaded from the network until the reader asks for it.
    expect(shown.headers.get('content-security-policy')).not.toContain('http');
    const loaded = await fetch(`${url}/html?pictures=true`);
    expect(loaded.headers.get('content-security-policy')).toContain('img-src data: http: https:');
    expect(await shown.text()).toContain('src="data:image/png;base64,');
    expect(await (await fetch(`${url}/source`)).text()).toMatch(/^Subject: Parts\r$/m);
    expect(await (await fetch(`${url}/attachments/0`)).text()).toBe('picture');
    expect((await fetch(`${mailbox.webUrl}/api/messages/unknown`)).status).toBe(404);
  });

  it('shows list and message side by side, and either of them on a phone', async () => {
    const sender = transport();
    const hostile = '"><img src=x onerror=alert(1)>';
    await sender.sendMail({
      from: { name: hostile, address: 'a@local.test' },
      to: 'b@example.com',
      subject: `On a phone ${hostile}`,
      text: 'Hi',
      html: `<a href="https://example.com/a">A link</a><a href="javascript:alert(1)">${'long '.repeat(200)}</a><script>alert(1)</script>`,
    });
    sender.close();
    const browser = await startBrowser();
    const { page, text, says, click } = consolePage(browser.page);
    try {
      await page.goto(mailbox.webUrl);
      await says(/\bof \d+/);
      expect(await text()).not.toContain('Choose a message');
      await (await page.waitForSelector('#list button'))?.click();
      await says('Back to the list');
      expect(await page.$eval('#list', (list) => list.checkVisibility())).toBe(false);
      await click('Back to the list');
      await page.waitForSelector('#list', { visible: true });
      await page.waitForSelector('#message', { hidden: true });
      await page.setViewport({ width: 1200, height: 800 });
      await says('Choose a message');
      // The browser loads the page again when it is no phone any more.
      await page.waitForSelector('#list button');
      await page.keyboard.press('j');
      await says('On a phone "><img');
      await click('Links 2');
      expect(await page.$$eval('#links a', (links) => links.map((link) => link.getAttribute('href')))).toEqual([
        'https://example.com/a',
      ]);
      for (const [width, scheme] of [
        [1200, 'light'],
        [1200, 'dark'],
        [390, 'light'],
      ] as const) {
        await page.setViewport({ width, height: 800 });
        await page.emulateMediaFeatures([
          { name: 'prefers-color-scheme', value: scheme },
          // A colour that still changes has no contrast yet.
          { name: 'prefers-reduced-motion', value: 'reduce' },
        ]);
        await page.evaluate(axe.source);
        const faults = await page.evaluate(
          'axe.run({ iframes: false }).then((found) => found.violations.map(({ id, nodes }) => id + nodes[0].target))',
        );
        expect([width, scheme, faults]).toEqual([width, scheme, []]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      }
      expect(browser.complaints.filter((text) => !/^Blocked script .* is sandboxed/.test(text))).toEqual([]);
    } finally {
      await browser.close();
    }
  });

  it('refuses requests that reach it under a foreign name', async () => {
    const status = await new Promise((resolve, reject) => {
      const sent = request(`${mailbox.webUrl}/api/messages`, { headers: { host: 'evil.example' } });
      sent.once('response', (response) => resolve(response.statusCode)).once('error', reject);
      sent.end();
    });
    expect(status).toBe(403);
  });

  it('drops the oldest messages beyond its limit', async () => {
    const store = openMailboxStore(path.join(folder, 'small'), 3);
    for (const number of [1, 2, 3, 4, 5]) {
      await store.add({ from: 'a@local.test', to: ['b@example.com'] }, Buffer.from(`Subject: ${number}\r\n\r\nHi\r\n`));
    }
    expect(store.list(1, 10, '').messages.map(({ subject }) => subject)).toEqual(['5', '4', '3']);
  });
});
