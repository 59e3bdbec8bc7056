import { describe, expect, it } from '@jest/globals';
import type { MovedList } from '../../shared/pure/moving/moved.ts';
import { TOOLS } from '../../shared/pure/moving/tools.ts';
import { ToolRows, toolFiles, topicKey } from './sources.ts';

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
    const keys = names.map(topicKey);
    expect(new Set(keys).size).toBe(names.length);
    expect(names.map(topicKey)).toEqual(keys);
    for (const key of keys) expect(key).toMatch(/^[a-z0-9][a-z0-9-]{0,62}$/);
  });

  it('is never shared by two lists', () => {
    const rows = new ToolRows('topics');
    const list = (name: string): MovedList => ({ name, isPublic: true, defaultSubscription: 'opt_out' });
    const read = (name: string) => rows.rowOf({ contact: { email: 'a@x.test' }, lists: [[list(name), true]] }, '');
    for (const name of ['News', 'News', 'Offers']) read(name);
    expect(() => read('news!')).toThrow('The lists "News" and "news!" would be the same topic "news"');
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
