import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { createAutomation, track } from './support/automations.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

/** Contacts of each kind: their events come before the wait is stored, at about the same time, or after it. */
const CONTACTS = 20;
/** The pauses before the events are spread evenly over this time, in which an execution may reach its wait or not. */
const AROUND_MS = 400;
const PATIENCE_MS = 60_000;

let stack: TestStack;
let automationId: string;
beforeAll(async () => {
  stack = await startTestStack({ config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 } });
  automationId = await createAutomation(stack, 'ask', {
    'Answer?': {
      type: 'WAIT_FOR_EVENT',
      config: { eventName: 'answer', timeout: 3_600 },
      branches: { event: 'Yes', timeout: 'No' },
    },
    Yes: { type: 'EXIT', config: { reason: 'answered' } },
    No: { type: 'EXIT', config: { reason: 'silent' } },
  });
});
afterAll(() => stack.stop());

interface Standing {
  email: string;
  status: string;
  exitReason: string | null;
  /** The answer that the execution has taken. */
  answer: number | null;
  isWaiting: boolean;
}

async function standings(): Promise<Standing[]> {
  return query(
    stack.em(),
    sql`
      select c.email, x.status, x.exit_reason as "exitReason", (x.context ->> 'answer')::int as answer,
        exists (select from event_wait w where w.execution_id = x.id and w.event_id is null) as "isWaiting"
      from automation_execution x join contact c on c.id = x.contact_id where x.automation_id = ${automationId}`,
  );
}

const answer = (email: string, number: number) => track(stack, email, 'answer', { answer: number });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until every execution has its answer or an open wait for one. @returns the executions */
function settled(count: number): Promise<Standing[]> {
  return eventually(async () => {
    const all = await standings();
    return all.length === count && all.every((it) => it.status === 'EXITED' || it.isWaiting) && all;
  }, PATIENCE_MS);
}

describe('an event that races with the wait for it', () => {
  it(
    'ends the wait or leaves it open for the next event',
    async () => {
      const emails = (kind: string) => Array.from({ length: CONTACTS }, (_, i) => `${kind}${i}@mail.test`);

      // Right after the event that starts the execution.
      await Promise.all(emails('early').map(async (email) => track(stack, email, 'ask').then(() => answer(email, 1))));
      await Promise.all(
        emails('around').map(async (email, index) => {
          await track(stack, email, 'ask');
          await pause((index / CONTACTS) * AROUND_MS);
          await answer(email, 1);
        }),
      );
      await Promise.all(emails('late').map((email) => track(stack, email, 'ask')));
      const before = await settled(3 * CONTACTS);
      const late = before.filter((it) => it.email.startsWith('late'));
      expect(late.map((it) => it.isWaiting)).toEqual(Array.from({ length: CONTACTS }, () => true));

      // Every execution that waits gets an answer. Several answers at once count as one.
      const open = before.filter((it) => it.isWaiting).map((it) => it.email);
      await Promise.all(open.flatMap((email) => [answer(email, 2), answer(email, 2)]));
      const all = await eventually(async () => {
        const now = await standings();
        return now.every((it) => it.status === 'EXITED') && now;
      }, PATIENCE_MS);
      for (const standing of all) {
        const number = open.includes(standing.email) ? 2 : 1;
        expect(standing).toMatchObject({ exitReason: 'answered', answer: number, isWaiting: false });
      }
      expect(await query(stack.em(), sql`select from event_wait`)).toEqual([]);
    },
    2 * PATIENCE_MS,
  );
});
