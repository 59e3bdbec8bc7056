import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SegmentEntity } from '../shared/domain/segments/segment.entity.ts';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { TASK_QUEUES } from '../shared/pure/task-queues.ts';
import { WORKFLOW_TYPES } from '../shared/pure/workflow-contracts.ts';
import { updateProject } from '../shared/domain/lifecycle/update-project.ts';
import type { TestProject } from './support/api.ts';
import { isPro } from './support/segments.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.stop());

async function createSegment(owner: TestProject, body: object): Promise<string> {
  const reply = await owner.api('POST', '/segments', { body: { name: 'Pro', condition: isPro, ...body } });
  return reply.body.id;
}

async function createContacts(owner: TestProject, count: number): Promise<void> {
  await query(
    stack.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
      select everpost_uuid_v7(), ${owner.project.id}, i || '@x.test', true, '{"plan":"pro"}', now(), now()
      from generate_series(1, ${count}::int) i`,
  );
}

async function entriesOf(owner: TestProject): Promise<number> {
  const [row] = await query(
    stack.em(),
    sql`select count(*) from event where project_id = ${owner.project.id} and name = 'segment.pro.entry'`,
  );
  return row?.count ?? 0;
}

async function memberCountOf(owner: TestProject, id: string): Promise<number> {
  return (await owner.api('GET', `/segments/${id}`)).body.memberCount;
}

async function refreshAll(): Promise<void> {
  await stack.temporal.client.workflow.execute(WORKFLOW_TYPES.segmentRefresh, {
    workflowId: `segments-${Date.now()}`,
    taskQueue: TASK_QUEUES.orchestration,
    args: [{}],
  });
}

describe('the background refresh', () => {
  it('counts every segment, computes the tracked ones and records their events once', async () => {
    const owner = await stack.createProject();
    await createContacts(owner, 30);
    const counted = await createSegment(owner, {});
    const tracked = await createSegment(owner, { trackMembership: true });
    const fixed = await createSegment(owner, { type: 'STATIC' });
    await owner.api('POST', `/segments/${fixed}/members`, { body: { emails: ['1@x.test', '2@x.test'] } });
    await query(stack.em(), sql`update segment set member_count = 99 where id = ${fixed}`);
    await refreshAll();
    expect(await Promise.all([counted, tracked, fixed].map((id) => memberCountOf(owner, id)))).toEqual([30, 30, 2]);
    expect(await entriesOf(owner)).toBe(30);
    await refreshAll();
    expect(await entriesOf(owner)).toBe(30);
  });

  it('works through several batches, also after a segment that cannot be evaluated and a disabled project', async () => {
    const owner = await stack.createProject();
    await createContacts(owner, 3);
    const em = stack.em();
    const many = Array.from({ length: 60 }, (_, i) =>
      em.create(SegmentEntity, {
        projectId: owner.project.id,
        name: `S${i}`,
        condition:
          i === 5
            ? { logic: 'AND', groups: [{ filters: [{ field: 'nonsense', operator: 'equals' }] }] }
            : (isPro as never),
      }),
    );
    await em.flush();
    const disabled = await stack.createProject();
    await createContacts(disabled, 3);
    const sleeping = await createSegment(disabled, {});
    await updateProject(stack.em(), disabled.project.id, { disabled: true });
    await refreshAll();
    const counts = await query(
      stack.em(),
      sql`select member_count as count from segment where project_id = ${owner.project.id} order by id`,
    );
    expect(counts.map((row) => row.count)).toEqual(many.map((_, i) => (i === 5 ? 0 : 3)));
    expect(await query(stack.em(), sql`select member_count as count from segment where id = ${sleeping}`)).toEqual([
      { count: 0 },
    ]);
  });
});

describe('a campaign to a segment', () => {
  async function recipientsOf(owner: TestProject, audience: object): Promise<number> {
    const { body } = await owner.api('POST', '/campaigns', {
      body: { name: 'C', subject: 'S', body: 'B', from: 'me@example.com', ...audience },
    });
    expect((await owner.api('POST', `/campaigns/${body.data.id}/send`, { body: {} })).status).toBe(200);
    const campaign = await eventually(async () => {
      const reply = await owner.api('GET', `/campaigns/${body.data.id}`);
      return reply.body.status === 'SENT' && reply.body;
    });
    return campaign.totalRecipients;
  }

  it('reaches the contacts of its segment: static, dynamic, tracked and not yet computed, by condition', async () => {
    const owner = await stack.createProject();
    await createContacts(owner, 6);
    await owner.api('POST', '/contacts', { body: { email: 'free@x.test', data: { plan: 'free' } } });
    const dynamic = await createSegment(owner, {});
    const tracked = await createSegment(owner, { trackMembership: true });
    const fixed = await createSegment(owner, { type: 'STATIC' });
    await owner.api('POST', `/segments/${fixed}/members`, { body: { emails: ['1@x.test', 'free@x.test'] } });
    const condition = {
      logic: 'AND',
      groups: [
        { filters: [{ field: `segment.${dynamic}`, operator: 'memberOfSegment' }] },
        { filters: [{ field: `segment.${fixed}`, operator: 'notMemberOfSegment' }] },
      ],
    };
    expect(await recipientsOf(owner, { audienceType: 'SEGMENT', segmentId: dynamic })).toBe(6);
    expect(await recipientsOf(owner, { audienceType: 'SEGMENT', segmentId: tracked })).toBe(6);
    expect(await recipientsOf(owner, { audienceType: 'SEGMENT', segmentId: fixed })).toBe(2);
    expect(await recipientsOf(owner, { audienceType: 'FILTERED', audienceCondition: condition })).toBe(5);
  });
});
