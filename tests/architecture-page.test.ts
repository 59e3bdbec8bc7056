import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { projectRoot } from '../shared/platform/paths.ts';

const page = readFileSync(path.join(projectRoot, 'docs', 'architecture.md'), 'utf8');
const named = [...page.matchAll(/`([\w./-]+\/[\w./-]+)`/g)].map((match) => match[1] as string);
const paths = [...new Set(named)].filter((name) => !name.startsWith('/') && !name.includes('*'));

it('docs/architecture.md names more than fifty files', () => {
  expect(paths.length).toBeGreaterThan(50);
});

it.each(paths)('%s, which docs/architecture.md names, exists', (name) => {
  expect(existsSync(path.join(projectRoot, name))).toBe(true);
});

/** The floor of each folder of shared/domain, as the page numbers them. */
function readFloors(): Map<string, number> {
  const section = page.slice(page.indexOf('### The floors'), page.indexOf('## How data flows'));
  const lines = [...section.matchAll(/^(\d+)\. (.*)$/gm)];
  return new Map(
    lines.flatMap(([, floor, text]) =>
      [...(text ?? '').matchAll(/`([\w-]+)`/g)].map(([, folder]) => [folder ?? '', Number(floor)] as const),
    ),
  );
}

it('each folder of shared/domain uses only folders below its floor in docs/architecture.md', () => {
  const domain = path.join(projectRoot, 'shared', 'domain');
  const floors = readFloors();
  const wrong: string[] = [];
  for (const folder of readdirSync(domain)) {
    for (const file of readdirSync(path.join(domain, folder)).filter((name) => /(?<!\.test)\.ts$/.test(name))) {
      const text = readFileSync(path.join(domain, folder, file), 'utf8');
      for (const [, used = ''] of text.matchAll(/from '\.\.\/([\w-]+)\//g)) {
        if ((floors.get(used) ?? Infinity) >= (floors.get(folder) ?? -1)) wrong.push(`${folder} uses ${used}`);
      }
    }
  }
  expect(wrong).toEqual([]);
});
