import path from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { projectRoot } from '../../shared/platform/paths.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { consolePage } from '../support/console-page.ts';
import { fillConsole, type ConsoleWorld } from '../support/console-world.ts';

let app: TestApi;
let browser: TestBrowser;
let world: ConsoleWorld;
beforeAll(async () => {
  const config = { TEMPORAL_UI_URL: 'https://temporal.test/namespaces/default' };
  [app, browser] = await Promise.all([startTestApi({ config }), startBrowser()]);
  world = await fillConsole(app, { hostile: 'sale' });
});
afterAll(async () => {
  await browser.close();
  await app.stop();
});

it('takes the pictures of docs/console.md', async () => {
  const { page } = browser;
  const operator = consolePage(page);
  await page.setViewport({ width: 1_200, height: 900 });
  await operator.enter(app.url, app.keys.secretKey);
  for (const [name, place, wanted] of [
    ['today', 'today', 'Refused today'],
    ['campaign', `campaigns/${world.campaignId}`, 'refused for spam'],
    ['workflow', `workflows/${world.workflowId}?execution=${world.executionId}`, '2 failed'],
  ]) {
    await operator.go(`#/${place}`);
    await operator.says(wanted!);
    if (name === 'today') await page.waitForSelector('canvas');
    if (name === 'workflow') await page.waitForSelector('.node.failed');
    await page.screenshot({
      path: path.join(projectRoot, 'docs', 'images', `console-${name}.png`),
      fullPage: name === 'workflow',
    });
  }
});
