import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { requeueNextRecipients } from '../../shared/domain/campaigns/resend.ts';
import { sql } from '../../shared/database/sql.ts';
import { query, queryOne } from '../../tests/support/rows.ts';
import type { CampaignStatus } from '../../shared/pure/campaigns/campaign-status.ts';
import { startCampaignApi, UNKNOWN_ID, type CampaignApi } from '../../tests/support/campaigns.ts';

let app: CampaignApi;
beforeAll(async () => {
  app = await startCampaignApi();
});
afterAll(() => app.stop());

/** Each recipient by its state and the state of its contact. */
type Recipient = [name: string, state: string, change?: 'unsubscribed' | 'deleted' | 'suppressed' | 'accepted before'];

/** A campaign that has ended, with these recipients and the counters that belong to them. */
async function endedCampaign(recipients: Recipient[], status: CampaignStatus = 'SENT', error = null as string | null) {
  const { id } = await app.createCampaign();
  const address = (name: string) => `${name}-${id}@mail.test`;
  for (const [index, [name, state, change]] of recipients.entries()) {
    await app.api('POST', '/contacts', { body: { email: address(name), subscribed: change !== 'unsubscribed' } });
    await query(
      app.em(),
      sql`
        insert into email (id, project_id, contact_id, campaign_id, campaign_seq, to_address, status, created_at, sent_at,
          delivered_at, bounced_at, error, deferrals)
        select everpost_uuid_v7(), project_id, id, ${id}, ${index + 1}, email, ${state}, now(),
          case when ${state === 'SENT' || change === 'accepted before'}::boolean then now() end,
          case when ${change === 'accepted before'}::boolean then now() end,
          case when ${state === 'BOUNCED'}::boolean then now() end, 'because', 2
        from contact where email = ${address(name)}`,
    );
    if (change === 'suppressed') await app.api('POST', '/suppressions', { body: { emails: [address(name)] } });
    if (change === 'deleted')
      await query(app.em(), sql`update email set contact_id = null where to_address = ${address(name)}`);
  }
  await query(
    app.em(),
    sql`
      update campaign c set status = ${status}, error = ${error}, audience_frozen = true, sent_at = now() - interval '1 day',
        total_recipients = n.total, sent_count = n.sent, delivered_count = n.delivered, bounced_count = n.bounced,
        failed_count = n.failed, skipped_count = n.skipped, suppressed_count = n.suppressed
      from (${counted(id)}) n where c.id = ${id}`,
  );
  return { id, address };
}

/** The counters that a campaign must have, counted from its recipients. */
const counted = (id: string) => sql`
  select count(*)::int as total, count(sent_at)::int as sent, count(delivered_at)::int as delivered,
    count(bounced_at)::int as bounced, count(*) filter (where status = 'FAILED')::int as failed,
    count(*) filter (where status = 'SKIPPED')::int as skipped,
    count(*) filter (where status = 'SUPPRESSED')::int as suppressed
  from email where campaign_id = ${id}`;

async function expectCountersToAgree(id: string): Promise<void> {
  const counters = sql`
    select total_recipients as total, sent_count as sent, delivered_count as delivered, bounced_count as bounced,
      failed_count as failed, skipped_count as skipped, suppressed_count as suppressed
    from campaign where id = ${id}`;
  expect(await queryOne(app.em(), counters)).toEqual(await queryOne(app.em(), counted(id)));
}

async function namesIn(id: string, state: string): Promise<string[]> {
  const { body } = await app.api('GET', `/campaigns/${id}/recipients?state=${state}`);
  return (body.recipients as { email: string }[]).map(({ email }) => email.replace(`-${id}@mail.test`, '')).sort();
}

const resend = (id: string, states: unknown, headers: Record<string, string> = {}) =>
  app.api('POST', `/campaigns/${id}/resend`, { body: { states }, headers });

const everybody: Recipient[] = [
  ['sent', 'SENT'],
  ['failed', 'FAILED'],
  ['failed and unsubscribed', 'FAILED', 'unsubscribed'],
  ['failed and suppressed', 'FAILED', 'suppressed'],
  ['failed and deleted', 'FAILED', 'deleted'],
  ['bounced', 'BOUNCED'],
  ['bounced late', 'BOUNCED', 'accepted before'],
  ['skipped', 'SKIPPED'],
  ['suppressed', 'SUPPRESSED', 'suppressed'],
].map(([name, ...rest]) => [name?.replaceAll(' ', '.'), ...rest] as Recipient);

describe('POST /campaigns/:id/resend', () => {
  it.each<[string[], string[]]>([
    [['FAILED'], ['failed']],
    [['BOUNCED'], ['bounced', 'bounced.late']],
    [
      ['SKIPPED', 'FAILED', 'FAILED'],
      ['failed', 'skipped'],
    ],
    [
      ['FAILED', 'BOUNCED', 'SKIPPED', 'SUPPRESSED'],
      ['bounced', 'bounced.late', 'failed', 'skipped'],
    ],
  ])(
    'of %j queues the recipients who may be sent to, with their emails and counters reset',
    async (states, expected) => {
      const { id } = await endedCampaign(everybody);
      const sentAt = (await app.read(id)).sentAt;
      const reply = await resend(id, states);
      expect([reply.status, reply.body.status, reply.body.sentAt]).toEqual([200, 'SENDING', sentAt]);
      expect(await requeueNextRecipients(app.em(), id)).toBe(true);
      expect(await namesIn(id, 'PENDING')).toEqual(expected);
      await expectCountersToAgree(id);
      const fresh = sql`
      select from email where campaign_id = ${id} and status = 'PENDING' and deferrals = 0 and error is null
        and sent_at is null and bounced_at is null`;
      expect(await query(app.em(), fresh)).toHaveLength(expected.length);
      // Called again, as a repeated activity does.
      expect(await requeueNextRecipients(app.em(), id)).toBe(true);
      expect(await namesIn(id, 'PENDING')).toEqual(expected);
    },
  );

  it('leaves out recipients who bounce after the request', async () => {
    const { id, address } = await endedCampaign([
      ['one', 'FAILED'],
      ['late', 'SENT'],
    ]);
    await resend(id, ['FAILED', 'BOUNCED']);
    await query(
      app.em(),
      sql`
        update email set status = 'BOUNCED', bounced_at = now() + interval '1 second'
        where to_address = ${address('late')}`,
    );
    await requeueNextRecipients(app.em(), id);
    expect(await namesIn(id, 'PENDING')).toEqual(['one']);
  });

  it('queues nobody when the campaign has been cancelled meanwhile', async () => {
    const { id } = await endedCampaign(everybody);
    await resend(id, ['FAILED']);
    await app.call('POST', id, '/cancel');
    expect(await requeueNextRecipients(app.em(), id)).toBe(true);
    expect(await namesIn(id, 'PENDING')).toEqual([]);
    await expectCountersToAgree(id);
  });

  it('sends a campaign that ended with an error again once all recipients have their outcome', async () => {
    const { id } = await endedCampaign(
      [
        ['one', 'FAILED'],
        ['two', 'PENDING'],
      ],
      'CANCELLED',
      'No SMTP server took mail',
    );
    const early = await resend(id, ['FAILED']);
    expect([early.status, early.body.error.suggestion]).toEqual([400, expect.stringMatching(/^Try again in a minute/)]);
    await query(app.em(), sql`update email set status = 'FAILED' where campaign_id = ${id}`);
    const reply = await resend(id, ['FAILED']);
    expect([reply.status, reply.body]).toMatchObject([200, { status: 'SENDING', error: null }]);
  });

  it('sends once when it is called several times at once, or repeatedly with one Idempotency-Key', async () => {
    const { id } = await endedCampaign([['one', 'FAILED']]);
    const replies = await Promise.all(Array.from({ length: 5 }, () => resend(id, ['FAILED'])));
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect(await app.outboxRows(id)).toBe(1);

    const other = await endedCampaign([['one', 'FAILED']]);
    const key = { 'idempotency-key': `resend ${other.id}` };
    expect((await resend(other.id, ['FAILED'], key)).status).toBe(200);
    await query(app.em(), sql`update campaign set status = 'SENT' where id = ${other.id}`);
    const again = await resend(other.id, ['FAILED'], key);
    expect([again.status, again.body.error.details.originalStatusCode]).toEqual([409, 200]);
  });

  it.each([
    [['SENT']],
    [['FAILED', 'PENDING']],
    [['NOPE']],
    [['failed']],
    [[]],
    ['FAILED'],
    [[7]],
    [undefined],
    [null],
  ])('with the states %j is 422 and names the field', async (states) => {
    const { id } = await endedCampaign([['one', 'FAILED']]);
    const reply = await resend(id, states);
    expect([reply.status, reply.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(reply.body.error.errors[0].field).toMatch(/^states/);
    expect((await app.read(id)).status).toBe('SENT');
  });

  it.each<CampaignStatus>(['DRAFT', 'SCHEDULED', 'SENDING', 'CANCELLED'])(
    'of a campaign in %s is 400',
    async (status) => {
      const before = await app.campaignIn(status);
      const reply = await resend(before.id, ['FAILED']);
      expect([reply.status, reply.body.error.details]).toEqual([400, { status }]);
      expect(await app.read(before.id)).toEqual(before);
    },
  );

  it('that would leave everybody out is 400 and says so', async () => {
    const { id } = await endedCampaign([
      ['gone', 'FAILED', 'deleted'],
      ['left', 'FAILED', 'unsubscribed'],
      ['blocked', 'SUPPRESSED', 'suppressed'],
    ]);
    const before = await app.read(id);
    const reply = await resend(id, ['FAILED', 'SUPPRESSED']);
    expect([reply.status, reply.body.error]).toEqual([
      400,
      expect.objectContaining({
        message: 'Campaign has no recipients in these states who may have it',
        details: { states: ['FAILED', 'SUPPRESSED'] },
        suggestion: expect.stringContaining('unsubscribed'),
      }),
    ]);
    expect(await app.read(id)).toEqual(before);
  });

  it('without recipients in the states is 400, and of an unknown or foreign campaign 404', async () => {
    const { id } = await endedCampaign([['one', 'SENT']]);
    expect((await resend(id, ['FAILED'])).body.error.message).toBe('Campaign has no recipients in these states');
    expect((await resend(UNKNOWN_ID, ['FAILED'])).status).toBe(404);
    const theirs = await app.createCampaign({}, await app.createProject());
    expect((await resend(theirs.id, ['FAILED'])).status).toBe(404);
  });
});
