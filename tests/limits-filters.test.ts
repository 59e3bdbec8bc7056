import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAutomation } from './support/automations.ts';
import { expectTooBig, startTestApi, type TestApi } from './support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi({ config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 } });
});
afterAll(() => app.stop());

type Filter = Record<string, unknown>;
const allOf = (filters: Filter[]) => ({ logic: 'AND', groups: [{ filters }] });
const memberOf = (id: string): Filter => ({ field: 'segment', operator: 'memberOfSegment', value: id });
const create = (condition: object, name = 'S') => app.api('POST', '/segments', { body: { name, condition } });
const createId = async (condition: object): Promise<string> => (await create(condition)).body.id;

/** Creates a chain of segments, in which each refers to the one before. @returns their ids in this order */
async function createChain(length: number): Promise<string[]> {
  const ids = [await createId(allOf([{ field: 'data.a', operator: 'exists' }]))];
  while (ids.length < length) ids.push(await createId(allOf([memberOf(ids.at(-1)!)])));
  return ids;
}

describe('segments that refer to one another', () => {
  it('form chains of 10, and the eleventh is refused by the field that names it', async () => {
    const chain = await createChain(10);
    expectTooBig(
      await create(allOf([{ field: 'email', operator: 'exists' }, memberOf(chain[9]!)])),
      'condition.groups.0.filters.1.value',
    );
    expectTooBig(
      await create(allOf([{ field: `segment.${chain[9]}`, operator: 'notMemberOfSegment' }])),
      'condition.groups.0.filters.0.field',
    );
    expect((await app.api('GET', `/segments/${chain[9]}/contacts`)).status).toBe(200);
    const audience = { name: 'C', subject: 'S', body: 'B', from: 'a@example.com', audienceType: 'FILTERED' };
    const campaign = { ...audience, audienceCondition: allOf([memberOf(chain[9]!)]) };
    expect((await app.api('POST', '/campaigns', { body: campaign })).status).toBe(201);
  });

  it('are also counted above a segment when its condition changes', async () => {
    const upper = await createChain(6);
    const lower = await createChain(5);
    const change = (id: string) =>
      app.api('PATCH', `/segments/${upper[0]}`, { body: { condition: allOf([memberOf(id)]) } });
    expectTooBig(await change(lower[4]!), 'condition.groups.0.filters.0.value');
    expect((await change(lower[3]!)).status).toBe(200);
    expect((await app.api('GET', `/segments/${upper[5]}/contacts`)).status).toBe(200);
  });

  it('are not made too large or too costly by a change of one below them', async () => {
    const plain = { field: 'data.a', operator: 'equals', value: 1 };
    const many = (count: number) => allOf(Array.from({ length: count }, () => plain));
    const patch = (id: string, body: object) => app.api('PATCH', `/segments/${id}`, { body });
    const below = await createId(many(10));
    const above = await createId(allOf(Array.from({ length: 20 }, () => memberOf(below))));
    const top = await createId(allOf([memberOf(above)]));
    expectTooBig(await patch(below, { condition: many(160) }), 'condition');
    expect((await patch(below, { condition: many(70) })).status).toBe(200);
    for (const id of [above, top]) expect((await app.api('GET', `/segments/${id}/contacts`)).status).toBe(200);

    // A segment with stored members costs a look-up; without them its condition is evaluated.
    const tracked = await createId(many(100));
    const user = await createId(allOf(Array.from({ length: 14 }, () => memberOf(tracked))));
    expect((await patch(tracked, { trackMembership: true })).status).toBe(200);
    expect((await app.api('POST', `/segments/${tracked}/compute`)).status).toBe(200);
    expect((await patch(tracked, { condition: many(500) })).status).toBe(200);
    expectTooBig(await patch(tracked, { trackMembership: false }), 'trackMembership');
    expect((await app.api('GET', `/segments/${user}/contacts`)).status).toBe(200);
  });

  it('stay within the limit when two changes come at the same moment', async () => {
    for (let round = 0; round < 3; round += 1) {
      const upper = await createChain(5);
      const middle = await createId(allOf([{ field: 'data.a', operator: 'exists' }]));
      const lower = await createChain(5);
      const patch = (id: string, to: string) =>
        app.api('PATCH', `/segments/${id}`, { body: { condition: allOf([memberOf(to)]) } });
      const replies = await Promise.all([patch(upper[0]!, middle), patch(middle, lower[4]!)]);
      expect(replies.map((reply) => reply.status).sort()).toEqual([200, 422]);
    }
  });

  it('may not form a cycle', async () => {
    const [first, second] = await createChain(2);
    const reply = await app.api('PATCH', `/segments/${first}`, { body: { condition: allOf([memberOf(second!)]) } });
    expect([reply.status, reply.body.error.code]).toEqual([400, 'BAD_REQUEST']);
  });
});

describe('a condition', () => {
  const longPath = `data.${Array(20).fill('k').join('.')}`;
  const paths = (count: number, field: string) => allOf(Array(count).fill({ field, operator: 'equals', value: 1 }));

  it('has a budget for its filters and the lengths of their paths', async () => {
    const PATHS = 4;
    expect((await create(paths(1_000, 'data.a.b'))).status).toBe(201);
    expect((await create(paths(PATHS, longPath))).status).toBe(201);
    expectTooBig(await create(paths(PATHS + 1, longPath)), `condition.groups.0.filters.${PATHS}.field`);
    expectTooBig(await create(paths(1_000, longPath)), `condition.groups.0.filters.${PATHS}.field`);
    const { body } = await create(paths(1, 'data.a'));
    expectTooBig(
      await app.api('PATCH', `/segments/${body.id}`, { body: { condition: paths(PATHS + 1, longPath) } }),
      `condition.groups.0.filters.${PATHS}.field`,
    );
    const campaign = { name: 'C', subject: 'S', body: 'B', from: 'a@example.com', audienceType: 'FILTERED' };
    expectTooBig(
      await app.api('POST', '/campaigns', { body: { ...campaign, audienceCondition: paths(PATHS + 1, longPath) } }),
      `audienceCondition.groups.0.filters.${PATHS}.field`,
    );
    const automationId = await createAutomation(app, 'e', {}, { enabled: false });
    expectTooBig(
      await app.api('POST', `/workflows/${automationId}/steps`, {
        body: { type: 'CONDITION', config: { condition: paths(PATHS + 1, longPath) } },
      }),
      `config.condition.groups.0.filters.${PATHS}.field`,
    );
  });

  it.each([
    ['texts that are searched', 333, { field: 'data.a', operator: 'contains', value: 'x' }],
    ['dates', 25, { field: 'data.a', operator: 'equals', value: '2026-01-01' }],
    ['windows of time', 25, { field: 'data.a', operator: 'within', value: 1, unit: 'days' }],
    ['events', 50, { field: 'visited', operator: 'triggered' }],
    ['events that have not happened since', 25, { field: 'v', operator: 'triggeredOlderThan', value: 1, unit: 'days' }],
    ['activities of emails', 16, { field: 'email.opened', operator: 'triggered' }],
  ])('is charged for %s by the time they take', async (_kind, allowed, filter) => {
    expect((await create(allOf(Array(allowed).fill(filter)))).status).toBe(201);
    expectTooBig(await create(allOf(Array(allowed + 1).fill(filter))), `condition.groups.0.filters.${allowed}.field`);
  });

  it('is charged for segments that are evaluated within it', async () => {
    const heavy = await Promise.all(Array.from({ length: 3 }, () => createId(paths(3, longPath))));
    expect((await create(allOf(heavy.slice(0, 2).map(memberOf)))).status).toBe(201);
    expectTooBig(await create(allOf(heavy.map(memberOf))), 'condition.groups.0.filters.2.value');
  });

  it('has limits for values, names of events and its size', async () => {
    const filter = (change: Filter) => create(allOf([{ field: 'data.a', operator: 'equals', value: 1, ...change }]));
    expect((await filter({ value: 'x'.repeat(4_094) })).status).toBe(201);
    expectTooBig(await filter({ value: 'x'.repeat(4_095) }), 'condition.groups.0.filters.0.value');
    expectTooBig(await filter({ value: Array(3_000).fill(1) }), 'condition.groups.0.filters.0.value');
    expectTooBig(await filter({ field: 'x'.repeat(201), operator: 'triggered' }), 'condition.groups.0.filters.0.field');
    const many = Array(300).fill({ field: 'data.a', operator: 'equals', value: 'x'.repeat(1_000) });
    expectTooBig(await create(allOf(many)), 'condition');
  });
});
