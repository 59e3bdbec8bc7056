import { queryOne, sql } from '../shared/domain/database/sql.ts';
import type { Bench } from './harness/contract.ts';
import { measureEndpoint, POOL_SIZE, REQUEST_OPTIONS } from './harness/request-bench.ts';

export const bench: Bench = {
  description: 'POST /v1/track a second, contact and event stored, against a bare Express handler with one INSERT.',
  options: REQUEST_OPTIONS,
  async run(context) {
    const stack = await context.startStack({ hasWorker: false, env: { DATABASE_POOL_SIZE: POOL_SIZE } });
    const { result, nextNumber } = await measureEndpoint(context, stack, 'track', {
      path: '/v1/track',
      key: stack.project.publicKey,
      body: JSON.stringify({
        email: 'reader{n}@example.com',
        event: 'viewed',
        data: { page: '/pricing', visit: '{n}' },
      }),
    });
    const stored = await queryOne<{ events: number; contacts: number }>(
      stack.em(),
      sql`select (select count(*) from event where name = 'viewed') as events, (select count(*) from contact) as contacts`,
    );
    if (stored?.events !== nextNumber || stored.contacts !== nextNumber) {
      throw new Error(`${nextNumber} requests were accepted, but the database has ${JSON.stringify(stored)}`);
    }
    return result;
  },
};
