import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { MovedList } from '../../shared/pure/moving/moved.ts';
import { TOOLS } from '../../shared/pure/moving/tools.ts';
import { openFiles, ToolRows, toolFiles, topicKey } from './sources.ts';

describe('the topic of a list', () => {
  it.each([
    ['Weekly news', 'weekly-news'],
    ['  Crème & Brûlée ', 'creme-brulee'],
    ['List_1', 'list-1'],
    ['x'.repeat(100), 'x'.repeat(63)],
  ])('has the name of the list as its key: %s', (name, key) => {
    expect(topicKey(name)).toBe(key);
  });

  it('is its own for names in other scripts, and the same each time', () => {
    const names = ['Новости', 'Акции', '新闻', '📰', '🎉', '', 'News Москва', 'News Киев', 'Größe', 'Grösse'];
    const keys = names.map((name) => topicKey(name));
    expect(new Set(keys).size).toBe(names.length);
    expect(names.map((name) => topicKey(name))).toEqual(keys);
    for (const key of keys) expect(key).toMatch(/^[a-z0-9][a-z0-9-]{0,62}$/);
  });

  const list = (name: string, id?: string): MovedList => ({ id, name, isPublic: true, defaultSubscription: 'opt_out' });
  const keysOf = (rows: ToolRows, lists: readonly MovedList[]): string[] =>
    lists.map((each) => {
      const read = rows.rowOf({ contact: { email: 'a@x.test' }, lists: [[each, true]] }, '');
      return 'contact' in read ? (Object.keys(read.contact.topics as object)[0] ?? '') : '';
    });
  const ALIKE = [
    list('News', '10'),
    list('News', '9'),
    list('news!', '11'),
    list('🎉', '1'),
    list('🎉', '2'),
    list(`${'x'.repeat(80)} one`, '3'),
    list(`${'x'.repeat(80)} two`, '4'),
    list('Größe', '5'),
    list('Gro\u0308ße', '6'),
  ];

  it('is never shared by two lists, and does not depend on their order', () => {
    const rows = new ToolRows('topics');
    rows.order(ALIKE);
    const keys = keysOf(rows, ALIKE);
    expect(new Set(keys).size).toBe(ALIKE.length);
    for (const key of keys) expect(key).toMatch(/^[a-z0-9][a-z0-9-]{0,62}$/);
    expect(keys.slice(0, 3)).toEqual([
      expect.stringMatching(/^news-\w{8}$/),
      'news',
      expect.stringMatching(/^news-\w{8}$/),
    ]);
    const reversed = new ToolRows('topics');
    keysOf(reversed, [...ALIKE].reverse());
    reversed.order();
    expect([...reversed.lists.keys()].sort()).toEqual([...keys].sort());
    expect(keysOf(reversed, ALIKE)).toEqual(keys);
  });

  it('stays the same when lists are deleted there, and when another source does not know their ids', () => {
    const [older, younger] = [list('News', '1'), list('News', '2')];
    const before = new ToolRows('topics');
    const [, own = ''] = keysOf(before, [older, younger]);
    expect(keysOf(before, [list('News')])).toEqual(['news']);
    const later = new ToolRows('topics');
    later.topicKeys = new Set(['news', own]);
    expect(keysOf(later, [younger, list('News', '3')])).toEqual([own, 'news']);
  });
});

it('items of a saved answer have the same numbers each time they are read', async () => {
  const rows = new ToolRows('topics');
  const content = JSON.stringify({ data: [{ email: 'a@x.test' }, { email: 'b@x.test', subscribed: 'maybe' }] });
  async function* read() {
    yield Buffer.from(content);
  }
  const numbers = async () => {
    const found: number[] = [];
    for await (const { row } of toolFiles(TOOLS.plunk, [{ name: 'contacts.json', read }], rows)) found.push(row);
    return found;
  };
  expect([await numbers(), await numbers()]).toEqual([
    [1, 2],
    [1, 2],
  ]);
});

it('files of a folder that cannot be read are named, and those that macOS adds are left out', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'export-'));
  const wrong = path.join(folder, 'b.csv');
  await writeFile(path.join(folder, '._a.csv'), Buffer.of(0, 5, 0x16, 7, 0xb0));
  await writeFile(path.join(folder, 'a.csv'), 'email,subscribed\na@x.test,true\n');
  const addresses = async () => {
    const found: unknown[] = [];
    for await (const moved of toolFiles(TOOLS.plunk, await openFiles([folder]), new ToolRows('topics')))
      found.push('contact' in moved ? moved.contact.email : moved);
    return found;
  };
  expect(await addresses()).toEqual(['a@x.test']);
  for (const [content, fault] of [
    [Buffer.from('email,name\nb@x.test,J\u00fcrgen\n', 'latin1'), 'The file is not text in UTF-8 or UTF-16'],
    [Buffer.from('email,name\nb@x.test,"open\n'), 'The file is not valid CSV: a quoted cell is never closed'],
  ] as const) {
    await writeFile(wrong, content);
    await expect(addresses()).rejects.toThrow(`${wrong} cannot be read: ${fault}`);
  }
  await rm(folder, { recursive: true });
});
