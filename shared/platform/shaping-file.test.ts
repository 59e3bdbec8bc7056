import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { ConfigError } from './config.ts';
import { readShapingFile } from './shaping-file.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'everpost-shaping-file-'));
const file = path.join(folder, 'shaping.json');
afterAll(() => rmSync(folder, { recursive: true }));

function faultOf(content: string): string {
  writeFileSync(file, content);
  try {
    readShapingFile(file);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'none';
}
const faultOfRules = (...rules: object[]): string => faultOf(JSON.stringify({ rules }));

it('a missing setting is no rules but the built-in ones for mx sources', () => {
  expect(readShapingFile(undefined)).toEqual({ defaults: 'mx', rules: [] });
});

it('a rule is read with its provider in lower case, and null lifts a limit', () => {
  writeFileSync(file, JSON.stringify({ defaults: 'all', rules: [{ provider: 'Gmail.com', perHour: null }] }));
  expect(readShapingFile(file)).toEqual({
    defaults: 'all',
    rules: [{ provider: 'gmail.com', source: '*', perHour: null }],
  });
});

it('a file that is missing or broken is refused with its path, and broken JSON with its position', () => {
  expect(() => readShapingFile(path.join(folder, 'none.json'))).toThrow(/^SHAPING_FILE .*none\.json: cannot be read: /);
  const fault = faultOf('{\n  "rules": [\n    { "provider": "gmail.com", }\n  ]\n}');
  expect(fault).toContain(`SHAPING_FILE ${file}: is no JSON: `);
  expect(fault).toMatch(/line 3 column \d+/);
  expect(faultOf('')).toContain('is no JSON');
  writeFileSync(file, '\uFEFF{}');
  expect(readShapingFile(file).rules).toEqual([]);
});

it.each([
  ['an unknown field of a rule', { provider: 'gmail.com', perWeek: 5 }, 'rules.0.perWeek: This field does not exist'],
  ['a provider that is no domain', { provider: 'gmail' }, 'rules.0.provider: must be a domain such as gmail.com, or *'],
  ['an address as a provider', { provider: '192.0.2.1' }, 'rules.0.provider: must be a domain such as gmail.com, or *'],
  ['a rule without a provider', { perHour: 5 }, 'rules.0.provider: Required'],
  ['a limit of 0', { provider: '*', perHour: 0 }, 'rules.0.perHour: Must be at least 1'],
  ['half a message', { provider: '*', perSecond: 0.5 }, 'rules.0.perSecond: must be a whole number'],
  ['a limit as text', { provider: '*', connections: '5' }, 'rules.0.connections: Must be a number'],
])('%s is refused with its field', (_, rule, words) => {
  expect(faultOfRules(rule)).toContain(`\n  ${words}`);
});

it('the second rule for a source and a provider is named, and every fault of the document is', () => {
  expect(faultOfRules({ provider: 'gmail.com' }, { provider: 'GMAIL.com' })).toContain(
    'rules.1: names source * and provider gmail.com a second time',
  );
  const fault = faultOf(JSON.stringify({ defaults: 'some', rule: [], rules: [{ provider: 'gmail' }, { perDay: -1 }] }));
  for (const field of [
    'defaults: Must be one of mx, all, none',
    'rule: This field does not exist',
    'rules.0.provider: ',
    'rules.1.perDay: ',
  ]) {
    expect(fault).toContain(`\n  ${field}`);
  }
  expect(faultOf('[]')).toContain('the document: Must be an object');
});

it('plans of warm-ups are read with their defaults, and each fault of one is named', () => {
  writeFileSync(
    file,
    JSON.stringify({ plans: [{ perDay: [10, 20] }, { name: 'slow', provider: 'GMAIL.com', perDay: [1] }] }),
  );
  expect(readShapingFile(file).plans).toEqual([
    { name: 'default', source: '*', provider: '*', perDay: [10, 20] },
    { name: 'slow', source: '*', provider: 'gmail.com', perDay: [1] },
  ]);
  const plans = [{ perDay: [] }, { perDay: [1.5] }, { perDay: [1], days: 3 }, { name: 'a b', perDay: [1] }];
  const fault = faultOf(JSON.stringify({ plans }));
  for (const words of [
    'plans.0.perDay: ',
    'plans.1.perDay.0: must be a whole number',
    'plans.2.days: This field does not exist',
    'plans.3.name: takes 1 to 63',
  ])
    expect(fault).toContain(`\n  ${words}`);
  expect(faultOf(JSON.stringify({ plans: [{ perDay: [1] }, { perDay: [2] }] }))).toContain(
    'plans.1: names plan default, source * and provider * a second time',
  );
});
