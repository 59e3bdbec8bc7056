import { hash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EventEntity } from '../../tests/support/entities/event.entity.ts';
import {
  claimIdempotencyKeys,
  sweepIdempotencyKeys,
  type ClaimOutcome,
} from '../../shared/domain/idempotency/idempotency.ts';
import { sql } from '../../shared/database/sql.ts';
import { query, queryOne } from '../../tests/support/rows.ts';
import { startTestApi, type TestApi, type TestReply } from '../../tests/support/api.ts';
import { eventually } from '../../tests/support/stack.ts';

let app: TestApi;
let keyCount = 0;
const freshKey = () => `key ${++keyCount}`;
/** The key of a request with the public API key in the form in which the table holds it. */
const stored = (key: string) => hash('sha256', `public\n${key}`, 'base64url');
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const eventOf = (idempotencyKey: string) => `event of ${idempotencyKey.slice(0, 50)}`;

function track(idempotencyKey: string, body: Record<string, unknown> = {}): Promise<TestReply> {
  return app.api('POST', '/v1/track', {
    key: 'public',
    body: { email: 'ada@example.com', event: eventOf(idempotencyKey), ...body },
    headers: { 'idempotency-key': idempotencyKey },
  });
}

async function eventCount(idempotencyKey: string): Promise<number> {
  return app.em().count(EventEntity, { projectId: app.project.id, name: eventOf(idempotencyKey) });
}

/** Claims a key like a request of this process that never ends. */
async function claimKey(key: string, request: string): Promise<ClaimOutcome> {
  const token = randomUUID();
  const [outcome] = await claimIdempotencyKeys(app.em(), [
    { projectId: app.project.id, key, isPublic: true, token, request, ttlHours: 24 },
  ]);
  return outcome!;
}

async function isClaimed(key: string): Promise<boolean> {
  return (await queryOne(app.em(), sql`select 1 from idempotency_claim where key = ${stored(key)}`)) !== undefined;
}

describe('an Idempotency-Key', () => {
  it('that came with the public API key uses up none of the secret one, and the other way round', async () => {
    const send = (key: string) =>
      app.api('POST', '/v1/send', {
        body: { to: 'ada@example.com', from: 'me@example.com', subject: 'S', body: 'B' },
        headers: { 'idempotency-key': key },
      });
    const [first, second] = [freshKey(), freshKey()];
    expect((await track(first)).status).toBe(200);
    expect((await send(first)).status).toBe(200);
    expect((await send(first)).body.error.details).toMatchObject({ key: first, originalRequest: 'POST /v1/send' });
    expect((await track(first)).body.error.details).toMatchObject({ key: first, originalRequest: 'POST /v1/track' });
    expect((await send(second)).status).toBe(200);
    expect((await track(second)).status).toBe(200);
  });

  it('performs a request once and refuses the next one with the details of the first', async () => {
    const key = freshKey();
    const before = Date.now();
    expect((await track(key)).status).toBe(200);
    const replay = await track(key, { event: 'another body does not matter' });
    expect(replay.status).toBe(409);
    expect(replay.body.error).toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
      statusCode: 409,
      details: {
        key,
        originalRequest: 'POST /v1/track',
        originalRequestAt: expect.any(String),
        originalStatusCode: 200,
      },
    });
    const at = Date.parse(replay.body.error.details.originalRequestAt);
    expect(at).toBeGreaterThan(before - 5_000);
    expect(at).toBeLessThan(Date.now() + 5_000);
    expect(await eventCount(key)).toBe(1);
  });

  it('lets exactly one of twenty simultaneous requests through', async () => {
    const key = freshKey();
    const replies = await Promise.all(Array.from({ length: 20 }, () => track(key)));
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(1);
    const refused = replies.filter((reply) => reply.status === 409);
    expect(refused).toHaveLength(19);
    for (const reply of refused) expect([null, 200]).toContain(reply.body.error.details.originalStatusCode);
    expect(await eventCount(key)).toBe(1);
  });

  it('is released by a 4xx', async () => {
    const key = freshKey();
    expect((await track(key, { email: 'nobody' })).status).toBe(422);
    expect(await isClaimed(key)).toBe(false);
    expect((await track(key)).status).toBe(200);
    expect((await track(key)).status).toBe(409);
  });

  it('is released by a 5xx, because nothing of its request was committed', async () => {
    const key = freshKey();
    await query(app.em(), sql`alter table event add constraint fault check (name <> 'explode')`);
    expect((await track(key, { event: 'explode' })).status).toBe(500);
    expect(await isClaimed(key)).toBe(false);
    expect((await track(key)).status).toBe(200);
    expect(await eventCount(key)).toBe(1);
  });

  it('has no originalStatusCode while its request runs, even at another endpoint', async () => {
    const key = freshKey();
    expect(await claimKey(key, 'POST /v1/send')).toHaveProperty('claim');
    const reply = await track(key);
    expect([reply.status, reply.body.error.details]).toEqual([
      409,
      expect.objectContaining({ originalRequest: 'POST /v1/send', originalStatusCode: null }),
    ]);
  });

  it('is checked after key and rate limit and before the body', async () => {
    const key = freshKey();
    const request = { body: {}, headers: { 'idempotency-key': key } };
    expect((await app.api('POST', '/v1/track', { key: null, ...request })).status).toBe(401);
    expect(await isClaimed(key)).toBe(false);
    expect((await track(key)).status).toBe(200);
    expect((await app.api('POST', '/v1/track', { key: 'public', ...request })).status).toBe(409);
  });

  it('belongs to its project', async () => {
    const key = freshKey();
    expect((await track(key)).status).toBe(200);
    const other = await app.createProject();
    const reply = await other.api('POST', '/v1/track', {
      key: 'public',
      body: { email: 'a@example.com', event: 'e' },
      headers: { 'idempotency-key': key },
    });
    expect(reply.status).toBe(200);
  });

  it('is free again after its time to live', async () => {
    const key = freshKey();
    expect((await track(key)).status).toBe(200);
    const age = (hours: number) =>
      query(
        app.em(),
        sql`update idempotency_claim set created_at = now() - ${hours}::float8 * interval '1 hour' where key = ${stored(key)}`,
      );
    await age(23.9);
    expect((await track(key)).status).toBe(409);
    await age(24.1);
    const replies = await Promise.all(Array.from({ length: 10 }, () => track(key)));
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(1);
    expect(await eventCount(key)).toBe(2);
  });

  describe('whose request never ended', () => {
    const age = (key: string) =>
      query(
        app.em(),
        sql`update idempotency_claim set created_at = now() - interval '31 seconds' where key = ${stored(key)}`,
      );

    it('is free again after half a minute, because nothing of its request was committed', async () => {
      const key = freshKey();
      await claimKey(key, 'POST /v1/track');
      expect((await track(key)).status).toBe(409);
      await age(key);
      const replies = await Promise.all(Array.from({ length: 10 }, () => track(key)));
      expect(replies.filter((reply) => reply.status === 200)).toHaveLength(1);
      expect(await eventCount(key)).toBe(1);
    });

    it('is free again at once when its process has no session left', async () => {
      const key = freshKey();
      await claimKey(key, 'POST /v1/track');
      await query(
        app.em(),
        sql`update idempotency_claim set owner = 'everpost-api of the dead' where key = ${stored(key)}`,
      );
      const replies = await Promise.all(Array.from({ length: 10 }, () => track(key)));
      expect(replies.filter((reply) => reply.status === 200)).toHaveLength(1);
      expect(await eventCount(key)).toBe(1);
    });

    it('passes to the repetition, after which a first request that was only slow commits nothing', async () => {
      const key = freshKey();
      await app.api('POST', '/contacts', { body: { email: 'ada@example.com' } });
      const replies: Promise<TestReply>[] = [];
      await app.em().transactional(async (tx) => {
        await query(tx, sql`select from contact where email = 'ada@example.com' for update`);
        replies.push(track(key));
        await eventually(() => isClaimed(key));
        await age(key);
        replies.push(track(key));
        const isTakenOver = sql`
          select from idempotency_claim where key = ${stored(key)} and created_at > now() - interval '20 seconds'`;
        await eventually(async () => (await query(app.em(), isTakenOver)).length > 0);
      });
      const statuses = (await Promise.all(replies)).map((reply) => reply.status);
      expect(statuses).toEqual([409, 200]);
      expect(await eventCount(key)).toBe(1);
    });
  });

  it('is swept when it is old', async () => {
    const [old, young] = [freshKey(), freshKey()];
    await track(old);
    await track(young);
    await query(
      app.em(),
      sql`update idempotency_claim set created_at = now() - interval '2 days' where key = ${stored(old)}`,
    );
    expect(await sweepIdempotencyKeys(app.em(), 24, 100)).toBe(1);
    expect([await isClaimed(old), await isClaimed(young)]).toEqual([false, true]);
  });

  it.each(['', 'x'.repeat(256), 'schlüssel', 'a\tb', '\u00a0'])('that is %j is a 400', async (key) => {
    const reply = await track(key);
    expect([reply.status, reply.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    expect(reply.body.error.message).toContain('Idempotency-Key');
  });

  it.each(['~', 'x'.repeat(255), "'; drop table event; --"])('may be %j', async (key) => {
    expect((await track(key)).status).toBe(200);
    expect((await track(key)).status).toBe(409);
  });

  it('is ignored by endpoints that do not declare it', async () => {
    const request = { body: { email: 'b@example.com' }, headers: { 'idempotency-key': freshKey() } };
    expect((await app.api('POST', '/contacts', request)).status).toBe(201);
    expect((await app.api('POST', '/contacts', request)).status).toBe(200);
  });
});
