import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { query, sql } from '../../shared/database/sql.ts';
import { suppressRecipients } from '../../shared/domain/suppressions/suppressions.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

describe('suppressions', () => {
  it('are added, listed and removed', async () => {
    const { api } = await app.createProject();
    const body = { emails: ['Ada@mail.test', 'ada@MAIL.test', 'bob@mail.test'], words: '=asked' };
    expect(await api('POST', '/suppressions', { body })).toMatchObject({ status: 200, body: { added: 2, present: 0 } });
    expect((await api('POST', '/suppressions', { body })).body).toEqual({ added: 0, present: 2 });
    const { body: one } = await api('GET', '/suppressions?address=ADA@mail.test');
    expect(one.suppressions).toEqual([
      {
        email: 'ada@mail.test',
        reason: 'MANUAL',
        words: '=asked',
        origin: 'manual',
        emailId: null,
        campaignId: null,
        createdAt: expect.stringMatching(/Z$/),
      },
    ]);
    const csv = await api('GET', '/suppressions?format=csv');
    expect(csv.headers.get('content-type')).toMatch(/^text\/csv/);
    expect((await api('DELETE', '/suppressions/Ada@mail.test')).status).toBe(204);
    expect((await api('DELETE', '/suppressions/ada%40mail.test')).status).toBe(404);
    const { body: left } = await api('GET', '/suppressions');
    expect(left.suppressions.map((row: any) => row.email)).toEqual(['bob@mail.test']);
  });

  it('have the words of the server about the email that bounced, and are found by reason', async () => {
    const { api, project } = await app.createProject();
    const [id, campaignId] = [uuidV7(), uuidV7()];
    await query(
      app.em(),
      sql`
        insert into email (id, project_id, campaign_id, to_address, status, error, created_at)
        values (${id}, ${project.id}, ${campaignId}, 'gone@mail.test', 'BOUNCED', '550 5.1.1 no', now())`,
    );
    await suppressRecipients(app.em(), [id], 'HARD_BOUNCE');
    await api('POST', '/suppressions', { body: { emails: ['ada@mail.test'] } });
    const { body } = await api('GET', '/suppressions?reason=HARD_BOUNCE');
    expect(body.suppressions).toEqual([
      expect.objectContaining({
        email: 'gone@mail.test',
        words: '550 5.1.1 no',
        origin: 'email',
        emailId: id,
        campaignId,
      }),
    ]);
  });

  it('come in pages that together are the whole list, without those of another project', async () => {
    const { api } = await app.createProject();
    const emails = Array.from({ length: 7 }, (_, index) => `p${index}@mail.test`);
    await api('POST', '/suppressions', { body: { emails } });
    for (const limit of [1, 3, 7]) {
      const seen: string[] = [];
      for (let cursor = ''; ;) {
        const { body } = await api('GET', `/suppressions?limit=${limit}&cursor=${cursor}`);
        seen.push(...body.suppressions.map((row: any) => row.email));
        if (!body.hasMore) break;
        cursor = body.cursor;
      }
      expect(seen.sort()).toEqual(emails);
    }
    const stranger = await app.createProject();
    expect((await stranger.api('GET', '/suppressions')).body.suppressions).toEqual([]);
    expect((await stranger.api('DELETE', '/suppressions/p1@mail.test')).status).toBe(404);
  });

  it.each([
    [{ emails: [] }, 'emails'],
    [{ emails: ['nobody'] }, 'emails.0'],
    [{}, 'emails'],
    [{ emails: ['ada@mail.test'], words: 'x'.repeat(501) }, 'words'],
    [{ emails: Array.from({ length: LIMITS.suppressionsPerRequest + 1 }, (_, n) => `p${n}@mail.test`) }, 'emails'],
  ])('refuse what cannot be added and name the field', async (body, field) => {
    const reply = await app.api('POST', '/suppressions', { body });
    expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, field]);
  });

  it.each([
    ['reason=ODD', 422],
    ['state=MANUAL', 422],
    ['format=xml', 422],
    ['cursor=x', 400],
  ])('refuse %s', async (search, status) => {
    expect((await app.api('GET', `/suppressions?${search}`)).status).toBe(status);
  });
});
