import { afterAll, beforeAll, it } from '@jest/globals';
import { query, sql } from '../../shared/database/sql.ts';
import { addToOutbox } from '../../shared/durable/outbox/outbox.ts';
import { optInWorkflowId } from '../../shared/pure/workflow-contracts.ts';
import { storeHistory } from '../support/histories.ts';
import { confirm, optInsOf, subscribe } from '../support/opt-ins.ts';
import { eventually, startTestStack, type TestStack } from '../support/stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.stop());

const optInOf = async (email: string) => (await optInsOf(stack.em(), stack.project.id, email))[0];
const untilMails = (email: string, mails: number) => eventually(async () => (await optInOf(email))?.mails === mails);

async function store(email: string, name: string): Promise<void> {
  const workflowId = optInWorkflowId((await optInOf(email))?.id as string);
  await stack.temporal.client.workflow.getHandle(workflowId).result();
  await storeHistory(stack.temporal.client, workflowId, name);
}

it('records an opt-in that is asked for twice and confirmed', async () => {
  const email = 'twice@mail.test';
  for (const mails of [1, 2]) {
    await subscribe(stack, { email });
    await untilMails(email, mails);
  }
  await confirm(stack, (await optInOf(email))?.id as string);
  await store(email, 'optIn.asked-twice-and-confirmed');
}, 60_000);

it('records an opt-in with a reminder that nobody confirms', async () => {
  const email = 'never@mail.test';
  await subscribe(stack, { email });
  await untilMails(email, 1);
  // The times that the settings give in days, in seconds.
  await query(
    stack.em(),
    sql`update opt_in set remind_at = now() + interval '1 second', expires_at = now() + interval '3 seconds'`,
  );
  await addToOutbox(stack.em(), 'optIn', stack.project.id, [(await optInOf(email))?.id as string]);
  await store(email, 'optIn.reminded-and-expired');
}, 60_000);
