import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { projectRoot } from '../../shared/platform/paths.ts';
import { startTestApi, type TestApi, type TestProject } from '../support/api.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { consolePage } from '../support/console-page.ts';
import { CONSOLE_LISTS, fillConsole, pagesOf, type ConsoleWorld } from '../support/console-world.ts';

const FOLDER = path.join(projectRoot, 'pictures');
const WIDTHS = [1_440, 1_024, 390];
const SCHEMES = ['light', 'dark'];
const TIMEOUT_MS = 1_200_000;
/** Only pictures whose name has this text. */
const WANTED = process.env['PICTURES'] ?? '';

let app: TestApi;
let browser: TestBrowser;
beforeAll(async () => {
  [app, browser] = await Promise.all([startTestApi({ config: { CONSOLE: true } }), startBrowser()]);
  mkdirSync(FOLDER, { recursive: true });
});
afterAll(async () => {
  await browser.close();
  await app.stop();
});

/** Takes pictures of pages in every width and scheme. */
async function take(project: TestProject, kind: string, places: readonly string[]): Promise<void> {
  const { page } = browser;
  const operator = consolePage(page);
  for (const scheme of SCHEMES) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    for (const width of WIDTHS) {
      const wanted = places.filter((place) => nameOf(place, kind, width, scheme).includes(WANTED));
      if (wanted.length === 0) continue;
      await page.setViewport({ width, height: width === 390 ? 844 : 900 });
      await operator.enter(app.url, project.keys.secretKey);
      for (const place of wanted) {
        await operator.go(`#/${place}`);
        await operator.settles();
        await page.screenshot({ path: path.join(FOLDER, nameOf(place, kind, width, scheme)) });
      }
    }
  }
}

function nameOf(place: string, kind: string, width: number, scheme: string): string {
  const name = place
    .replace(/[0-9a-f-]{36}/g, 'one')
    .replaceAll(/[^a-z]+/gi, '-')
    .replace(/-$/, '');
  return `${name}.${kind}.${width}.${scheme}.png`;
}

it(
  'takes pictures of every page',
  async () => {
    const [typical, full, empty] = [app as TestProject, await app.createProject(), await app.createProject()];
    const worlds: [TestProject, string, ConsoleWorld][] = [
      [typical, 'typical', await fillConsole(app, { owner: typical, hostile: '' })],
      [full, 'full', await fillConsole(app, { owner: full, rows: 10_000 })],
    ];
    await browser.page.goto(`${app.url}/console`);
    await browser.page.setViewport({ width: 1_440, height: 900 });
    await browser.page.screenshot({ path: path.join(FOLDER, 'sign-in.png') });
    await take(empty, 'empty', CONSOLE_LISTS);
    for (const [project, kind, world] of worlds)
      await take(
        project,
        kind,
        pagesOf(world).map(([place]) => place),
      );
  },
  TIMEOUT_MS,
);
