import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { createContact, createSegment, isPro, segmentEventsOf } from '../../tests/support/segments.ts';

const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

describe('GET /segments/:id/contacts', () => {
  it('evaluates a dynamic segment live, by page', async () => {
    const owner = await app.createProject();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++)
      ids.push(await createContact(owner, `c${i}@x.test`, { plan: i === 2 ? 'free' : 'pro' }));
    const segment = await createSegment(owner, { condition: isPro });
    const page = (search: string) => owner.api('GET', `/segments/${segment.id}/contacts${search}`);
    const first = await page('?pageSize=3');
    expect(first.body).toMatchObject({ page: 1, pageSize: 3, total: 4, totalPages: 2 });
    expect(first.body.data.map((contact: { id: string }) => contact.id)).toEqual([ids[4], ids[3], ids[1]]);
    expect(Object.keys(first.body.data[0]).sort()).toEqual([
      'createdAt',
      'data',
      'email',
      'id',
      'subscribed',
      'updatedAt',
    ]);
    const second = await page('?pageSize=3&page=2');
    expect(second.body.data.map((contact: { id: string }) => contact.id)).toEqual([ids[0]]);
    expect((await page('?page=9')).body).toEqual({ data: [], page: 9, pageSize: 20, total: 4, totalPages: 1 });
    expect((await page('?pageSize=1000')).body.pageSize).toBe(100);
    expect((await page('?page=0')).status).toBe(422);

    await owner.api('PATCH', `/contacts/${ids[4]}`, { body: { data: { plan: 'free' } } });
    expect((await page('')).body.total).toBe(3);
    // The count on the segment is a cached one.
    expect((await owner.api('GET', `/segments/${segment.id}`)).body.memberCount).toBe(0);
    expect((await owner.api('POST', `/segments/${segment.id}/refresh`)).body).toEqual({ memberCount: 3 });
    expect((await owner.api('GET', `/segments/${segment.id}`)).body).toEqual({ ...segment, memberCount: 3 });
    expect(await segmentEventsOf(app.em(), owner)).toEqual([]);
  });

  it('answers for a tree of 1,000 filters', async () => {
    const owner = await app.createProject();
    const id = await createContact(owner, 'one@x.test', { k999: 'v' });
    await createContact(owner, 'none@x.test');
    const many = Array.from({ length: 1_000 }, (_, i) => ({
      filters: [{ field: `data.k${i}`, operator: 'equals', value: 'v' }],
    }));
    const segment = await createSegment(owner, { condition: { logic: 'OR', groups: many } });
    const reply = await owner.api('GET', `/segments/${segment.id}/contacts`);
    expect(reply.body.data.map((contact: { id: string }) => contact.id)).toEqual([id]);
    const tooMany = { logic: 'OR', groups: [...many, ...many.slice(0, 1)] };
    expect((await owner.api('POST', '/segments', { body: { name: 'A', condition: tooMany } })).status).toBe(422);
  });
});

describe('/segments/:id/members', () => {
  it('adds and removes by address, each once', async () => {
    const owner = await app.createProject();
    const a = await createContact(owner, 'a@x.test');
    const b = await createContact(owner, 'b@x.test');
    const segment = await createSegment(owner, { type: 'STATIC' });
    const path = `/segments/${segment.id}/members`;
    const add = (body: object) => owner.api('POST', path, { body });

    const first = await add({ emails: [' A@X.test ', 'a@x.test', 'Nobody@x.test'] });
    expect([first.status, first.body]).toEqual([200, { added: 1, created: 0, notFound: ['Nobody@x.test'] }]);
    expect((await add({ emails: ['a@x.test', 'b@x.test'] })).body).toEqual({ added: 1, created: 0, notFound: [] });
    expect((await add({ emails: [] })).body).toEqual({ added: 0, created: 0, notFound: [] });

    const listed = await owner.api('GET', `/segments/${segment.id}/contacts`);
    expect(listed.body.total).toBe(2);
    expect(listed.body.data.map((contact: { id: string }) => contact.id)).toEqual([b, a]);
    expect((await owner.api('GET', `/segments/${segment.id}`)).body.memberCount).toBe(2);

    const removed = await owner.api('DELETE', path, {
      body: { emails: ['B@x.test', 'b@x.test', 'nobody@x.test', 'no address'] },
    });
    expect([removed.status, removed.body]).toEqual([200, { removed: 1 }]);
    expect((await owner.api('DELETE', path, { body: { emails: ['b@x.test'] } })).body).toEqual({ removed: 0 });
    expect((await owner.api('GET', `/segments/${segment.id}`)).body.memberCount).toBe(1);
    expect((await owner.api('GET', `/contacts/${b}`)).status).toBe(200);
    expect(await segmentEventsOf(app.em(), owner)).toEqual([]);
  });

  it('creates missing contacts when asked, and leaves the subscription of the others', async () => {
    const owner = await app.createProject();
    await createContact(owner, 'there@x.test');
    const segment = await createSegment(owner, { type: 'STATIC' });
    const reply = await owner.api('POST', `/segments/${segment.id}/members`, {
      body: { emails: ['there@x.test', 'New@x.test', 'new@x.test'], createMissing: true, subscribed: false },
    });
    expect(reply.body).toEqual({ added: 2, created: 1, notFound: [] });
    const contacts = (await owner.api('GET', '/contacts?sort=email&dir=asc')).body.data;
    expect(
      contacts.map((contact: { email: string; subscribed: boolean }) => [contact.email, contact.subscribed]),
    ).toEqual([
      ['new@x.test', false],
      ['there@x.test', true],
    ]);
  });

  it('emits entry and exit of a tracked static segment', async () => {
    const owner = await app.createProject();
    const contactId = await createContact(owner, 'a@x.test');
    const segment = await createSegment(owner, { name: 'VIP Customers!', type: 'STATIC', trackMembership: true });
    const body = { emails: ['a@x.test'] };
    await owner.api('POST', `/segments/${segment.id}/members`, { body });
    await owner.api('POST', `/segments/${segment.id}/members`, { body });
    await owner.api('DELETE', `/segments/${segment.id}/members`, { body });
    const data = { segmentId: segment.id, segmentName: 'VIP Customers!' };
    expect(await segmentEventsOf(app.em(), owner)).toEqual([
      { name: 'segment.vip-customers.entry', contactId, data },
      { name: 'segment.vip-customers.exit', contactId, data },
    ]);
  });

  it('refuses a dynamic segment, faulty addresses and too many', async () => {
    const dynamic = await createSegment(app, { condition: isPro });
    const body = { emails: ['a@x.test'] };
    expect((await app.api('POST', `/segments/${dynamic.id}/members`, { body })).status).toBe(400);
    expect((await app.api('DELETE', `/segments/${dynamic.id}/members`, { body })).status).toBe(400);
    const fixed = await createSegment(app, { type: 'STATIC' });
    const faulty = await app.api('POST', `/segments/${fixed.id}/members`, {
      body: { emails: ['a@x.test', 'nonsense'] },
    });
    expect([faulty.status, faulty.body.error.errors[0].field]).toEqual([422, 'emails.1']);
    expect((await app.api('POST', `/segments/${fixed.id}/members`, { body: {} })).status).toBe(422);
    const many = Array.from({ length: 10_001 }, (_, i) => `c${i}@x.test`);
    expect((await app.api('POST', `/segments/${fixed.id}/members`, { body: { emails: many } })).status).toBe(422);
    expect((await app.api('POST', `/segments/${UNKNOWN_ID}/members`, { body })).body.error.code).toBe(
      'SEGMENT_NOT_FOUND',
    );
  });

  it('forgets a contact that is deleted', async () => {
    const owner = await app.createProject();
    const id = await createContact(owner, 'a@x.test');
    const segment = await createSegment(owner, { type: 'STATIC' });
    await owner.api('POST', `/segments/${segment.id}/members`, { body: { emails: ['a@x.test'] } });
    await owner.api('DELETE', `/contacts/${id}`);
    expect((await owner.api('GET', `/segments/${segment.id}/contacts`)).body.total).toBe(0);
    expect((await owner.api('POST', `/segments/${segment.id}/refresh`)).body).toEqual({ memberCount: 0 });
  });
});
