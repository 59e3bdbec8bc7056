import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { digestsOf, statementsOf } from '../../../scripts/migration-digests.ts';
import { projectRoot } from '../../platform/paths.ts';
import { MIGRATIONS } from './migrations.ts';

/** Tables that grow with email, events and contacts. */
const LARGE =
  '(?:attachment|automation_execution|contact|email|email_content|event|segment_member|step_execution|webhook_delivery)';

/** Statements that read or rewrite a large table while they keep others from it, and what to do instead. */
const RULES: [pattern: RegExp, remedy: string][] = [
  [RegExp(`\\bcreate (?:unique )?index (?!concurrently)[^;]*\\bon ${LARGE}\\b`, 'i'), 'create the index concurrently'],
  [RegExp(`\\balter table ${LARGE}\\b[^;]*\\bgenerated always as\\b[^;]*\\bstored\\b`, 'i'), 'fill a column in parts'],
  [RegExp(`\\balter table ${LARGE}\\b[^;]*\\balter (?:column )?\\w+ (?:set data )?type\\b`, 'i'), 'add another column'],
  [RegExp(`\\balter table ${LARGE}\\b[^;]*\\bset not null\\b`, 'i'), 'validate a check of the column first'],
  [
    RegExp(
      `\\balter table ${LARGE}\\b[^;]*\\badd (?:constraint \\w+ )?(?:check|foreign key)\\b(?![^;]*\\bnot valid\\b)`,
      'i',
    ),
    'add the constraint as not valid, then validate it in a migration of its own',
  ],
  [
    RegExp(`\\balter table ${LARGE}\\b[^;]*\\bdefault (?:gen_random_uuid|everpost_|clock_)`, 'i'),
    'set the default later',
  ],
  [RegExp(`\\b(?:update|delete from) ${LARGE}\\b`, 'i'), 'change the rows in parts, in a job'],
  [/\b(?:cluster|vacuum full|reindex(?! .*concurrently))\b/i, 'leave it to the operator'],
];

/** What a migration would do to a running system; empty when it is safe. */
function faultsOf(statements: string): string[] {
  return RULES.filter(([pattern]) => pattern.test(statements)).map(([, remedy]) => remedy);
}

describe('the indexes of emails', () => {
  it('do not name the status, so that a change of it writes to no index', () => {
    const indexes = readFileSync(join(projectRoot, 'docs/schema.sql'), 'utf8').match(
      /^CREATE .*INDEX .* ON email .*$/gm,
    );
    expect(indexes?.length).toBeGreaterThan(5);
    expect(indexes?.filter((index) => /\bstatus\b/.test(index))).toEqual([]);
  });
});

describe('migrations', () => {
  it('are never edited: databases that have run one would not get the change (npm run schema adds new ones)', () => {
    const known = readFileSync(new URL('migrations/digests.json', import.meta.url), 'utf8');
    expect(digestsOf(MIGRATIONS)).toEqual(JSON.parse(known));
  });
});

describe('migrations that a running system survives', () => {
  it('are all but the first, which runs on an empty database', () => {
    expect(statementsOf(MIGRATIONS[0]!)).toMatch('create table email (');
    const faults = MIGRATIONS.slice(1).map((it) => [it.name, ...faultsOf(statementsOf(it))]);
    expect(faults.filter((found) => found.length > 1)).toEqual([]);
  });

  it.each([
    ['create index x on email (status)', 'create the index concurrently'],
    ['create unique index x on event (id) where true', 'create the index concurrently'],
    ['alter table email add column y text generated always as (status) stored', 'fill a column in parts'],
    ['alter table event alter column name type varchar', 'add another column'],
    ['alter table contact alter email set not null', 'validate a check of the column first'],
    [
      'alter table email add constraint c check (true)',
      'add the constraint as not valid, then validate it in a migration of its own',
    ],
    ['alter table email add column y uuid default gen_random_uuid()', 'set the default later'],
    ['update email set status = null', 'change the rows in parts, in a job'],
  ])('finds the fault of: %s', (statement, remedy) => {
    expect(faultsOf(statement)).toEqual([remedy]);
  });

  it.each([
    'create index concurrently x on email (status)',
    'alter table email add column y text',
    'drop index x',
    'alter table email add constraint c check (true) not valid',
    'create index x on former_address (contact_id)',
  ])('finds no fault of: %s', (statement) => {
    expect(faultsOf(statement)).toEqual([]);
  });
});
