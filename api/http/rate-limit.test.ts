import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { eventually } from '../../tests/support/eventually.ts';
import { queryOne } from '../../tests/support/rows.ts';
import { startTestApi, type TestApi, type TestProject, type TestReply } from '../../tests/support/api.ts';

const LIMIT = 50;
const config = { API_RATE_LIMIT_PER_MINUTE: LIMIT, API_PROXY_SOURCES: ['127.0.0.1/32'] };

let first: TestApi;
let second: TestApi;
beforeAll(async () => {
  first = await startTestApi({ config });
  second = await startTestApi({ config, database: first.database });
});
afterAll(async () => {
  await second.stop();
  await first.stop();
});

/** The window and its counter as PostgreSQL keeps them. */
async function windowOf(projectId: string): Promise<{ start: Date; current: Date; used: number } | undefined> {
  return queryOne(
    first.em(),
    sql`
      select window_start as start, date_trunc('minute', now()) as current, used from rate_window
      where project_id = ${projectId}`,
  );
}

/** Runs the requests for a new project, and repeats them for another one when a minute ended meanwhile. */
async function withinOneMinute<Result>(run: (owner: TestProject) => Promise<Result>): Promise<Result> {
  for (;;) {
    const owner = await first.createProject();
    await owner.api('GET', '/contacts?limit=0');
    const begun = await windowOf(owner.project.id);
    const result = await run(owner);
    const ended = await windowOf(owner.project.id);
    if (begun?.start.getTime() === ended?.current.getTime()) return result;
  }
}

function call(app: TestApi, owner: TestProject, path = '/segments'): Promise<TestReply> {
  return app.api('GET', path, { key: owner.keys.secretKey });
}

describe('the rate limit', () => {
  it('lets exactly that many requests pass, whichever process and key they use', async () => {
    const replies = await withinOneMinute((owner) =>
      Promise.all(
        Array.from({ length: 3 * LIMIT }, (_, n) =>
          n % 3 === 0
            ? first.api('POST', '/v1/track', {
                key: owner.keys.publicKey,
                body: { email: 'a@example.com', event: 'e' },
              })
            : call(n % 3 === 1 ? first : second, owner),
        ),
      ),
    );
    const passed = replies.filter((reply) => reply.status === 200);
    // One request went ahead of these.
    expect(passed).toHaveLength(LIMIT - 1);
    const remaining = passed.map((reply) => Number(reply.headers.get('ratelimit-remaining'))).sort((a, b) => b - a);
    expect(remaining).toEqual(Array.from({ length: LIMIT - 1 }, (_, n) => LIMIT - 2 - n));
    for (const reply of replies.filter((it) => it.status !== 200)) {
      expect(reply.status).toBe(429);
      const seconds = Number(reply.headers.get('retry-after'));
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(60);
      expect(reply.headers.get('ratelimit-limit')).toBe(String(LIMIT));
      expect(reply.headers.get('ratelimit-remaining')).toBe('0');
      expect(reply.headers.get('ratelimit-reset')).toBe(String(seconds));
      expect(reply.body.error).toMatchObject({
        code: 'RATE_LIMIT_EXCEEDED',
        statusCode: 429,
        details: { limit: LIMIT, retryAfter: seconds },
      });
    }
  });

  it('counts requests that fail, but none without a valid key', async () => {
    const remaining = await withinOneMinute(async (owner) => {
      await call(first, owner, '/contacts/unknown');
      await first.api('POST', '/contacts', { key: owner.keys.secretKey, body: {} });
      await first.api('GET', '/contacts', { key: owner.keys.publicKey });
      await first.api('GET', '/contacts', { key: `sk_${'0'.repeat(64)}` });
      return (await call(second, owner)).headers.get('ratelimit-remaining');
    });
    expect(remaining).toBe(String(LIMIT - 4));
  });

  it('does not refuse the requests of other projects', async () => {
    const replies = await withinOneMinute(async (owner) => {
      await Promise.all(Array.from({ length: LIMIT + 5 }, () => call(first, owner)));
      return [await call(first, owner), await call(first, await first.createProject())];
    });
    expect(replies.map(({ status }) => status)).toEqual([429, 200]);
  });

  it('starts over with the next minute', async () => {
    const owner = await first.createProject();
    await call(first, owner);
    const em = first.em();
    await queryOne(
      em,
      sql`
        update rate_window set used = ${LIMIT + 100}, window_start = window_start - interval '1 minute'
        where project_id = ${owner.project.id}`,
    );
    const reply = await call(first, owner);
    expect([reply.status, reply.headers.get('ratelimit-remaining')]).toEqual([200, String(LIMIT - 1)]);
  });

  it('lets requests pass when they cannot be counted', async () => {
    const owner = await first.createProject();
    await queryOne(first.em(), sql`alter table rate_window rename to rate_window_away`);
    try {
      for (let n = 0; n < LIMIT + 10; n++) expect((await call(first, owner)).status).toBe(200);
      expect((await first.api('GET', '/contacts', { key: `sk_${'0'.repeat(64)}` })).status).toBe(401);
    } finally {
      await queryOne(first.em(), sql`alter table rate_window_away rename to rate_window`);
    }
    expect((await call(first, owner)).headers.get('ratelimit-remaining')).toBe(String(LIMIT - 1));
  });
});

describe('the public key', () => {
  const PUBLIC_LIMIT = 0.8 * LIMIT;
  const passed = (statuses: number[]) => statuses.filter((status) => status === 200).length;

  async function track(owner: TestProject, client: string): Promise<{ status: number; headers: Headers }> {
    const headers = {
      Authorization: `Bearer ${owner.keys.publicKey}`,
      'Content-Type': 'application/json',
      'X-Forwarded-For': client,
    };
    const body = JSON.stringify({ email: 'a@example.com', event: 'e' });
    const response = await fetch(`${first.url}/v1/track`, { method: 'POST', headers, body });
    await response.text();
    return response;
  }

  async function trackOften(owner: TestProject, clients: string[]): Promise<number[]> {
    return (await Promise.all(clients.map((client) => track(owner, client)))).map(({ status }) => status);
  }

  const visitors = (count: number) => Array.from({ length: count }, (_, n) => `203.0.113.${n}`);

  it('takes at most 80 % of the requests, and the secret key has the rest', async () => {
    const [publicStatuses, secretStatuses] = await withinOneMinute(async (owner) => [
      await trackOften(owner, visitors(3 * LIMIT)),
      (await Promise.all(Array.from({ length: LIMIT }, () => call(second, owner)))).map(({ status }) => status),
    ]);
    // One request with the secret key went ahead of these.
    expect([passed(publicStatuses), passed(secretStatuses)]).toEqual([PUBLIC_LIMIT, LIMIT - PUBLIC_LIMIT - 1]);
  });

  it('is told that nothing is left when its share is used up', async () => {
    const reply = await withinOneMinute(async (owner) => {
      await trackOften(owner, visitors(LIMIT));
      return track(owner, '203.0.113.200');
    });
    expect([reply.status, reply.headers.get('ratelimit-limit'), reply.headers.get('ratelimit-remaining')]).toEqual([
      429,
      String(LIMIT),
      '0',
    ]);
  });

  it('gives one visitor no more than it leaves to the others', async () => {
    const [attacker, others, refusal] = await withinOneMinute(async (owner) => {
      const often = Array.from({ length: 2 * LIMIT }, () => '203.0.113.1');
      const statuses = await trackOften(owner, often);
      return [
        statuses,
        await trackOften(owner, visitors(PUBLIC_LIMIT / 4)),
        await track(owner, '203.0.113.1'),
      ] as const;
    });
    expect(passed(attacker)).toBe(PUBLIC_LIMIT / 2);
    expect(passed(others)).toBe(PUBLIC_LIMIT / 4 - 1);
    expect(refusal.status).toBe(429);
    expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(refusal.headers.get('ratelimit-remaining')).toBe('0');
  });
});

describe('authentication', () => {
  it('of other projects does not wait for a project whose counter is locked', async () => {
    const stuck = await first.createProject();
    const other = await first.createProject();
    await call(first, stuck);
    const blocker = first.em();
    await blocker.begin();
    await queryOne(blocker, sql`select from rate_window where project_id = ${stuck.project.id} for update`);
    let isAnswered = false;
    const waiting = call(first, stuck).then((reply) => {
      isAnswered = true;
      return reply;
    });
    // A statement delays the requests whose keys are in it, and no others.
    await eventually(async () => {
      const blocked = sql`select count(*) as held from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0 and datname = current_database()`;
      return (await queryOne(second.em(), blocked))?.held === 1;
    });
    for (let turn = 0; turn < 5; turn++) expect((await call(first, other)).status).toBe(200);
    expect(isAnswered).toBe(false);
    await blocker.rollback();
    expect((await waiting).status).toBe(200);
  });
});
