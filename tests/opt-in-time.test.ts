import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { optInWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { eventually } from './support/eventually.ts';
import { sql } from '../shared/database/sql.ts';
import { confirm, optInsOf, subjectsTo, subscribe } from './support/opt-ins.ts';
import { query } from './support/rows.ts';
import { startTimeMachine, type TimeMachine } from './support/time-machine.ts';

const DAY_MS = 24 * 60 * 60_000;

let machine: TimeMachine;
/** How many attempts are lost after what they did was committed. */
let attemptsLost = 0;
beforeAll(async () => {
  machine = await startTimeMachine({
    replace: (real) => ({
      async advanceOptIn(input) {
        const outcome = await real.advanceOptIn(input);
        if (attemptsLost > 0) {
          attemptsLost -= 1;
          throw new Error('The worker ended before it could report.');
        }
        return outcome;
      },
    }),
  });
});
afterAll(() => machine.stop());

const optInOf = async (email: string) => (await optInsOf(machine.em(), machine.project.id, email)).at(-1);
const mailsTo = (email: string) => subjectsTo(machine.em(), machine.project.id, email);

/** Asks for newsletters, and waits for the confirmation. @returns the workflow */
async function ask(email: string) {
  await subscribe(machine, { email });
  // The clock of the workflows may be days ahead of that of PostgreSQL.
  const aheadMs = (await machine.environment.currentTimeMs()) - Date.now();
  await query(
    machine.em(),
    sql`
      update opt_in set remind_at = remind_at + ${aheadMs}::float8 * interval '1 millisecond',
        expires_at = expires_at + ${aheadMs}::float8 * interval '1 millisecond'
      where id = ${(await optInOf(email))?.id}`,
  );
  await machine.dispatch();
  await eventually(async () => (await mailsTo(email)).length === 1);
  return machine.environment.client.workflow.getHandle(optInWorkflowId((await optInOf(email))?.id as string));
}

describe('the workflow of an opt-in', () => {
  it('sends no reminder to who has confirmed', async () => {
    const email = 'quick@mail.test';
    const handle = await ask(email);
    await confirm(machine, (await optInOf(email))?.id as string);
    await machine.dispatch();
    expect(await handle.result()).toBe('confirmed');
    expect(await mailsTo(email)).toHaveLength(1);
  }, 60_000);

  it('reminds once after two days, and ends after seven', async () => {
    const email = 'slow@mail.test';
    const handle = await ask(email);
    await machine.environment.sleep(DAY_MS);
    expect(await mailsTo(email)).toHaveLength(1);
    await machine.environment.sleep(1.1 * DAY_MS);
    await eventually(async () => (await mailsTo(email)).length === 2);
    expect(await mailsTo(email)).toEqual([
      'Please confirm your subscription',
      'Reminder: please confirm your subscription',
    ]);
    expect(await handle.result()).toBe('expired');
    expect(await optInOf(email)).toMatchObject({ state: 'expired', mails: 2, is_pending: true, subscribed: false });
    const { startTime, closeTime } = await handle.describe();
    expect((closeTime!.getTime() - startTime.getTime()) / DAY_MS).toBeCloseTo(7, 1);
  }, 60_000);

  it('sends each email once, although attempts are lost after their commit', async () => {
    const email = 'lost@mail.test';
    attemptsLost = 2;
    const handle = await ask(email);
    await eventually(() => Promise.resolve(attemptsLost === 0));
    attemptsLost = 2;
    expect(await handle.result()).toBe('expired');
    expect(attemptsLost).toBe(0);
    expect(await mailsTo(email)).toEqual([
      'Please confirm your subscription',
      'Reminder: please confirm your subscription',
    ]);
  }, 60_000);

  it('ends on its own when its contact was deleted', async () => {
    const email = 'gone@mail.test';
    const handle = await ask(email);
    const { body } = await machine.api('POST', '/contacts/search', { body: { search: email } });
    await machine.api('DELETE', `/contacts/${body.data[0].id}`);
    expect(await handle.result()).toBe('deleted');
  }, 60_000);
});
