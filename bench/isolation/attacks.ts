import { brotliCompressSync, constants } from 'node:zlib';
import { setTimeout as delay } from 'node:timers/promises';
import { query, sql } from '../../shared/database/sql.ts';
import type { BenchContext } from '../harness/contract.ts';
import type { BenchStack } from '../harness/stack.ts';

/** The tenant that attacks: the project of the stack. */
export interface Attacker {
  context: BenchContext;
  stack: BenchStack;
}

/** An attack. `prepare` sets it up and returns a function that starts it, which returns a function that ends it. */
interface Attack {
  name: string;
  prepare: (attacker: Attacker) => Promise<() => Promise<() => Promise<void>>>;
  /** Removes work that would go on afterwards. */
  cleanUp?: (attacker: Attacker) => Promise<void>;
}

/** Runs `work` in several loops at the same time until stopped. The loops wait for answers, but ignore them. */
function inLoops(count: number, work: () => Promise<unknown>): () => Promise<void> {
  let isStopped = false;
  const loop = async (): Promise<void> => {
    while (!isStopped) {
      await work().catch(() => undefined);
      await delay(1);
    }
  };
  const loops = Array.from({ length: count }, loop);
  return async () => {
    isStopped = true;
    await Promise.all(loops);
  };
}

async function post(attacker: Attacker, path: string, body: unknown): Promise<Response> {
  return fetch(`${attacker.stack.apiUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${attacker.stack.project.secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
}

async function get(attacker: Attacker, path: string): Promise<void> {
  const response = await fetch(`${attacker.stack.apiUrl}${path}`, {
    headers: { authorization: `Bearer ${attacker.stack.project.secretKey}` },
    signal: AbortSignal.timeout(60_000),
  });
  await response.arrayBuffer();
}

/** Contacts of the attacker, up to a number. */
async function ensureContacts({ stack }: Attacker, count: number): Promise<void> {
  await query(
    stack.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
      select everpost_uuid_v7(), ${stack.project.id}, 'reader' || n || '@attacker.example', true,
        jsonb_build_object('firstName', 'Reader ' || n, 'city', 'City ' || n % 97, 'points', n % 1000), now(), now()
      from generate_series(1, ${count}::int) n
      on conflict do nothing`,
  );
}

/** The most filters that a segment may have, none of which an index answers. */
function heaviestCondition(): unknown {
  const filters = Array.from({ length: 200 }, (_, n) => ({
    field: `data.city`,
    operator: 'notContains',
    value: `nowhere ${n}`,
  }));
  return { logic: 'AND', groups: [{ filters }] };
}

const heavyFilters: Attack = {
  name: 'filters',
  async prepare(attacker) {
    await ensureContacts(attacker, attacker.context.number('contacts'));
    const created = await post(attacker, '/segments', { name: 'Heavy', condition: heaviestCondition() });
    const { id } = (await created.json()) as { id: string };
    return async () =>
      inLoops(8, async () => {
        await get(attacker, `/segments/${id}/contacts?pageSize=100`);
        await get(attacker, '/contacts?search=zzz&limit=100');
        await get(attacker, '/activity/stats');
      });
  },
};

const throttledCampaigns: Attack = {
  name: 'campaigns',
  async prepare(attacker) {
    const { stack, context } = attacker;
    await ensureContacts(attacker, context.number('recipients'));
    await query(stack.em(), sql`update project set emails_per_second = 20 where id = ${stack.project.id}`);
    return async () => {
      // The first goes to all, the others to a thousandth each.
      for (let n = 0; n < 5; n++) {
        const filters = [{ field: 'data.points', operator: 'equals', value: n }];
        const created = await post(attacker, '/campaigns', {
          name: `Campaign ${n}`,
          subject: 'News {{firstName}}',
          body: '<p>News for {{firstName}}.</p>',
          from: `news@${stack.project.domain}`,
          audienceType: n === 0 ? 'ALL' : 'FILTERED',
          ...(n > 0 && { audienceCondition: { logic: 'AND', groups: [{ filters }] } }),
        });
        const { data } = (await created.json()) as { data: { id: string } };
        await post(attacker, `/campaigns/${data.id}/send`, {});
      }
      return async () => undefined;
    };
  },
  async cleanUp(attacker) {
    const { stack } = attacker;
    const { data } = (await stack.call('GET', '/campaigns?status=SENDING')) as { data: { id: string }[] };
    for (const { id } of data) await post(attacker, `/campaigns/${id}/cancel`, {});
    await query(stack.em(), sql`update project set emails_per_second = null where id = ${stack.project.id}`);
  },
};

const cancellations: Attack = {
  name: 'cancellations',
  async prepare(attacker) {
    const { stack, context } = attacker;
    await ensureContacts(attacker, context.number('executions'));
    const automation = (await stack.call('POST', '/workflows', { name: 'Many', eventName: 'never' })) as { id: string };
    await stack.call('POST', `/workflows/${automation.id}/steps`, {
      type: 'DELAY',
      name: 'Wait',
      config: { amount: 30, unit: 'days' },
      autoConnect: true,
    });
    await stack.call('PATCH', `/workflows/${automation.id}`, { enabled: true });
    await query(
      stack.em(),
      sql`
        insert into automation_execution (id, project_id, automation_id, graph_id, contact_id, status, is_first, started_at,
          created_at, updated_at)
        select everpost_uuid_v7(), a.project_id, a.id, a.graph_id, c.id, 'WAITING', true, now(), now(), now()
        from automation a, (select id from contact where project_id = ${stack.project.id}
          limit ${context.number('executions')}::int) c
        where a.id = ${automation.id}`,
    );
    return async () => {
      const cancelled = post(attacker, `/workflows/${automation.id}/executions/cancel-all`, {}).catch(() => undefined);
      return async () => void (await cancelled);
    };
  },
};

const brokenMessages: Attack = {
  name: 'broken-messages',
  async prepare(attacker) {
    return async () => {
      const to = (n: number): string[] =>
        Array.from({ length: 100 }, (_, index) => `broken${n}.${index}@attacker.example`);
      for (let n = 0; n < 10; n++) {
        await post(attacker, '/v1/send', {
          to: to(n),
          from: `orders@${attacker.stack.project.domain}`,
          subject: 'Broken',
          body: '<p>Broken.</p>',
        });
      }
      return async () => undefined;
    };
  },
};

/** A line of 100 Mbit/s. One guest has no more, and on the same machine a faster sender would itself be the load. */
const LINE_BYTES_PER_MS = 12_500;
const GUEST_CONNECTIONS = 50;

async function postWithoutKey(stack: BenchStack, body: Buffer, headers: Record<string, string> = {}): Promise<void> {
  const response = await fetch(`${stack.apiUrl}/v1/send`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    signal: AbortSignal.timeout(60_000),
  });
  await response.arrayBuffer();
}

/** Large bodies, as fast as the line allows. */
const keylessFloods: Attack = {
  name: 'keyless-floods',
  async prepare({ stack }) {
    const bomb = brotliCompressSync(Buffer.alloc(59_000_000, '[],'), {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4 },
    });
    const plain = Buffer.from(`[${'[],'.repeat(1_600_000)}[]]`);
    return async () => {
      const startedAt = performance.now();
      let bytes = 0;
      return inLoops(4, async () => {
        await postWithoutKey(stack, bomb, { 'content-encoding': 'br' }).catch(() => undefined);
        bytes += plain.length;
        await postWithoutKey(stack, plain).catch(() => undefined);
        await delay(Math.max(10, startedAt + bytes / LINE_BYTES_PER_MS - performance.now()));
      });
    };
  },
};

/** Small requests, as fast as answers come. */
const keylessRequests: Attack = {
  name: 'keyless-requests',
  async prepare({ stack }) {
    const requests = [
      () => postWithoutKey(stack, Buffer.from('{"broken": ')),
      () => postWithoutKey(stack, Buffer.from('{}'), { authorization: 'Bearer sk_unknown' }),
      () => postWithoutKey(stack, Buffer.from(`[${'[],'.repeat(20_000)}0]`)),
    ];
    let count = 0;
    return async () => inLoops(GUEST_CONNECTIONS, async () => requests[count++ % requests.length]?.());
  },
};

export const ATTACKS: Attack[] = [
  heavyFilters,
  throttledCampaigns,
  cancellations,
  brokenMessages,
  keylessFloods,
  keylessRequests,
];
