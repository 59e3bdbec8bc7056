import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { freezeNextRecipients } from '../shared/domain/campaigns/freeze-audience.ts';
import { changeTopics } from '../shared/domain/topics/topic-choices.ts';
import { createTopic } from '../shared/domain/topics/topics.ts';
import { sql } from '../shared/database/sql.ts';
import { createAutomation, createTemplate, executionsOf, track } from './support/automations.ts';
import { campaignContent } from './support/campaigns.ts';
import { query } from './support/rows.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const DEFAULTS = ['opt_in', 'opt_out'] as const;
type Default = (typeof DEFAULTS)[number];
/** What a contact has chosen, by the name of the contact. */
const CHOICES = { none: null, left: false, joined: true } as const;
type Name = keyof typeof CHOICES | 'paused' | 'rested' | 'pending' | 'unsubscribed';
const NAMES: readonly Name[] = ['none', 'left', 'joined', 'paused', 'rested', 'pending', 'unsubscribed'];
const CAUSE = { reason: 'api', endpoint: 'PUT /contacts/:id/topics' } as const;
const LATER = { code: 451, text: '4.3.0 Try again later', stage: 'data' } as const;

let stack: TestStack;
let round = 0;
beforeAll(async () => {
  stack = await startTestStack({ config: { DELIVERY_RETRY_SECONDS: [1, 1, 1], DELIVERY_PAUSE_SECONDS: 0.2 } });
});
afterAll(() => stack.stop());

/** The contacts of a round, by their names; each round has its own, and a tag that its audiences ask for. */
let contactIds: Map<Name, string>;
const address = (name: Name): string => `${name}-${round}@mail.test`;
beforeEach(async () => {
  round++;
  contactIds = new Map();
  stack.sink.clear();
  for (const name of NAMES) {
    const body = { email: address(name), subscribed: name !== 'unsubscribed', data: { round } };
    contactIds.set(name, (await stack.api('POST', '/contacts', { body })).body.id);
  }
  await query(
    stack.em(),
    sql`
      update contact set is_pending = split_part(email, '-', 1) = 'pending',
        paused_until = case split_part(email, '-', 1)
          when 'paused' then now() + interval '1 day' when 'rested' then now() - interval '1 second' end
      where id = any(${[...contactIds.values()]}::uuid[])`,
  );
});

async function choose(topicId: string, choices: Partial<Record<Name, boolean | null>>): Promise<void> {
  const changes = Object.entries(choices).map(([name, subscribed]) => {
    return { contactId: contactIds.get(name as Name)!, topicId, subscribed };
  });
  await changeTopics(stack.em(), stack.project.id, changes, CAUSE);
}

/** Creates a topic that the contacts of the round have chosen as their names say. */
async function addTopic(defaultSubscription: Default): Promise<string> {
  const input = { key: `t-${round}-${defaultSubscription}`, name: 'Weekly', visibility: 'public' } as const;
  const { id } = await createTopic(stack.em(), stack.project.id, { ...input, defaultSubscription });
  await choose(id, CHOICES);
  return id;
}

/** Who gets marketing about a topic. */
const receiversOf = (by: Default): Name[] => (by === 'opt_in' ? ['joined', 'none', 'rested'] : ['joined']);

const reached = (): string[] => [...stack.sink.recipientCounts().keys()].sort();
const addressesOf = (names: readonly Name[]): string[] => names.map(address).sort();

const ofThisRound = () => ({
  audienceType: 'FILTERED',
  audienceCondition: {
    logic: 'AND',
    groups: [{ filters: [{ field: 'data.round', operator: 'equals', value: round }] }],
  },
});

async function createCampaign(change: object): Promise<string> {
  const { body } = await stack.api('POST', '/campaigns', { body: campaignContent({ ...ofThisRound(), ...change }) });
  return body.data.id;
}

const read = async (id: string) => (await stack.api('GET', `/campaigns/${id}`)).body;
const untilSent = (id: string) =>
  eventually(async () => ((await read(id)).status === 'SENT' ? read(id) : undefined), 60_000);

/** What became of each recipient of a campaign, by the address. */
async function outcomesOf(id: string): Promise<Record<string, string>> {
  const rows = await query(
    stack.em(),
    sql`select to_address, status, error from email where campaign_id = ${id} order by to_address`,
  );
  return Object.fromEntries(
    rows.map(({ to_address: to, status, error }) => [to, error ? `${status}: ${error}` : status]),
  );
}

describe.each(DEFAULTS)('mail about a topic with the default %s', (by) => {
  it('of a campaign goes to those who may get it, as the check has counted', async () => {
    const topicId = await addTopic(by);
    const id = await createCampaign({ topicId });
    const { recipients } = (await stack.api('POST', `/campaigns/${id}/check`)).body;
    const receiving = receiversOf(by).length;
    const outside = by === 'opt_in' ? 1 : 3;
    expect(recipients).toEqual({
      matching: NAMES.length,
      queued: receiving,
      receiving,
      notReceiving: { unsubscribed: 1, pending: 1, paused: 1, topic: outside, suppressed: 0 },
    });
    await stack.api('POST', `/campaigns/${id}/send`, { body: {} });
    expect(await untilSent(id)).toMatchObject({ totalRecipients: receiving, sentCount: receiving });
    expect(reached()).toEqual(addressesOf(receiversOf(by)));
    const { emails } = (await stack.api('GET', `/emails?campaignId=${id}`)).body;
    expect(new Set(emails.map((email: { topicId: string }) => email.topicId))).toEqual(new Set([topicId]));
    // The links of the emails know it from them, whatever becomes of the campaign.
    const topics = await query(stack.em(), sql`select distinct topic_id from email where campaign_id = ${id}`);
    expect(topics).toEqual([{ topic_id: topicId }]);
  });

  it('of a campaign that is sent again goes to those who may get it now', async () => {
    const topicId = await addTopic(by);
    await choose(topicId, Object.fromEntries(NAMES.map((name) => [name, true])));
    await query(
      stack.em(),
      sql`
        update contact set is_pending = false, paused_until = null, subscribed = true
        where id = any(${[...contactIds.values()]}::uuid[])`,
    );
    const id = await createCampaign({ topicId });
    await stack.api('POST', `/campaigns/${id}/send`, { body: {} });
    await untilSent(id);
    await query(
      stack.em(),
      sql`
        with failed as (update email set status = 'FAILED', sent_at = null where campaign_id = ${id})
        update campaign set sent_count = 0, failed_count = ${NAMES.length} where id = ${id}`,
    );
    stack.sink.clear();

    await choose(topicId, { ...Object.fromEntries(NAMES.map((name) => [name, null])), ...CHOICES });
    await query(
      stack.em(),
      sql`
        update contact set is_pending = email like 'pending-%', subscribed = email not like 'unsubscribed-%',
          paused_until = case when email like 'paused-%' then now() + interval '1 day' end
        where id = any(${[...contactIds.values()]}::uuid[])`,
    );
    expect((await stack.api('POST', `/campaigns/${id}/resend`, { body: { states: ['FAILED'] } })).status).toBe(200);
    await untilSent(id);
    expect(reached()).toEqual(addressesOf(receiversOf(by)));

    const nobody = Object.fromEntries(NAMES.map((name) => [name, false]));
    await choose(topicId, nobody);
    const reply = await stack.api('POST', `/campaigns/${id}/resend`, { body: { states: ['FAILED'] } });
    expect([reply.status, reply.body.error.message]).toEqual([
      400,
      'Campaign has no recipients in these states who may have it',
    ]);
  });

  it('of a step goes to those who may get it, and the step says why it is skipped', async () => {
    const topicId = await addTopic(by);
    const templateId = await createTemplate(stack, { type: 'MARKETING', topicId });
    const id = await createAutomation(stack, `step-${round}`, { Mail: { type: 'SEND_EMAIL', templateId } });
    for (const name of NAMES) await track(stack, address(name), `step-${round}`);
    const skipped = await skippedBy(id);
    const left = { left: 'left topic', paused: 'paused', pending: 'pending', unsubscribed: 'unsubscribed' };
    expect(skipped).toEqual(by === 'opt_in' ? left : { ...left, none: 'not in topic', rested: 'not in topic' });
    await stack.sink.waitForMessages(receiversOf(by).length);
    expect(reached()).toEqual(addressesOf(receiversOf(by)));
    const topics = await query(stack.em(), sql`select distinct topic_id from email where template_id = ${templateId}`);
    expect(topics).toEqual([{ topic_id: topicId }]);
  });

  it('of a request goes to named recipients, unless they left, paused or have not confirmed', async () => {
    const topicId = await addTopic(by);
    const template = await createTemplate(stack, { type: 'MARKETING', topicId });
    const send = (to: readonly Name[]) => stack.api('POST', '/v1/send', { body: { to: addressesOf(to), template } });
    const refused = await send(NAMES);
    expect([refused.status, refused.body.error]).toMatchObject([
      400,
      {
        message: 'Recipients may not receive this email',
        details: {
          recipients: addressesOf(['left', 'paused', 'pending']),
          refused: [
            { recipient: address('left'), reason: 'left topic' },
            { recipient: address('paused'), reason: 'paused' },
            { recipient: address('pending'), reason: 'pending' },
          ],
        },
      },
    ]);
    const many = [...NAMES.map(address), ...Array.from({ length: 20 }, (_, n) => `more-${n}@mail.test`)];
    const alone = await stack.api('POST', '/v1/send', { body: { to: many, template } });
    expect(alone.body.error.details).toEqual(refused.body.error.details);

    const accepted: Name[] = ['joined', 'none', 'rested', 'unsubscribed'];
    const reply = await send(accepted);
    expect(reply.status).toBe(200);
    await stack.sink.waitForMessages(accepted.length);
    expect(reached()).toEqual(addressesOf(accepted));
    const topics = await query(stack.em(), sql`select distinct topic_id from email where template_id = ${template}`);
    expect(topics).toEqual([{ topic_id: topicId }]);
  });
});

/** Waits until all executions of the round have ended. @returns why steps were skipped, by the name of the contact */
async function skippedBy(automationId: string): Promise<Record<string, string>> {
  await eventually(async () => {
    const executions = await executionsOf(stack, automationId);
    return executions.length === NAMES.length && executions.every(({ status }) => status === 'COMPLETED');
  });
  const rows = await query(
    stack.em(),
    sql`
      select split_part(c.email, '-', 1) as name, s.output ->> 'skipped' as reason
      from automation_execution x join contact c on c.id = x.contact_id join step_execution s on s.execution_id = x.id
      where x.automation_id = ${automationId} and s.status = 'SKIPPED'`,
  );
  return Object.fromEntries(rows.map(({ name, reason }) => [name, reason]));
}

describe('a recipient who chooses between the freeze and the email', () => {
  it('is skipped, with the reason', async () => {
    const topicId = await addTopic('opt_out');
    await choose(topicId, Object.fromEntries(NAMES.map((name) => [name, true])));
    await stack.stopWorkers();
    const id = await createCampaign({ topicId });
    await stack.api('POST', `/campaigns/${id}/send`, { body: {} });
    const contacts = [...contactIds.values()];
    await query(
      stack.em(),
      sql`
        update contact set is_pending = false, paused_until = null, subscribed = true
        where id = any(${contacts}::uuid[])`,
    );
    expect(await freezeNextRecipients(stack.em(), id, 1_000)).toMatchObject({ totalRecipients: NAMES.length });
    await choose(topicId, { left: false, none: null });
    await query(
      stack.em(),
      sql`
        update contact set is_pending = email like 'pending-%', subscribed = email not like 'unsubscribed-%',
          paused_until = case when email like 'paused-%' then now() + interval '1 day' end
        where id = any(${contacts}::uuid[])`,
    );
    await stack.startWorkers();
    expect(await untilSent(id)).toMatchObject({ totalRecipients: NAMES.length, sentCount: 2 });
    expect(await outcomesOf(id)).toEqual({
      [address('joined')]: 'SENT',
      [address('left')]: 'SKIPPED: the contact has left the topic',
      [address('none')]: 'SKIPPED: the contact has not joined the topic',
      [address('paused')]: 'SKIPPED: the contact has paused marketing',
      [address('pending')]: 'SKIPPED: the contact has not confirmed the subscription',
      [address('rested')]: 'SENT',
      [address('unsubscribed')]: 'SKIPPED: the contact has unsubscribed',
    });
  });

  it('is skipped when a server asked for another attempt', async () => {
    const topicId = await addTopic('opt_in');
    stack.sink.replyTo(address('joined'), LATER);
    const id = await createCampaign({ topicId });
    await stack.api('POST', `/campaigns/${id}/send`, { body: {} });
    await eventually(async () => {
      const rows = await query(stack.em(), sql`select from email where campaign_id = ${id} and deferrals > 0`);
      return rows.length === 1;
    });
    await choose(topicId, { joined: false });
    stack.sink.clearFor(address('joined'));
    await untilSent(id);
    expect((await outcomesOf(id))[address('joined')]).toBe('SKIPPED: the contact has left the topic');
    expect(reached()).toEqual(addressesOf(['none', 'rested']));
  });
});

describe('the topic of a SEND_EMAIL step', () => {
  it('overrides that of the template, and holds for a custom recipient, who may have no contact', async () => {
    const [topicId, other] = [await addTopic('opt_in'), await addTopic('opt_out')];
    const templateId = await createTemplate(stack, { type: 'MARKETING', topicId: other });
    const recipient = { type: 'CUSTOM', customEmail: '{{event.to}}' };
    const id = await createAutomation(
      stack,
      `custom-${round}`,
      { Mail: { type: 'SEND_EMAIL', templateId, config: { topicId, recipient } } },
      { allowReentry: true },
    );
    const stranger = `stranger-${round}@mail.test`;
    const targets = [...addressesOf(['left', 'none', 'paused']), stranger];
    for (const [done, to] of targets.entries()) {
      await track(stack, address('joined'), `custom-${round}`, { to });
      await eventually(async () => {
        const executions = await executionsOf(stack, id);
        return executions.filter(({ status }) => status === 'COMPLETED').length === done + 1;
      });
    }
    await stack.sink.waitForMessages(2);
    expect(reached()).toEqual([address('none'), stranger].sort());
    const [message] = stack.sink.messages();
    const mail = await message!.parsed();
    expect(mail.text).toContain('"Weekly"');
    expect(JSON.stringify(mail.headers.get('list'))).toContain(`${topicId}.example.com`);
    const topics = await query(stack.em(), sql`select distinct topic_id from email where template_id = ${templateId}`);
    expect(topics).toEqual([{ topic_id: topicId }]);
  });

  it('that is gone fails the execution, because nobody knows any more who left it', async () => {
    const topicId = await addTopic('opt_in');
    const templateId = await createTemplate(stack, { type: 'MARKETING' });
    const id = await createAutomation(stack, `gone-${round}`, {
      Mail: { type: 'SEND_EMAIL', templateId, config: { topicId } },
    });
    await query(stack.em(), sql`delete from topic where id = ${topicId}`);
    await track(stack, address('none'), `gone-${round}`);
    await eventually(async () => (await executionsOf(stack, id))[0]?.status === 'FAILED');
    expect(reached()).toEqual([]);
  });

  it('is ignored with a template that became TRANSACTIONAL, which reaches everybody', async () => {
    const topicId = await addTopic('opt_out');
    const templateId = await createTemplate(stack, { type: 'MARKETING' });
    await createAutomation(stack, `later-${round}`, {
      Mail: { type: 'SEND_EMAIL', templateId, config: { topicId } },
    });
    await stack.api('PATCH', `/templates/${templateId}`, { body: { type: 'TRANSACTIONAL' } });
    await track(stack, address('left'), `later-${round}`);
    await stack.sink.waitForMessages(1);
    expect(reached()).toEqual([address('left')]);
    expect((await query(stack.em(), sql`select topic_id from email where template_id = ${templateId}`))[0]).toEqual({
      topic_id: null,
    });
  });
});

it('a pause ends by itself', async () => {
  const id = await createCampaign({ topicId: await addTopic('opt_in') });
  await query(
    stack.em(),
    sql`update contact set paused_until = now() + interval '1 second' where id = ${contactIds.get('paused')!}`,
  );
  const paused = async () => (await stack.api('POST', `/campaigns/${id}/check`)).body.recipients.notReceiving.paused;
  expect(await paused()).toBe(1);
  await eventually(async () => (await paused()) === 0);
  await stack.api('POST', `/campaigns/${id}/send`, { body: {} });
  await untilSent(id);
  expect(reached()).toEqual(addressesOf([...receiversOf('opt_in'), 'paused']));
});

it('a topic that leaves out everybody is a warning of the check, and the campaign cannot be sent', async () => {
  const topicId = await addTopic('opt_out');
  await choose(topicId, { joined: null });
  const id = await createCampaign({ topicId });
  const { problems, canBeSent } = (await stack.api('POST', `/campaigns/${id}/check`)).body;
  expect(canBeSent).toBe(false);
  expect(problems[0].code).toBe('NO_RECIPIENTS');
  expect(problems.map(({ code }: { code: string }) => code)).toContain('NOBODY_IN_TOPIC');
  expect((await stack.api('POST', `/campaigns/${id}/send`, { body: {} })).body.error.message).toBe(
    'Campaign has no recipients',
  );
});

it('a recipient of a request who only opted out is refused as before', async () => {
  const template = await createTemplate(stack, { type: 'MARKETING', topicId: await addTopic('opt_in') });
  await stack.api('PATCH', `/contacts/${contactIds.get('joined')!}`, { body: { subscribed: false } });
  const reply = await stack.api('POST', '/v1/send', { body: { to: address('joined'), template } });
  expect(reply.body.error).toMatchObject({
    message: 'A recipient has unsubscribed from this type of email',
    details: { recipients: [address('joined')] },
    suggestion: expect.stringMatching(
      /^Send it as TRANSACTIONAL if it is not marketing, or leave these recipients out/,
    ),
  });
  expect(reply.body.error.details).toEqual({ recipients: [address('joined')] });
});

it('a test of a campaign reaches everybody, and its links are about the topic', async () => {
  const topicId = await addTopic('opt_out');
  const id = await createCampaign({ topicId });
  const { body } = await stack.api('POST', `/campaigns/${id}/test`, { body: { email: address('left') } });
  const [message] = await stack.sink.waitForMessages(1);
  expect((await message!.parsed()).text).toContain('Leave this topic');
  expect((await query(stack.em(), sql`select topic_id from email where id = ${body.email}`))[0]).toEqual({
    topic_id: topicId,
  });
});

it('an email that was queued before its recipient left is delivered, as after unsubscribing', async () => {
  const topicId = await addTopic('opt_in');
  const template = await createTemplate(stack, { type: 'MARKETING', topicId });
  await stack.stopWorkers();
  const reply = await stack.api('POST', '/v1/send', { body: { to: [address('none'), address('joined')], template } });
  expect(reply.status).toBe(200);
  await choose(topicId, { none: false });
  await stack.api('PATCH', `/contacts/${contactIds.get('joined')!}`, { body: { subscribed: false } });
  await stack.startWorkers();
  await stack.sink.waitForMessages(2);
  expect(reached()).toEqual(addressesOf(['joined', 'none']));
});
