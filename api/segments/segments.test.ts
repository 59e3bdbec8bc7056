import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { query } from '../../tests/support/rows.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';
import { createContact, createSegment, filters, isPro } from '../../tests/support/segments.ts';

const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

describe('POST /segments', () => {
  it('creates a dynamic segment by default', async () => {
    const { api, project } = await app.createProject();
    const reply = await api('POST', '/segments', { body: { name: '  Pro  ', condition: isPro, junk: 1 } });
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Pro',
      description: null,
      type: 'DYNAMIC',
      condition: isPro,
      trackMembership: false,
      memberCount: 0,
      computeError: null,
      projectId: project.id,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect((await api('GET', `/segments/${reply.body.id}`)).body).toEqual(reply.body);
  });

  it('creates a static one, whatever comes as its condition', async () => {
    const created = await createSegment(app, { type: 'STATIC', condition: { logic: 'XOR' }, trackMembership: true });
    expect(created).toMatchObject({ type: 'STATIC', condition: null, trackMembership: true });
  });

  it.each([
    [{}, 'Name is required'],
    [{ name: ' ' }, 'Name is required'],
    [{ name: null, condition: isPro }, 'Name is required'],
    [{ name: 'A' }, 'Condition is required and must be an object for DYNAMIC segments'],
    [{ name: 'A', condition: null }, 'Condition is required and must be an object for DYNAMIC segments'],
    [
      { name: 'A', condition: 'x', type: 'DYNAMIC' },
      'Condition is required and must be an object for DYNAMIC segments',
    ],
    [{ name: 'A', condition: [isPro] }, 'Condition is required and must be an object for DYNAMIC segments'],
  ])('answers %j in the flat form', async (body, error) => {
    const reply = await app.api('POST', '/segments', { body });
    expect([reply.status, reply.body]).toEqual([400, { error }]);
  });

  it.each([
    [{ name: 'x'.repeat(101), condition: isPro }, 'name'],
    [{ name: 5, condition: isPro }, 'name'],
    [{ name: 'A', description: 'x'.repeat(501), condition: isPro }, 'description'],
    [{ name: 'A', type: 'OTHER', condition: isPro }, 'type'],
    [{ name: 'A', condition: isPro, trackMembership: 'yes' }, 'trackMembership'],
    [{ name: 'A', condition: {} }, 'condition.logic'],
    [{ name: 'A', condition: { logic: 'AND', groups: [] } }, 'condition.groups'],
    [
      { name: 'A', condition: filters({ field: 'email', operator: 'like', value: 'x' }) },
      'condition.groups.0.filters.0.operator',
    ],
  ])('refuses %j with 422 naming %s', async (body, field) => {
    const reply = await app.api('POST', '/segments', { body });
    expect([reply.status, reply.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(reply.body.error.errors.map((error: { field: string }) => error.field)).toContain(field);
  });

  it('refuses a condition without meaning with 400 and the place in the tree', async () => {
    const condition = {
      logic: 'OR',
      groups: [{ filters: [], conditions: filters({ field: 'nonsense', operator: 'equals', value: 1 }) }],
    };
    const reply = await app.api('POST', '/segments', { body: { name: 'A', condition } });
    expect(reply.status).toBe(400);
    expect(reply.body.error.message).toMatch(/^condition\.groups\[0\]\.conditions\.groups\[0\]\.filters\[0\]\.field: /);
  });

  it('refuses a reference to an unknown segment or one of another project', async () => {
    const stranger = await app.createProject();
    const theirs = await createSegment(stranger, { type: 'STATIC' });
    for (const value of [UNKNOWN_ID, theirs.id]) {
      const condition = filters({ field: 'segment', operator: 'memberOfSegment', value });
      const reply = await app.api('POST', '/segments', { body: { name: 'A', condition } });
      expect([reply.status, reply.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    }
  });
});

describe('GET /segments', () => {
  it('answers a bare array, newest first, of this project only', async () => {
    const owner = await app.createProject();
    expect((await owner.api('GET', '/segments')).body).toEqual([]);
    const first = await createSegment(owner, { name: 'First', type: 'STATIC' });
    const second = await createSegment(owner, { name: 'Second', type: 'STATIC' });
    const reply = await owner.api('GET', '/segments?page=2');
    expect([reply.status, reply.body]).toEqual([200, [second, first]]);
  });
});

describe('PATCH /segments/:id', () => {
  it('changes what is given and nothing else', async () => {
    const segment = await createSegment(app, { condition: isPro, description: 'old' });
    const condition = filters({ field: 'data.plan', operator: 'exists' });
    const reply = await app.api('PATCH', `/segments/${segment.id}`, {
      body: { name: 'New', condition, type: 'STATIC', memberCount: 7 },
    });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ ...segment, name: 'New', condition, updatedAt: expect.any(String) });
    expect(
      (await app.api('PATCH', `/segments/${segment.id}`, { body: { description: null } })).body.description,
    ).toBeNull();
    expect((await app.api('GET', `/segments/${segment.id}`)).body).toMatchObject({
      name: 'New',
      description: null,
      condition,
    });
  });

  it('refuses a condition for a static segment and a name that is too long', async () => {
    const segment = await createSegment(app, { type: 'STATIC' });
    expect((await app.api('PATCH', `/segments/${segment.id}`, { body: { condition: isPro } })).status).toBe(400);
    expect((await app.api('PATCH', `/segments/${segment.id}`, { body: { condition: null } })).status).toBe(200);
    expect((await app.api('PATCH', `/segments/${segment.id}`, { body: { name: 'x'.repeat(101) } })).status).toBe(422);
    expect((await app.api('PATCH', `/segments/${segment.id}`, { body: { name: '' } })).status).toBe(422);
  });

  it('refuses a cycle, however long', async () => {
    const a = await createSegment(app, { condition: isPro });
    const refersTo = (id: string) => filters({ field: `segment.${id}`, operator: 'memberOfSegment' });
    const b = await createSegment(app, { condition: refersTo(a.id) });
    const c = await createSegment(app, { condition: refersTo(b.id) });
    for (const id of [a.id, c.id]) {
      const reply = await app.api('PATCH', `/segments/${a.id}`, { body: { condition: refersTo(id) } });
      expect([reply.status, reply.body.error.message]).toEqual([400, expect.stringContaining('depend on itself')]);
    }
  });
});

describe('DELETE /segments/:id', () => {
  async function createCampaign(owner: TestProject, body: object, status: string): Promise<void> {
    const reply = await owner.api('POST', '/campaigns', {
      body: { name: 'C', subject: 'S', body: 'B', from: 'me@example.com', ...body },
    });
    await query(app.em(), sql`update campaign set status = ${status} where id = ${reply.body.data.id}`);
  }

  it('deletes the segment and its memberships, not its contacts', async () => {
    const owner = await app.createProject();
    const id = await createContact(owner, 'a@x.test');
    const segment = await createSegment(owner, { type: 'STATIC' });
    await owner.api('POST', `/segments/${segment.id}/members`, { body: { emails: ['a@x.test'] } });
    const reply = await owner.api('DELETE', `/segments/${segment.id}`);
    expect([reply.status, reply.body]).toEqual([204, undefined]);
    expect((await owner.api('GET', `/segments/${segment.id}`)).body.error.code).toBe('SEGMENT_NOT_FOUND');
    expect((await owner.api('DELETE', `/segments/${segment.id}`)).status).toBe(404);
    expect((await owner.api('GET', `/contacts/${id}`)).status).toBe(200);
    expect(await query(app.em(), sql`select from segment_member where segment_id = ${segment.id}`)).toEqual([]);
  });

  it.each(['SCHEDULED', 'SENDING'])('is refused while a campaign that is %s uses it', async (status) => {
    const owner = await app.createProject();
    const segment = await createSegment(owner, { condition: isPro });
    const outer = await createSegment(owner, {
      condition: filters({ field: `segment.${segment.id}`, operator: 'notMemberOfSegment' }),
    });
    const named = filters({ field: 'x', operator: 'memberOfSegment', value: segment.id });
    for (const audience of [
      { audienceType: 'SEGMENT', segmentId: segment.id },
      { audienceType: 'FILTERED', audienceCondition: named },
      { audienceType: 'SEGMENT', segmentId: outer.id },
    ]) {
      await createCampaign(owner, audience, status);
      const reply = await owner.api('DELETE', `/segments/${segment.id}`);
      expect([reply.status, reply.body.error.code]).toEqual([409, 'CONFLICT']);
      expect(reply.body.error.details.campaigns).toEqual([{ id: expect.any(String), name: 'C' }]);
      await query(app.em(), sql`delete from campaign where project_id = ${owner.project.id}`);
    }
    expect((await owner.api('DELETE', `/segments/${segment.id}`)).status).toBe(204);
  });

  it.each(['DRAFT', 'SENT', 'CANCELLED'])('is allowed while a campaign that is %s uses it', async (status) => {
    const owner = await app.createProject();
    const segment = await createSegment(owner, { condition: isPro });
    await createCampaign(owner, { audienceType: 'SEGMENT', segmentId: segment.id }, status);
    expect((await owner.api('DELETE', `/segments/${segment.id}`)).status).toBe(204);
  });
});
