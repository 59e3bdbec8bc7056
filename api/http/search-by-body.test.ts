import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { EmailEntity } from '../../tests/support/entities/email.entity.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

it('contacts, emails and suppressions are found, and allowed again, by an address in the body', async () => {
  const { api, em, project } = app;
  const addresses = ['ada@mail.test', 'ada.b@mail.test', 'bo@mail.test'];
  const sent = { projectId: project.id, status: 'SENT', createdAt: new Date() } as const;
  const forked = em();
  for (const toAddress of addresses) {
    await api('POST', '/contacts', { body: { email: toAddress } });
    forked.create(EmailEntity, { id: uuidV7(), toAddress, ...sent });
  }
  await forked.flush();
  await api('POST', '/suppressions', { body: { emails: addresses } });
  for (const [list, query] of [
    ['contacts', { search: 'ada', limit: 2, sort: 'email', dir: 'asc', subscribed: true }],
    ['emails', { address: 'ada@mail.test', status: 'SENT' }],
    ['suppressions', { address: 'ada@mail.test', limit: 5 }],
  ] as const) {
    const inUrl = new URLSearchParams(
      Object.entries<unknown>(query).map(([name, value]) => [name, String(value)] as [string, string]),
    );
    const expected = await api('GET', `/${list}?${inUrl.toString()}`);
    const found = await api('POST', `/${list}/search`, { body: query });
    expect([found.status, found.body]).toEqual([200, expected.body]);
    expect(JSON.stringify(found.body)).toContain('ada@mail.test');
    expect(JSON.stringify(found.body)).not.toContain('bo@mail.test');
    expect((await api('POST', `/${list}/search`, { body: { limit: 2 } })).status).toBe(422);
  }
  const next = (await api('POST', '/contacts/search', { body: { search: 'ada', limit: 1 } })).body.cursor as string;
  const { body: rest } = await api('POST', '/contacts/search', { body: { search: 'ada', limit: 1, cursor: next } });
  expect([rest.data.length, rest.hasMore]).toEqual([1, false]);
  const remove = () => api('POST', '/suppressions/remove', { body: { address: 'Ada@mail.test' } });
  expect([(await remove()).status, (await remove()).status]).toEqual([204, 404]);
});
