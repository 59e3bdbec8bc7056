import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { query } from '../../tests/support/rows.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { createContact, createSegment, filters, isPro, segmentEventsOf } from '../../tests/support/segments.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

describe('POST /segments/:id/compute', () => {
  it('emits an entry for every match at first, then only what changes', async () => {
    const owner = await app.createProject();
    const a = await createContact(owner, 'a@x.test', { plan: 'pro' });
    const b = await createContact(owner, 'b@x.test', { plan: 'pro' });
    const c = await createContact(owner, 'c@x.test', { plan: 'free' });
    const segment = await createSegment(owner, { name: 'Pro', condition: isPro, trackMembership: true });
    const compute = () => owner.api('POST', `/segments/${segment.id}/compute`);
    expect(await segmentEventsOf(app.em(), owner)).toEqual([]);

    const first = await compute();
    expect([first.status, first.body]).toEqual([200, { added: 2, removed: 0, total: 2 }]);
    expect((await compute()).body).toEqual({ added: 0, removed: 0, total: 2 });
    await owner.api('PATCH', `/contacts/${a}`, { body: { data: { plan: 'free' } } });
    await owner.api('PATCH', `/contacts/${c}`, { body: { data: { plan: 'pro' } } });
    await owner.api('PATCH', `/segments/${segment.id}`, { body: { name: 'Paying' } });
    expect((await compute()).body).toEqual({ added: 1, removed: 1, total: 2 });
    await owner.api('DELETE', `/contacts/${b}`);
    expect((await compute()).body).toEqual({ added: 0, removed: 0, total: 1 });

    const names = (await segmentEventsOf(app.em(), owner)).map(({ name, contactId }) => [name, contactId]);
    expect(names.sort()).toEqual(
      [
        ['segment.pro.entry', a],
        ['segment.paying.entry', c],
        ['segment.paying.exit', a],
      ].sort(),
    );
    expect((await owner.api('GET', `/segments/${segment.id}`)).body.memberCount).toBe(1);
  });

  it('shares the work of simultaneous calls and emits nothing twice', async () => {
    const owner = await app.createProject();
    await query(
      app.em(),
      sql`
        insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
        select everpost_uuid_v7(), ${owner.project.id}, i || '@x.test', true, '{"plan":"pro"}', now(), now()
        from generate_series(1, 12000) i`,
    );
    const segment = await createSegment(owner, { condition: isPro, trackMembership: true });
    const replies = await Promise.all([1, 2, 3].map(() => owner.api('POST', `/segments/${segment.id}/compute`)));
    expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200]);
    const added = replies.reduce((sum, reply) => sum + Number(reply.body.added), 0);
    expect(added).toBe(12_000);
    const [row] = await query(
      app.em(),
      sql`
        select count(*) as events, count(distinct contact_id) as contacts from event
        where project_id = ${owner.project.id} and name = 'segment.s.entry'`,
    );
    expect(row).toEqual({ events: 12_000, contacts: 12_000 });
  });

  it('is refused for a segment that is static or not tracked', async () => {
    for (const body of [{ type: 'STATIC', trackMembership: true }, { condition: isPro }]) {
      const segment = await createSegment(app, body);
      const reply = await app.api('POST', `/segments/${segment.id}/compute`);
      expect([reply.status, reply.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    }
  });

  it('starts over when tracking is switched off and on', async () => {
    const owner = await app.createProject();
    await createContact(owner, 'a@x.test', { plan: 'pro' });
    const segment = await createSegment(owner, { condition: isPro, trackMembership: true });
    const path = `/segments/${segment.id}`;
    expect((await owner.api('POST', `${path}/compute`)).body.added).toBe(1);
    await owner.api('PATCH', path, { body: { trackMembership: false } });
    expect((await owner.api('POST', `${path}/refresh`)).body).toEqual({ memberCount: 1 });
    await owner.api('PATCH', path, { body: { trackMembership: true } });
    expect((await owner.api('POST', `${path}/compute`)).body).toEqual({ added: 1, removed: 0, total: 1 });
    expect((await segmentEventsOf(app.em(), owner)).map((event) => event.name)).toEqual([
      'segment.s.entry',
      'segment.s.entry',
    ]);
  });
});

describe('membership of another segment', () => {
  it('changes nothing once that segment was deleted', async () => {
    const owner = await app.createProject();
    await createContact(owner, 'a@x.test', { plan: 'pro' });
    const excluded = await createSegment(owner, { condition: isPro });
    const others = await createSegment(owner, {
      condition: filters({ field: `segment.${excluded.id}`, operator: 'notMemberOfSegment' }),
      trackMembership: true,
    });
    const compute = () => owner.api('POST', `/segments/${others.id}/compute`);
    expect((await compute()).body).toMatchObject({ added: 0, total: 0 });
    await owner.api('DELETE', `/segments/${excluded.id}`);
    const { status, body } = await compute();
    expect([status, body.error?.details]).toEqual([400, { segmentId: excluded.id }]);
    expect(await segmentEventsOf(app.em(), owner)).toEqual([]);
  });

  it('reads a tracked segment as computed, and one never computed live', async () => {
    const owner = await app.createProject();
    const id = await createContact(owner, 'a@x.test', { plan: 'pro' });
    const tracked = await createSegment(owner, { condition: isPro, trackMembership: true });
    const outer = await createSegment(owner, {
      condition: filters({ field: `segment.${tracked.id}`, operator: 'memberOfSegment' }),
    });
    const total = async () => (await owner.api('GET', `/segments/${outer.id}/contacts`)).body.total;
    expect(await total()).toBe(1);
    await owner.api('POST', `/segments/${tracked.id}/compute`);
    await owner.api('PATCH', `/contacts/${id}`, { body: { data: { plan: null } } });
    expect(await total()).toBe(1);
    await owner.api('POST', `/segments/${tracked.id}/compute`);
    expect(await total()).toBe(0);
  });
});
