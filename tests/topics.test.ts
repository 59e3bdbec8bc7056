import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob } from '../shared/domain/jobs/jobs.ts';
import { sql, inTransaction } from '../shared/database/sql.ts';
import type { TestProject, TestReply } from './support/api.ts';
import { createAutomation, executionThatIs, post, track } from './support/automations.ts';
import { csvForm } from './support/csv-files.ts';
import { query } from './support/rows.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.stop());

async function ownerWithTopics(): Promise<TestProject> {
  const owner = await stack.createProject();
  await post(owner, '/topics', { key: 'news', name: 'News', defaultSubscription: 'opt_in' });
  await post(owner, '/topics', { key: 'offers', name: 'Offers', defaultSubscription: 'opt_out' });
  return owner;
}

function untilEnded(owner: TestProject, kind: 'import' | 'bulk', jobId: string): Promise<TestReply['body']> {
  return eventually(async () => {
    const { body } = await owner.api('GET', `/contacts/${kind}/${jobId}`);
    return (body.state === 'completed' || body.state === 'failed') && body;
  });
}

const upload = (owner: TestProject, content: string, map = '') =>
  owner.api('POST', `/contacts/import${map}`, { raw: csvForm(content) });

async function importFile(owner: TestProject, content: string, map?: string): Promise<TestReply['body']> {
  const { status, body } = await upload(owner, content, map);
  expect(status).toBe(202);
  return untilEnded(owner, 'import', body.jobId);
}

async function topicsByEmail(owner: TestProject): Promise<Record<string, unknown>> {
  const { body } = await owner.api('GET', '/contacts?limit=100&sort=email&dir=asc');
  return Object.fromEntries(
    body.data.map(({ email, topics }: { email: string; topics: unknown }) => [email.split('@')[0], topics]),
  );
}

async function eventsOf(owner: TestProject): Promise<unknown[]> {
  const rows = await query(
    stack.em(),
    sql`
      select e.name, e.data ->> 'key' as key, split_part(c.email, '@', 1) as who, e.data ->> 'reason' as reason
      from event e join contact c on c.id = e.contact_id
      where e.project_id = ${owner.project.id} and e.name like 'topic.%' order by c.email, e.data ->> 'key', e.id`,
  );
  return rows.map(({ name, key, who, reason }) => [who, name, key, reason].join(' '));
}

describe('an import', () => {
  it('reads the columns of topics, in any case, or as map says', async () => {
    const owner = await ownerWithTopics();
    await post(owner, '/contacts', { email: 'left@x.test', topics: { news: false } });
    const job = await importFile(
      owner,
      'email,Topic.News,Angebote,topic.other\na@x.test,no,YES,1\nb@x.test,,,2\nc@x.test,1,0,3\nleft@x.test,true,,4\n' +
        'd@x.test,maybe,,5\na@x.test,,n,6\n',
      '?map=Angebote:topic.offers&map=topic.other:data.topic.other',
    );
    expect(job.result).toMatchObject({
      createdCount: 3,
      updatedCount: 2,
      failureCount: 1,
      errors: [{ row: 6, error: 'The row has a value for "topic.news" that is neither true nor false' }],
      columns: [
        { becomes: 'email' },
        { column: 'Topic.News', becomes: 'topic.news' },
        { column: 'Angebote', becomes: 'topic.offers' },
        { column: 'topic.other', becomes: 'data.topic.other' },
      ],
    });
    expect(await topicsByEmail(owner)).toEqual({
      a: { news: false, offers: false },
      b: { news: true, offers: false },
      c: { news: true, offers: false },
      left: { news: true, offers: false },
    });
    expect(await eventsOf(owner)).toEqual([
      'a topic.unsubscribed news import',
      'left topic.unsubscribed news api',
      'left topic.subscribed news import',
    ]);
    const again = await importFile(owner, 'email,topic.news\na@x.test,no\nc@x.test,yes\n');
    expect(again.result).toMatchObject({ updatedCount: 2 });
    expect(await eventsOf(owner)).toHaveLength(3);
  });

  it.each([
    ['email,topic.nothing\na@x.test,yes\n', '', 'names topics that do not exist: "nothing"'],
    ['email,N\na@x.test,yes\n', '?map=N:topic.nothing', 'names topics that do not exist: "nothing"'],
    ['email,topic.news,TOPIC.NEWS\na@x.test,yes,no\n', '', 'both become topic.news'],
  ])('is refused for the header of %j%s', async (content, map, message) => {
    const owner = await ownerWithTopics();
    const reply = await upload(owner, content, map);
    expect([reply.status, reply.body.error.errors]).toEqual([
      422,
      [expect.objectContaining({ field: 'file', message: expect.stringContaining(message) })],
    ]);
  });
});

it('an import of JSON lines says which topics do not exist', async () => {
  const job = await importFile(await ownerWithTopics(), '{"email":"a@x.test","topics":{"nothing":true}}\n');
  expect(job.state).toBe('failed');
  expect(job.failedReason).toMatch(/^The file names topics that do not exist: "nothing"/);
});

describe('bulk operations with a topic', () => {
  it('change the topic and leave all else, and count what changed', async () => {
    const owner = await ownerWithTopics();
    const { data } = (await owner.api('GET', '/topics?search=offers')).body;
    const topicId = data[0].id;
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) ids.push((await post(owner, '/contacts', { email: `${name}@x.test` })).id);
    const gone = ids[2]!;
    await owner.api('DELETE', `/contacts/${gone}`);
    const run = async (verb: string) => {
      const { body } = await owner.api('POST', `/contacts/bulk-${verb}`, { body: { contactIds: ids, topicId } });
      return (await untilEnded(owner, 'bulk', body.jobId)).result;
    };
    const changed = { totalRequested: 3, successCount: 2, unchangedCount: 0, failureCount: 1 };
    expect(await run('subscribe')).toMatchObject(changed);
    expect(await run('subscribe')).toMatchObject({ ...changed, successCount: 0, unchangedCount: 2 });
    expect(await run('unsubscribe')).toMatchObject(changed);
    const { body } = await owner.api('GET', '/contacts');
    for (const contact of body.data) {
      expect(contact).toMatchObject({ subscribed: true, topics: { news: true, offers: false } });
    }
    expect(await eventsOf(owner)).toEqual(
      ['a', 'b'].flatMap((who) => [`${who} topic.subscribed offers bulk`, `${who} topic.unsubscribed offers bulk`]),
    );
  });

  it('change 10,000 contacts in one job, and end with the reason when the topic is gone', async () => {
    const owner = await ownerWithTopics();
    const { data } = (await owner.api('GET', '/topics?search=offers')).body;
    const topicId = data[0].id;
    const rows = await query(
      stack.em(),
      sql`
        insert into contact (id, project_id, email, subscribed, created_at, updated_at)
        select everpost_uuid_v7(), ${owner.project.id}, n || '@many.test', true, now(), now()
        from generate_series(1, 10000) n returning id`,
    );
    const contactIds = rows.map(({ id }) => id as string);
    const run = async (kind: 'SUBSCRIBE' | 'UNSUBSCRIBE') => {
      const job = { projectId: owner.project.id, kind, input: { contactIds, topicId }, total: contactIds.length };
      return untilEnded(owner, 'bulk', await inTransaction(stack.em(), (tx) => createJob(tx, job)));
    };
    expect((await run('SUBSCRIBE')).result).toMatchObject({ successCount: 10_000, failureCount: 0 });
    const { body } = await owner.api('GET', `/topics/${topicId}/usage`);
    expect(body.contacts).toEqual({ subscribed: 10_000, joined: 10_000, left: 0 });
    expect((await owner.api('DELETE', `/topics/${topicId}`)).status).toBe(204);
    expect(await run('UNSUBSCRIBE')).toMatchObject({ state: 'failed', failedReason: 'Topic not found' });
  }, 120_000);
});

describe('an UPDATE_CONTACT step', () => {
  it('changes topics, and its events start other automations', async () => {
    const owner = await ownerWithTopics();
    const exit = { type: 'EXIT', config: { reason: 'noticed' } };
    const other = await createAutomation(owner, 'topic.unsubscribed', { Out: exit });
    const id = await createAutomation(owner, 'changed', {
      Change: { type: 'UPDATE_CONTACT', config: { topics: { news: false, offers: null } } },
    });
    await track(owner, 'u@x.test', 'changed');
    const execution = await executionThatIs(owner, id, 'COMPLETED');
    expect(execution.stepExecutions.at(-1).output).toEqual({
      updated: [],
      subscribed: null,
      topics: { news: false, offers: null },
    });
    const { body } = await owner.api('GET', `/contacts/${execution.contactId}`);
    expect(body).toMatchObject({ subscribed: true, topics: { news: false, offers: false } });
    await executionThatIs(owner, other, 'EXITED');
    const [event] = await query(
      stack.em(),
      sql`select data from event where contact_id = ${execution.contactId} and name = 'topic.unsubscribed'`,
    );
    expect(event?.data).toMatchObject({ key: 'news', reason: 'workflow', workflowId: id, executionId: execution.id });
  });

  it('ends chains of automations that only change topics back and forth', async () => {
    const owner = await ownerWithTopics();
    const [join, leave] = [true, false].map((offers) => ({ type: 'UPDATE_CONTACT', config: { topics: { offers } } }));
    await createAutomation(owner, 'topic.unsubscribed', { Join: join! }, { allowReentry: true });
    await createAutomation(owner, 'topic.subscribed', { Leave: leave! }, { allowReentry: true });
    const { id } = await post(owner, '/contacts', { email: 'loop@x.test' });
    await owner.api('PUT', `/contacts/${id}/topics`, { body: { topics: { offers: true } } });
    await eventually(async () => {
      const [row] = await query(stack.em(), sql`select 1 from automation_refusal where contact_id = ${id}`);
      return row !== undefined;
    });
  });
});

it('a condition on a topic decides in a step, and selects an audience and a segment', async () => {
  const owner = await ownerWithTopics();
  const condition = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'topic.offers', operator: 'equals', value: true }] }],
  };
  const exit = (reason: string) => ({ type: 'EXIT', config: { reason } });
  const id = await createAutomation(owner, 'asked', {
    Ask: { type: 'CONDITION', config: { condition }, branches: { yes: 'Yes', no: 'No' } },
    Yes: exit('yes'),
    No: exit('no'),
  });
  const segment = await post(owner, '/segments', { name: 'S', condition, trackMembership: true });
  await owner.api('POST', `/segments/${segment.id}/compute`);
  await track(owner, 'y@x.test', 'asked');
  expect(await executionThatIs(owner, id, 'EXITED')).toMatchObject({ exitReason: 'no' });
  const { body } = await owner.api('GET', '/contacts');
  await owner.api('PUT', `/contacts/${body.data[0].id}/topics`, { body: { topics: { offers: true } } });
  const computed = await owner.api('POST', `/segments/${segment.id}/compute`);
  expect(computed.body).toEqual({ added: 1, removed: 0, total: 1 });
});
