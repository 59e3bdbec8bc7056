import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ProjectEntity } from '../../shared/domain/projects/project.entity.ts';
import { DOUBLE_OPT_IN } from '../../shared/pure/double-opt-in.ts';
import { expectTooBig, startTestApi, type TestApi } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

describe('GET /users/@me/projects', () => {
  it('answers the project of the key, without its secret key', async () => {
    const { project, keys, api } = await app.createProject();
    const reply = await api('GET', '/users/@me/projects');
    expect([reply.status, reply.body]).toEqual([
      200,
      [
        {
          id: project.id,
          name: project.name,
          public: keys.publicKey,
          displayName: null,
          postalAddress: null,
          logoUrl: null,
          brandColor: null,
          language: null,
          publicKeyRules: null,
          trafficRules: null,
          clientAddresses: 'SHORTENED',
          key: { id: expect.any(String), name: 'Secret key', role: 'full' },
          doubleOptIn: DOUBLE_OPT_IN,
          createdAt: project.createdAt.toISOString(),
          updatedAt: project.updatedAt.toISOString(),
        },
      ],
    ]);
  });
});

describe('PATCH /users/@me/projects/:id', () => {
  const brand = {
    displayName: 'Tea & Co',
    postalAddress: '1 High Street\nLondon',
    logoUrl: 'https://pics.example:8443/logo.png?v=2',
    brandColor: '#0f766e',
    language: 'ja',
  };

  it('changes what is given, keeps the rest, and removes what is null', async () => {
    const { project, api } = await app.createProject();
    const patch = (body: object) => api('PATCH', `/users/@me/projects/${project.id}`, { body });
    const given = await patch({
      ...brand,
      displayName: '  Tea & Co ',
      postalAddress: ' 1 High Street\r\nLondon\n',
      brandColor: ' #0F766E',
    });
    expect([given.status, given.body]).toMatchObject([200, { id: project.id, name: project.name, ...brand }]);
    expect((await patch({ language: null, unknown: 1 })).body).toMatchObject({ ...brand, language: null });
    expect((await api('GET', '/users/@me/projects')).body[0]).toMatchObject({ ...brand, language: null });
    expect((await patch({ clientAddresses: 'NONE' })).body).toMatchObject({ clientAddresses: 'NONE', language: null });
    expect(
      (await patch({ displayName: null, postalAddress: null, logoUrl: null, brandColor: null })).body,
    ).toMatchObject({
      displayName: null,
      postalAddress: null,
      logoUrl: null,
      brandColor: null,
    });
  });

  it.each<[string, unknown]>([
    ['clientAddresses', 'SOME'],
    ['clientAddresses', null],
    ['displayName', ''],
    ['displayName', 'x'.repeat(101)],
    ['displayName', 'a\nb'],
    ['displayName', 'a\u202Eb'],
    ['displayName', 5],
    ['postalAddress', ' '],
    ['postalAddress', 'x'.repeat(501)],
    ['postalAddress', 'a\u0000b'],
    ['postalAddress', 'a\n'.repeat(8) + 'b'],
    ['logoUrl', 'http://pics.example/logo.png'],
    ['logoUrl', '//pics.example/logo.png'],
    ['logoUrl', 'data:image/png;base64,AAAA'],
    ['logoUrl', 'javascript:alert(1)'],
    ['logoUrl', 'https://a;script-src/logo.png'],
    ['logoUrl', 'https://user:password@pics.example/logo.png'],
    ['logoUrl', 'https://pics.example/a b.png'],
    ['logoUrl', 'https://pics.example/' + 'x'.repeat(2_000)],
    ['brandColor', 'teal'],
    ['brandColor', '#0f7'],
    ['brandColor', '#0f766e;}'],
    ['brandColor', '0f766e'],
    ['language', 'sv'],
    ['language', 'DE'],
  ])('refuses a bad %s', async (field, value) => {
    const reply = await app.api('PATCH', `/users/@me/projects/${app.project.id}`, { body: { [field]: value } });
    expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, field]);
  });

  it.each([
    ['displayName', 'x'.repeat(101)],
    ['postalAddress', 'x'.repeat(501)],
    ['postalAddress', 'a\n'.repeat(8) + 'b'],
    ['logoUrl', 'https://pics.example/' + 'x'.repeat(2_000)],
  ])('says that a %s is beyond its limit', async (field, value) => {
    const reply = await app.api('PATCH', `/users/@me/projects/${app.project.id}`, { body: { [field]: value } });
    expectTooBig(reply, field);
  });

  it('answers 404 for another project, and takes no public key', async () => {
    const other = await app.createProject();
    const change = { body: brand };
    expect((await app.api('PATCH', `/users/@me/projects/${other.project.id}`, change)).status).toBe(404);
    expect((await app.api('PATCH', '/users/@me/projects/none', change)).status).toBe(404);
    const path = `/users/@me/projects/${app.project.id}`;
    expect((await app.api('PATCH', path, { ...change, key: 'public' })).status).toBe(401);
  });
});

describe('POST /users/@me/projects/:id/regenerate-keys', () => {
  it('replaces both keys, and the old ones stop working at once', async () => {
    const { project, keys, api } = await app.createProject();
    const reply = await api('POST', `/users/@me/projects/${project.id}/regenerate-keys`);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      id: project.id,
      name: project.name,
      public: expect.stringMatching(/^pk_[0-9a-f]{64}$/),
      secret: expect.stringMatching(/^sk_[0-9a-f]{64}$/),
      displayName: null,
      postalAddress: null,
      logoUrl: null,
      brandColor: null,
      language: null,
      publicKeyRules: null,
      trafficRules: null,
      clientAddresses: 'SHORTENED',
      doubleOptIn: DOUBLE_OPT_IN,
      createdAt: project.createdAt.toISOString(),
      updatedAt: expect.any(String),
    });
    expect(reply.body.public).not.toBe(keys.publicKey);
    expect(reply.body.secret).not.toBe(keys.secretKey);

    const track = (key: string) => api('POST', '/v1/track', { key, body: { email: 'a@example.com', event: 'e' } });
    expect([(await api('GET', '/contacts')).status, (await track(keys.publicKey)).status]).toEqual([401, 401]);
    expect((await api('GET', '/contacts', { key: reply.body.secret })).status).toBe(200);
    expect((await track(reply.body.public)).status).toBe(200);
  });

  it('stores only a digest of the secret key', async () => {
    const { project, keys } = await app.createProject();
    const stored = await app.em().findOneOrFail(ProjectEntity, { id: project.id });
    expect(JSON.stringify(stored)).not.toContain(keys.secretKey.slice(3));
    expect(stored.secretKeyHash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('leaves one working pair when several requests rotate at once', async () => {
    const { project, api } = await app.createProject();
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => api('POST', `/users/@me/projects/${project.id}/regenerate-keys`)),
    );
    const rotated = replies.filter((reply) => reply.status === 200);
    expect(rotated.length).toBeGreaterThanOrEqual(1);
    const working = await Promise.all(
      rotated.map(async (reply) => (await api('GET', '/contacts', { key: reply.body.secret })).status),
    );
    expect(working.filter((status) => status === 200)).toHaveLength(1);
  });

  it('answers 404 for another project', async () => {
    const other = await app.createProject();
    const reply = await app.api('POST', `/users/@me/projects/${other.project.id}/regenerate-keys`);
    expect([reply.status, reply.body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect((await other.api('GET', '/contacts')).status).toBe(200);
  });
});
