import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findFreePort } from '../local/processes/free-port.ts';
import { json, query, sql } from '../shared/database/sql.ts';
import type { Hold } from '../shared/pure/emails/hold.ts';
import { campaignContent } from './support/campaigns.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const PATIENCE_MS = 60_000;

let stack: TestStack;
beforeAll(async () => {
  const nobody = `smtp://127.0.0.1:${await findFreePort(0)}`;
  stack = await startTestStack({ config: { SMTP_URL: [nobody], DELIVERY_PAUSE_SECONDS: 2 } });
  await stack.api('POST', '/contacts', { body: { email: 'ada@mail.test', subscribed: true } });
});
afterAll(() => stack.stop());

const waitOf = async (emailId: string) => (await stack.api('GET', `/emails/${emailId}`)).body.waiting;

async function emailOf(filter: string): Promise<string> {
  return eventually(async () => (await stack.api('GET', `/emails?${filter}`)).body.emails[0]?.id, PATIENCE_MS);
}

async function startCampaign(): Promise<{ id: string; emailId: string }> {
  const { body } = await stack.api('POST', '/campaigns', { body: campaignContent() });
  const { id } = body.data;
  await stack.api('POST', `/campaigns/${id}/send`, { body: {} });
  return { id, emailId: await emailOf(`campaignId=${id}`) };
}

describe('while no mail server answers, an email says so', () => {
  it('when it is transactional', async () => {
    const from = 'hello@example.com';
    await stack.api('POST', '/v1/send', { body: { to: 'eve@mail.test', from, subject: 'S', body: 'B' } });
    const id = await emailOf('address=eve@mail.test');
    await eventually(async () => (await waitOf(id))?.reason === 'no relay', PATIENCE_MS);
    const [item] = (await stack.api('GET', '/activity/queue')).body.waiting;
    expect(item).toMatchObject({ kind: 'email', reason: 'No mail server answers' });
  });

  it('when it belongs to a campaign, and the campaign says so as well', async () => {
    const { id, emailId } = await startCampaign();
    const waiting = await eventually(async () => {
      const found = await waitOf(emailId);
      return found?.reason === 'no relay' && found;
    }, PATIENCE_MS);
    expect(waiting).toEqual({ reason: 'no relay', until: expect.any(String), words: 'No mail server answers' });
    const { body } = await stack.api('GET', `/campaigns/${id}`);
    expect(body.waiting).toMatchObject({ reason: 'No mail server answers', relay: expect.stringMatching(/^127/) });
    await stack.api('POST', `/campaigns/${id}/pause`, { body: {} });
    expect(await waitOf(emailId)).toEqual({ reason: 'campaign paused', until: null, words: null });
    await stack.api('POST', `/campaigns/${id}/cancel`, { body: {} });
    await eventually(
      async () => (await stack.api('GET', `/emails/${emailId}`)).body.status === 'CANCELLED',
      PATIENCE_MS,
    );
    expect(await waitOf(emailId)).toBeNull();
  });
});

it('an email of a campaign that waits because of complaints says so', async () => {
  const { id, emailId } = await startCampaign();
  const until = '2099-01-01T00:00:00.000Z';
  const hold: Hold = {
    level: 'stream',
    reason: 'complaints',
    words: 'Too many complain',
    provider: 'mail.test',
    until,
  };
  await stack.stopWorkers();
  await query(stack.em(), sql`update campaign set waiting = ${json(hold)}::jsonb where id = ${id}`);
  expect(await waitOf(emailId)).toEqual({ reason: 'complaints', until, words: hold.words });
});
