import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';

const INBOUND_DOMAIN = 'in.everpost.test';
const template = { name: 'N', subject: 'S', body: '<p>B</p>', from: 'hello@example.com' };
const campaign = { ...template, audienceType: 'ALL' };
const mail = { to: 'ada@example.com', subject: 'S', body: '<p>B</p>', from: 'hello@example.com' };

let app: TestApi;
let other: TestProject;
beforeAll(async () => {
  app = await startTestApi({ config: { INBOUND_DOMAIN } });
  other = await app.createProject();
});
afterAll(() => app.stop());

const uses: [string, string, string, (address: string) => object, number][] = [
  ['a template', '/templates', 'replyTo', (replyTo) => ({ ...template, replyTo }), 201],
  ['a campaign', '/campaigns', 'replyTo', (replyTo) => ({ ...campaign, replyTo }), 201],
  ['POST /v1/send', '/v1/send', 'reply', (reply) => ({ ...mail, reply }), 200],
];

describe('a reply address at the inbound domain', () => {
  it.each(uses)('that %s uses is refused to other projects, by the field that names it', async (...use) => {
    const [, path, , body, status] = use;
    const address = `${path.replaceAll('/', '-')}@${INBOUND_DOMAIN}`;
    expect((await app.api('POST', path, { body: body(address) })).status).toBe(status);
    expect((await app.api('POST', path, { body: body(address) })).status).toBe(status);
    for (const [, otherPath, otherField, otherBody] of uses) {
      const reply = await other.api('POST', otherPath, { body: otherBody(address.toUpperCase()) });
      expect(reply.status).toBe(422);
      expect(reply.body.error.errors).toEqual([expect.objectContaining({ field: otherField, code: 'address_taken' })]);
    }
  });

  it('is refused where a template or a campaign is changed as well', async () => {
    const address = `changed@${INBOUND_DOMAIN}`;
    await app.api('POST', '/templates', { body: { ...template, replyTo: address } });
    const own = await other.api('POST', '/templates', { body: template });
    const patched = await other.api('PATCH', `/templates/${own.body.id}`, { body: { replyTo: address } });
    const draft = await other.api('POST', '/campaigns', { body: campaign });
    const put = await other.api('PUT', `/campaigns/${draft.body.data.id}`, { body: { ...campaign, replyTo: address } });
    for (const reply of [patched, put]) {
      expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, 'replyTo']);
    }
    expect((await other.api('GET', `/templates/${own.body.id}`)).body.replyTo).toBeNull();
  });

  it('is not claimed by a request that is refused', async () => {
    const address = `refused@${INBOUND_DOMAIN}`;
    const foreign = { ...template, from: 'hello@elsewhere.test', replyTo: address };
    expect((await app.api('POST', '/templates', { body: foreign })).status).toBe(403);
    expect((await other.api('POST', '/templates', { body: { ...template, replyTo: address } })).status).toBe(201);
  });

  it('does not bind addresses at other domains, which every project may use', async () => {
    for (const project of [app, other]) {
      const reply = await project.api('POST', '/templates', { body: { ...template, replyTo: 'hello@example.com' } });
      expect(reply.status).toBe(201);
    }
  });
});
