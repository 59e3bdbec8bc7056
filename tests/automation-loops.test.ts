import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LIMITS } from '../shared/pure/limits.ts';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import type { TestProject } from './support/api.ts';
import { createAutomation, createTemplate, executionsOf, track, type TestStep } from './support/automations.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const TIMEOUT_MS = 120_000;

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack({ config: { API_RATE_LIMIT_PER_MINUTE: 100_000 } });
});
afterAll(() => stack.stop());

const sentTo = (address: string) => stack.sink.messages().filter((message) => message.to.includes(address)).length;
const change = (config: object): Record<string, TestStep> => ({ Change: { type: 'UPDATE_CONTACT', config } });
const again = { allowReentry: true };

async function refusalsOf(on: TestProject): Promise<any[]> {
  return (await on.api('GET', '/activity?types=workflow.refused')).body.data;
}

/** Waits until a chain was refused, and no execution, outbox row or email of the project is open. */
async function untilQuiet(on: TestProject): Promise<void> {
  await eventually(async () => {
    if ((await refusalsOf(on)).length === 0) return false;
    const active = await query(
      stack.em(),
      sql`
        select from automation_execution where project_id = ${on.project.id} and status in ('RUNNING', 'WAITING')
        union all select from outbox where project_id = ${on.project.id}
        union all select from email where project_id = ${on.project.id} and status in ('PENDING', 'SENDING')`,
    );
    return active.length === 0;
  }, TIMEOUT_MS);
}

describe('automations that start one another', () => {
  it(
    'by the emails they send stop, and automations of another project go on',
    async () => {
      const [ring, other] = [await stack.createProject(), await stack.createProject()];
      const mail = async (on: TestProject): Promise<Record<string, TestStep>> => ({
        Mail: { type: 'SEND_EMAIL', templateId: await createTemplate(on) },
      });
      const ids = [
        await createAutomation(ring, 'email.sent', await mail(ring), again),
        await createAutomation(ring, 'email.sent', await mail(ring), again),
      ];
      const quiet = await createAutomation(other, 'email.sent', change({ data: { written: true } }), again);
      for (const [project, to] of [[ring, 'ring@mail.test'] as const, [other, 'quiet@mail.test'] as const]) {
        await project.api('POST', '/v1/send', { body: { to, from: 'a@example.com', subject: 'Hi', body: 'Hi' } });
      }
      await untilQuiet(ring);
      const executions = (await Promise.all(ids.map((id) => executionsOf(ring, id)))).flat();
      expect(executions.length).toBeLessThanOrEqual(2 * LIMITS.automationChain);
      expect(executions.length).toBeGreaterThanOrEqual(LIMITS.automationChain);
      expect(sentTo('ring@mail.test')).toBe(executions.length + 1);
      expect((await refusalsOf(ring))[0].metadata).toMatchObject({ reason: 'CHAIN_TOO_LONG' });
      expect(await executionsOf(other, quiet)).toMatchObject([{ status: 'COMPLETED' }]);
      expect(await refusalsOf(other)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'by the subscriptions they change stop',
    async () => {
      const ring = await stack.createProject();
      const on = await createAutomation(ring, 'contact.unsubscribed', change({ subscribed: true }), again);
      const off = await createAutomation(ring, 'contact.subscribed', change({ subscribed: false }), again);
      const { contact } = await track(ring, 'flips@mail.test', 'hello');
      await ring.api('PATCH', `/contacts/${contact}`, { body: { subscribed: false } });
      await untilQuiet(ring);
      expect([(await executionsOf(ring, on)).length, (await executionsOf(ring, off)).length]).toEqual([4, 4]);
    },
    TIMEOUT_MS,
  );

  it(
    'by an email and by subscriptions, three in a ring, stop',
    async () => {
      const ring = await stack.createProject();
      const templateId = await createTemplate(ring);
      const ids = [
        await createAutomation(ring, 'contact.unsubscribed', change({ subscribed: true }), again),
        await createAutomation(ring, 'contact.subscribed', { Mail: { type: 'SEND_EMAIL', templateId } }, again),
        await createAutomation(ring, 'email.sent', change({ subscribed: false }), again),
      ];
      const { contact } = await track(ring, 'three@mail.test', 'hello');
      await ring.api('PATCH', `/contacts/${contact}`, { body: { subscribed: false } });
      await untilQuiet(ring);
      const executions = (await Promise.all(ids.map((id) => executionsOf(ring, id)))).flat();
      expect(executions).toHaveLength(LIMITS.automationChain);
      expect(sentTo('three@mail.test')).toBe(3);
    },
    TIMEOUT_MS,
  );

  it(
    'by the segments a contact enters and leaves stop',
    async () => {
      const ring = await stack.createProject();
      const filters = [{ field: 'data.vip', operator: 'equals', value: true }];
      const condition = { logic: 'AND', groups: [{ filters }] };
      const segment = await ring.api('POST', '/segments', { body: { name: 'VIP', condition, trackMembership: true } });
      const ids = [
        await createAutomation(ring, 'segment.vip.entry', change({ data: { vip: false } }), again),
        await createAutomation(ring, 'segment.vip.exit', change({ data: { vip: true } }), again),
      ];
      await track(ring, 'vip@mail.test', 'hello', { vip: true });
      for (let round = 0; round < 2 * LIMITS.automationChain; round++) {
        await ring.api('POST', `/segments/${segment.body.id}/compute`);
        await eventually(async () => {
          const all = (await Promise.all(ids.map((id) => executionsOf(ring, id)))).flat();
          return all.every((execution) => execution.status === 'COMPLETED');
        });
      }
      const executions = (await Promise.all(ids.map((id) => executionsOf(ring, id)))).flat();
      expect(executions).toHaveLength(LIMITS.automationChain);
      expect((await refusalsOf(ring)).map((refusal) => refusal.metadata.reason)).toEqual(['CHAIN_TOO_LONG']);
    },
    TIMEOUT_MS,
  );
});
