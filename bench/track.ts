import { isDeepStrictEqual } from 'node:util';
import { queryOne, sql } from '../shared/database/sql.ts';
import { number } from '../shared/database/tables.ts';
import { createAutomation } from './automations.ts';
import type { Bench } from './harness/contract.ts';
import { measureEndpoint, POOL_SIZE, REQUEST_OPTIONS } from './harness/request-bench.ts';

const EVENT = 'viewed';

export const bench: Bench = {
  description: 'POST /v1/track a second, contact and event stored, against a bare Express handler with one INSERT.',
  options: { ...REQUEST_OPTIONS, listening: { type: 'boolean' } },
  async run(context) {
    const stack = await context.startStack({ hasWorker: false, env: { DATABASE_POOL_SIZE: POOL_SIZE } });
    const isListening = context.flag('listening');
    if (isListening) await createAutomation(stack, EVENT);
    const { result, nextNumber } = await measureEndpoint(context, stack, 'track', {
      path: '/v1/track',
      key: stack.project.publicKey,
      body: JSON.stringify({
        email: 'reader{n}@example.com',
        event: EVENT,
        data: { page: '/pricing', visit: '{n}' },
      }),
    });
    const stored = await queryOne(
      stack.em(),
      sql`
        select (select count(*) from event where name = ${EVENT}) as events, (select count(*) from contact) as contacts,
          (select count(*) from automation_execution) as executions`,
      { events: number, contacts: number, executions: number },
    );
    const expected = { events: nextNumber, contacts: nextNumber, executions: isListening ? nextNumber : 0 };
    if (!isDeepStrictEqual({ ...stored }, expected)) {
      throw new Error(`${nextNumber} requests were accepted, but the database has ${JSON.stringify(stored)}`);
    }
    return { ...result, isListening };
  },
};
