import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { sql } from '../../../shared/database/sql.ts';
import { callsTo, type TestApi, type TestProject } from '../api.ts';
import { campaignContent } from '../campaigns.ts';
import { eventually } from '../eventually.ts';
import type { SmtpSink } from '../smtp-sink.ts';
import { PATIENCE_MS } from './load.ts';
import { query, queryOne } from '../rows.ts';

const RECIPIENTS = 300;
const FAILED = 220;
/** How many of the failed recipients are suppressed, and how many are unsubscribed. */
const LEFT_OUT = 2;
/** Each address is at a provider of its own, because sending to a provider that refuses many would pause. */
export const RESEND_DOMAIN = /@m\d+\.test$/;
const address = (n: number) => `reader@m${n}.test`;

/** Creates a campaign that was sent to all contacts and refused by some. @returns its id */
async function createFailures(prepared: TestApi, { api, project }: TestProject): Promise<string> {
  await query(
    prepared.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, created_at, updated_at)
      select everpost_uuid_v7(), ${project.id}, 'reader@m' || n || '.test', true, now(), now()
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
export async function resendWork(prepared: TestApi, sink: SmtpSink) {
  const project = await prepared.createProject();
  const id = await createFailures(prepared, project);
  const read = async () => (await project.api('GET', `/campaigns/${id}`)).body;
  const { sentAt } = await read();
  await project.api('POST', '/suppressions', { body: { emails: [address(1)] } });
  const found = await project.api('GET', `/contacts?search=${address(2)}`);
  const contactId = found.body.data.find(({ email }: { email: string }) => email === address(2)).id;
  await project.api('PATCH', `/contacts/${contactId}`, { body: { subscribed: false } });
  const stopWatching = watchCounters(prepared, id);

  return {
    /** Requests it from an API that is killed meanwhile, until it has begun. */
    async ask(apiUrl: string, killApi: () => Promise<void>): Promise<void> {
      const request = () =>
        callsTo(apiUrl, project.keys)('POST', `/campaigns/${id}/resend`, { body: { states: ['FAILED'] } });
      const asking = request().catch(() => undefined);
      await killApi();
      await asking;
      await eventually(async () => {
        if ((await read()).status !== 'SENT') return true;
        return (await request().catch(() => undefined))?.status === 200;
      }, PATIENCE_MS);
    },
    /** @param sentBeforeKills the emails that were let through before the last kill of a worker */
    async check(sentBeforeKills: number): Promise<void> {
      const campaign = await eventually(async () => {
        const now = await read();
        return now.status === 'SENT' && now;
      }, PATIENCE_MS);
      expect(await stopWatching()).toBe(0);
      const counts = new Map([...sink.recipientCounts()].filter(([recipient]) => RESEND_DOMAIN.test(recipient)));
      const meant = Array.from({ length: FAILED - LEFT_OUT }, (_, n) => address(n + 1 + LEFT_OUT));
      expect([...counts.keys()].sort()).toEqual(meant.sort());
      expect(campaign).toMatchObject({ totalRecipients: RECIPIENTS, sentCount: RECIPIENTS - LEFT_OUT, sentAt });
      expect((await project.api('GET', `/campaigns/${id}/stats`)).body.failedCount).toBe(LEFT_OUT);
      // Emails that a killed worker had sent but not recorded are sent once more. All that the gate lets through may be
      // unrecorded at the kill that follows.
      const repeated = [...counts.values()].reduce((sum, count) => sum + count - 1, 0);
      process.stderr.write(`sent again under ten kills: ${repeated} of ${counts.size} emails went out twice\n`);
      expect(repeated).toBeLessThanOrEqual(sentBeforeKills);
    },
  };
}
