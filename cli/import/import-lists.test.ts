import { describe, expect, it } from '@jest/globals';
import type { TestProject } from '../../tests/support/api.ts';
import { startFakeTool } from '../../tests/support/fake-tool.ts';
import { fileOf, importTwice, run, stack, stateOf, useMoving } from '../../tests/support/moving.ts';
import { zipOf } from '../../tests/support/zip-files.ts';

useMoving();

/** The names of the people of each topic, by its key; topics have different names. */
async function peopleOf(owner: TestProject): Promise<Record<string, string[]>> {
  const { data: topics } = (await owner.api('GET', '/topics?pageSize=100')).body;
  expect(new Set(topics.map(({ name }: any) => name)).size).toBe(topics.length);
  const people = Object.fromEntries(topics.map(({ key }: any) => [key, [] as string[]]));
  for (const [email, { topics: chosen }] of Object.entries(await stateOf(owner))) {
    for (const [key, isMember] of Object.entries(chosen ?? {})) people[key]?.push(isMember ? email : `not ${email}`);
  }
  return people;
}

describe('lists that have one name there', () => {
  const OWN = expect.stringMatching(/^news-\w{8}$/);

  it('are topics of their own from listmonk, by its API and by a saved answer', async () => {
    const owner = await stack.createProject();
    const names = ['News', 'News', 'NEWS'];
    const lists = names.map((name, index) => ({ id: index + 9, name, type: 'public', optin: 'single' }));
    const subscribers = [2, 1, 0].map((index) => ({
      id: 5 - index,
      email: `s${index}@x.test`,
      status: 'enabled',
      attribs: {},
      lists: [{ ...lists[index], subscription_status: 'confirmed' }],
    }));
    const fake = await startFakeTool((url) => {
      if (url.startsWith('/api/lists')) return { body: { data: { results: lists } } };
      return { body: { data: { results: url.endsWith('page=1') ? subscribers : [] } } };
    });
    const { result } = await importTwice(owner, 's0@x.test', 'listmonk', '--url', fake.url);
    await fake.stop();
    expect(result.createdTopics).toHaveLength(3);
    const people = await peopleOf(owner);
    expect(Object.keys(people).sort()).toEqual(['news', OWN, OWN]);
    expect(people['news']).toEqual(['s0@x.test']);
    expect(Object.values(people).sort()).toEqual([['s0@x.test'], ['s1@x.test'], ['s2@x.test']]);

    const saved = await fileOf('subscribers.json', JSON.stringify({ data: [...subscribers].reverse().slice(1) }));
    expect(await run(owner, 'listmonk', saved)).toMatchObject({ createdCount: 0, createdTopics: [] });
    expect(await peopleOf(owner)).toEqual(people);
    const other = await stack.createProject();
    const all = await fileOf('all.json', JSON.stringify({ data: subscribers }));
    await importTwice(other, 's0@x.test', 'listmonk', all);
    expect(await peopleOf(other)).toEqual(people);
  });

  it('are topics of their own from Resend, SendGrid and the tags of Mailchimp', async () => {
    const [owner, second, third] = await Promise.all([1, 2, 3].map(() => stack.createProject()));
    const topics = ['b', 'a'].map((id, index) => ({ id, name: 'News', created_at: `2026-01-0${index + 1}T00:00:00Z` }));
    const resend = await startFakeTool((url) => {
      if (url.startsWith('/topics')) return { body: { has_more: false, data: topics } };
      const own = /^\/contacts\/(.)\/topics/.exec(url)?.[1];
      if (own) return { body: { has_more: false, data: [{ id: own, subscription: 'opt_in' }] } };
      const contacts = ['a', 'b'].map((id) => ({ id, email: `${id}@x.test`, unsubscribed: false }));
      return { body: { has_more: false, data: url.startsWith('/contacts?') ? contacts : [] } };
    });
    await importTwice(owner!, 'a@x.test', 'resend', '--url', resend.url);
    await resend.stop();
    const people = await peopleOf(owner!);
    expect(people).toEqual({ news: ['b@x.test'], [Object.keys(people).find((key) => key !== 'news')!]: ['a@x.test'] });

    const groups = [12, 7].map((id) => ({ id, name: '🎉' }));
    const sendGrid = await startFakeTool((url) => {
      if (url === '/v3/asm/groups') return { body: groups };
      const id = /groups\/(\d+)\//.exec(url)?.[1];
      return { body: id ? [`g${id}@x.test`] : [] };
    });
    const args = ['sendgrid', '--url', sendGrid.url] as const;
    expect((await run(second!, ...args)).createdTopics).toHaveLength(2);
    const left = await peopleOf(second!);
    expect(Object.values(left).sort()).toEqual([['not g12@x.test'], ['not g7@x.test']]);
    expect(await run(second!, ...args)).toMatchObject({ createdCount: 0, createdTopics: [] });
    expect(await peopleOf(second!)).toEqual(left);
    await sendGrid.stop();

    const head = 'Email Address,TAGS\n';
    const tags = await fileOf('subscribed_1.csv', `${head}low@x.test,"""vip"""\nup@x.test,"""VIP"",""Vip!"""\n`);
    await importTwice(third!, 'up@x.test', 'mailchimp', tags, '--lists', 'topics');
    expect(Object.values(await peopleOf(third!)).sort()).toEqual([['low@x.test'], ['up@x.test'], ['up@x.test']]);
  });
});

it('an address that has bounced and was unsubscribed is the same after each import', async () => {
  const head = 'email,created\n';
  const files = {
    'bounces.csv': `${head}both@x.test,1600000000\nspam@x.test,1600000001\n`,
    'global_unsubscribes.csv': `${head}both@x.test,1600000002\nspam@x.test,1600000003\n`,
    'spam_reports.csv': `${head}spam@x.test,1600000004\n`,
    'contacts.csv': 'EMAIL,CONTACT_ID\nboth@x.test,1\nspam@x.test,2\nhere@x.test,3\n',
  };
  const archive = await fileOf('sendgrid.zip', zipOf(files));
  const [fresh, known] = [await stack.createProject(), await stack.createProject()];
  for (const email of ['both@x.test', 'spam@x.test']) await known.api('POST', '/contacts', { body: { email } });
  for (const owner of [fresh, known]) {
    await run(owner, 'sendgrid', archive);
    const before = await stateOf(owner);
    expect(before).toMatchObject({
      'both@x.test': { subscribed: false, hasLeft: true, suppressed: 'HARD_BOUNCE' },
      'spam@x.test': { subscribed: false, hasLeft: true },
    });
    expect(await run(owner, 'sendgrid', archive)).toMatchObject({ createdCount: 0 });
    expect(await stateOf(owner)).toEqual(before);
  }
  // The files say the same one by one, in any order.
  const single = await stack.createProject();
  const paths = await Promise.all(Object.entries(files).map(([name, content]) => fileOf(name, content)));
  for (const file of [...paths, ...paths].reverse()) await run(single, 'sendgrid', file);
  const before = await stateOf(single);
  expect(before['both@x.test']).toMatchObject({ subscribed: false, suppressed: 'HARD_BOUNCE' });
  for (const file of paths) await run(single, 'sendgrid', file);
  expect(await stateOf(single)).toEqual(before);
});
