import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { sql } from '../../../shared/database/sql.ts';
import { callsTo, type TestApi, type TestProject } from '../api.ts';
import { campaignContent } from '../campaigns.ts';
import { eventually } from '../eventually.ts';
import { createGate } from '../gate.ts';
import { expectArrived, PATIENCE_MS, type KillWorld, type Load } from './load.ts';
import { query, queryOne } from '../rows.ts';

const RECIPIENTS = 300;
const FAILED = 220;
/** How many of the failed recipients are suppressed, and how many are unsubscribed. */
const LEFT_OUT = 2;
/** How many emails are let through before the last kill of a worker. */
const SENT_BEFORE_KILLS = 150;
const DOMAIN = 'again.test';
const address = (n: number) => `reader${n}@${DOMAIN}`;

/** Creates a campaign that was sent to all contacts and refused by some. @returns its id */
async function createFailures(prepared: TestApi, { api, project }: TestProject): Promise<string> {
  await query(
    prepared.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, created_at, updated_at)
      select everpost_uuid_v7(), ${project.id}, 'reader' || n || '@' || ${DOMAIN}::text, true, now(), now()
      from generate_series(1, ${RECIPIENTS}::int) n`,
  );
  const { body } = await api('POST', '/campaigns', { body: campaignContent() });
  const id: string = body.data.id;
  await query(
    prepared.em(),
    sql`
      insert into email (id, project_id, contact_id, campaign_id, campaign_seq, to_address, status, created_at, sent_at)
      select everpost_uuid_v7(), project_id, id, ${id}, n, email, case when n > ${FAILED} then 'SENT' else 'FAILED' end, now(),
        case when n > ${FAILED} then now() end
      from (select *, substring(email from '[0-9]+')::int as n from contact where project_id = ${project.id}) c`,
  );
  await query(
    prepared.em(),
    sql`
      update campaign set status = 'SENT', audience_frozen = true, sent_at = now() - interval '1 hour',
        total_recipients = ${RECIPIENTS}, failed_count = ${FAILED}, sent_count = ${RECIPIENTS - FAILED}
      where id = ${id}`,
  );
  return id;
}

/** Checks the counters of a campaign again and again. @returns a function that ends this, and counts the faults */
function watchCounters(prepared: TestApi, id: string): () => Promise<number> {
  const stopping = new AbortController();
  let faults = 0;
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      // Whether they agree with the states of the recipients, in one snapshot.
      const row = await queryOne(
        prepared.em(),
        sql`
          select c.total_recipients = count(*) and c.sent_count = count(e.sent_at)
            and c.failed_count = count(*) filter (where e.status = 'FAILED')
            and c.sent_count + c.failed_count + count(*) filter (where e.status = 'PENDING') = c.total_recipients as agree
          from campaign c join email e on e.campaign_id = c.id where c.id = ${id} group by c.id`,
      );
      if (row?.agree !== true) faults++;
      await delay(50);
    }
  })();
  return async () => {
    stopping.abort();
    await watching;
    return faults;
  };
}

/** A campaign that is sent again to those who failed. Two of them must not get it. */
export function resendLoad(world: KillWorld): Load {
  const gate = createGate(0);
  let project: TestProject;
  let id: string;
  let sentAt: string;
  let asking: Promise<unknown>;
  let stopWatching: () => Promise<number>;
  const read = async () => (await project.api('GET', `/campaigns/${id}`)).body;
  const request = () =>
    callsTo(world.apiUrl, project.keys)('POST', `/campaigns/${id}/resend`, { body: { states: ['FAILED'] } });
  const openUntil = async (count: number) => gate.openUntil(count);

  return {
    name: 'the campaign reaches each of those who failed, and nobody else, and its counters always agree',
    isHeld: true,
    async begin() {
      project = await world.createProject();
      id = await createFailures(world, project);
      ({ sentAt } = await read());
      await project.api('POST', '/suppressions', { body: { emails: [address(1)] } });
      const found = await project.api('GET', `/contacts?search=${address(2)}`);
      const contactId = found.body.data.find(({ email }: { email: string }) => email === address(2)).id;
      await project.api('PATCH', `/contacts/${contactId}`, { body: { subscribed: false } });
      world.beforeReply.set(DOMAIN, gate.pass);
      stopWatching = watchCounters(world, id);
    },
    points: {
      asked: {
        async hold() {
          asking = request().catch(() => undefined);
        },
      },
      begun: {
        async hold() {
          await asking;
          await eventually(async () => {
            if ((await read()).status !== 'SENT') return true;
            return (await request().catch(() => undefined))?.status === 200;
          }, PATIENCE_MS);
        },
        letGo: () => openUntil(20),
      },
      entered: { hold: gate.untilHeld },
      'first sent': { letGo: () => openUntil(60) },
      waiting: { hold: gate.untilHeld },
      'more sent': {
        async hold() {
          await openUntil(100);
          await gate.untilHeld();
        },
      },
      calling: {
        async hold() {
          await openUntil(SENT_BEFORE_KILLS);
          await gate.untilHeld();
        },
      },
      'Temporal away': { letGo: () => openUntil(Infinity) },
    },
    async check() {
      const campaign = await eventually(async () => {
        const now = await read();
        return now.status === 'SENT' && now;
      }, PATIENCE_MS);
      expect(await stopWatching()).toBe(0);
      // Emails that a killed worker had sent but not recorded are sent once more. All that the gate lets through may be
      // unrecorded at the kill that follows.
      const meant = Array.from({ length: FAILED - LEFT_OUT }, (_, n) => address(n + 1 + LEFT_OUT));
      await expectArrived(world, meant, { repeats: SENT_BEFORE_KILLS });
      expect(campaign).toMatchObject({ totalRecipients: RECIPIENTS, sentCount: RECIPIENTS - LEFT_OUT, sentAt });
      expect((await project.api('GET', `/campaigns/${id}/stats`)).body.failedCount).toBe(LEFT_OUT);
    },
  };
}
