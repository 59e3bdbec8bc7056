import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAutomation, executionsOf, post, track } from './support/automations.ts';
import { INBOUND_DOMAIN, startStackInbound, type StackInbound } from './support/inbound.ts';
import type { ReceivedMessage } from './support/received-messages.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const READERS = ['opener', 'clicker', 'leaver', 'bouncer', 'quiet'];

let stack: TestStack;
let inbound: StackInbound;
beforeAll(async () => {
  stack = await startTestStack({ config: { INBOUND_DOMAIN, INBOUND_SMTP_PORT: 0, DELIVERY_RETRY_SECONDS: [0.5] } });
  inbound = await startStackInbound(stack);
});
afterAll(async () => {
  await inbound.close();
  await stack.stop();
});

/** A link of an email, with the address of the API in this test. */
function here(url: string): string {
  return url.replace(stack.config.publicUrl, stack.url);
}

function messageTo(name: string): ReceivedMessage {
  const message = stack.sink.messages().find((each) => each.to[0] === `${name}@mail.test`);
  if (!message) throw new Error(`no mail to ${name}`);
  return message;
}

async function htmlOf(message: ReceivedMessage): Promise<string> {
  return (await message.parsed()).html || '';
}

async function sendCampaign(body: object): Promise<any> {
  const { body: created } = await stack.api('POST', '/campaigns', {
    body: { name: 'News', subject: 'Hi {{name}}', from: 'news@example.com', audienceType: 'ALL', ...body },
  });
  await stack.api('POST', `/campaigns/${created.data.id}/send`, { body: {} });
  return eventually(async () => {
    const { body: campaign } = await stack.api('GET', `/campaigns/${created.data.id}`);
    return campaign.status === 'SENT' && campaign;
  });
}

describe('the feedback of a campaign', () => {
  it('changes counters, events, activity, segments and suppressions', async () => {
    for (const name of READERS) {
      await stack.api('POST', '/contacts', { body: { email: `${name}@mail.test`, data: { name, locale: 'fr' } } });
    }
    const campaign = await sendCampaign({
      body: '<p>Hi</p><a href="https://shop.test/{{name}}?from=mail&amp;x=1">shop</a>',
    });
    expect(campaign).toMatchObject({ totalRecipients: 5, sentCount: 5 });

    const opener = messageTo('opener');
    expect(opener.from).toMatch(/^bounce\+[a-z2-7]{40}@in\.everpost\.test$/);
    const html = await htmlOf(opener);
    expect(html).toContain('Se désabonner');
    await fetch(here(/<img src="([^"]+)"/.exec(html)![1]!));

    const link = /href="([^"]+)">shop/.exec(await htmlOf(messageTo('clicker')))![1]!;
    const reply = await fetch(here(link), { redirect: 'manual' });
    expect([reply.status, reply.headers.get('location')]).toEqual([302, 'https://shop.test/clicker?from=mail&x=1']);

    const headers = (await messageTo('leaver').parsed()).headers;
    expect(headers.get('precedence')).toBe('bulk');
    const raw = messageTo('leaver')
      .raw.toString()
      .replace(/\r\n[ \t]+/g, '');
    expect(raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    const oneClick = /^List-Unsubscribe: ?<([^>]+)>/m.exec(raw)![1]!;
    const left = await fetch(here(oneClick), {
      method: 'POST',
      body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
    });
    expect(left.status).toBe(200);
    for (let i = 0; i < 2; i++) await inbound.report(messageTo('bouncer'));

    const { body: stats } = await stack.api('GET', `/campaigns/${campaign.id}/stats`);
    expect(stats).toMatchObject({
      sentCount: 5,
      openedCount: 2,
      clickedCount: 1,
      bouncedCount: 1,
      unsubscribedCount: 1,
      complainedCount: 0,
      openRate: 40,
      clickRate: 20,
      bounceRate: 20,
    });

    const { body: activity } = await stack.api(
      'GET',
      '/activity?types=email.opened,email.clicked,email.bounced,contact.unsubscribed',
    );
    const happened = activity.data.map((item: any) => `${item.type} ${item.contactEmail}`).sort();
    expect(happened).toEqual([
      'contact.unsubscribed bouncer@mail.test',
      'contact.unsubscribed leaver@mail.test',
      'email.bounced bouncer@mail.test',
      'email.clicked clicker@mail.test',
      'email.opened clicker@mail.test',
      'email.opened opener@mail.test',
    ]);

    const { body: figures } = await stack.api('GET', '/activity/stats');
    expect(figures.totals).toMatchObject({ sent: 5, opened: 2, clicked: 1, bounced: 1 });

    // Contacts that opened within 7 days get the next email. The bounced one gets none, not even a transactional one.
    stack.sink.clear();
    const next = await sendCampaign({
      body: '<p>Again</p>',
      type: 'TRANSACTIONAL',
      audienceType: 'FILTERED',
      audienceCondition: {
        logic: 'AND',
        groups: [{ filters: [{ field: 'email.opened', operator: 'triggeredWithin', value: 7, unit: 'days' }] }],
      },
    });
    expect([next.totalRecipients, next.sentCount]).toEqual([2, 2]);
    expect([...stack.sink.recipientCounts().keys()].sort()).toEqual(['clicker@mail.test', 'opener@mail.test']);
    expect(await htmlOf(messageTo('opener'))).toBe('<p>Again</p>');

    stack.sink.clear();
    const all = await sendCampaign({ body: '<p>Terms</p>', type: 'TRANSACTIONAL' });
    const { body: allStats } = await stack.api('GET', `/campaigns/${all.id}/stats`);
    expect(allStats).toMatchObject({ totalRecipients: 5, sentCount: 4, suppressedCount: 1, skippedCount: 0 });
    const { body: sent } = await stack.api('POST', '/v1/send', {
      body: {
        to: ['bouncer@mail.test', 'quiet@mail.test'],
        subject: 'Receipt',
        body: '<p>R</p>',
        from: 'shop@example.com',
      },
    });
    const ids = sent.data.emails.map((mail: any) => mail.email);
    const outcomes = await eventually(async () => {
      const { body } = await stack.api('GET', '/activity?types=email.sent,email.suppressed');
      const about = body.data.filter((item: any) => ids.includes(item.metadata.emailId));
      return about.length === 2 && about.map((item: any) => `${item.type} ${item.contactEmail}`);
    });
    expect(outcomes.sort()).toEqual(['email.sent quiet@mail.test', 'email.suppressed bouncer@mail.test']);
    expect(stack.sink.recipientCounts().has('bouncer@mail.test')).toBe(false);
    expect(stack.sink.recipientCounts().get('quiet@mail.test')).toBe(2);
  });

  it('starts automations and ends waits for people only, when the trigger, the step or a condition asks for them', async () => {
    const project = await stack.createProject();
    const note = { type: 'UPDATE_CONTACT', config: { data: { note: true } } };
    const started = await createAutomation(project, 'email.click', { note }, { humanOnly: true });
    const waiting = await createAutomation(project, 'begun', {
      wait: {
        type: 'WAIT_FOR_EVENT',
        config: { eventName: 'email.click', humanOnly: true },
        branches: { event: 'note' },
      },
      note,
    });
    const statusesOf = async (id: string) => (await executionsOf(project, id)).map(({ status }) => status);
    const asking = await createAutomation(
      project,
      'email.click',
      {
        ask: {
          type: 'CONDITION',
          config: { field: 'event.isMachine', operator: 'equals', value: false },
          branches: { yes: 'note', no: 'end' },
        },
        note: { type: 'UPDATE_CONTACT', config: { data: { follows: true } } },
        end: { type: 'EXIT', config: { reason: 'machine' } },
      },
      { allowReentry: true },
    );
    const { body: contact } = await project.api('POST', '/contacts', { body: { email: 'scanned@mail.test' } });
    await track(project, 'scanned@mail.test', 'begun');
    await eventually(async () => (await statusesOf(waiting)).join() === 'WAITING');
    const body = { body: '<a href="https://shop.test/">shop</a>', subject: 'News', from: 'news@example.com' };
    const { body: created } = await project.api('POST', '/campaigns', {
      body: { name: 'News', audienceType: 'ALL', ...body },
    });
    await project.api('POST', `/campaigns/${created.data.id}/send`, { body: {} });
    const message = await eventually(async () => stack.sink.messages().find(({ to }) => to[0] === 'scanned@mail.test'));
    const html = await htmlOf(message);
    const link = here(/href="([^"]+)">shop/.exec(html)![1]!);
    const [, hidden = ''] = /<a href="([^"]+)" aria-hidden="true" tabindex="-1" style="display:none"><\/a>/.exec(html)!;
    expect((await message.parsed()).text).not.toContain('/t/');
    // The message is here before its result is recorded.
    const movedBack = `update email set sent_at = sent_at - interval '1 minute' where contact_id = '${contact.id}'`;
    await eventually(async () => {
      const moved = await stack.em().getConnection().execute(`${movedBack} and sent_at is not null returning id`);
      return moved.length === 1;
    });

    const scanner = { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; rv:115.0) Gecko/20100101 Firefox/115.0' };
    expect((await fetch(here(hidden), { headers: scanner })).status).toBe(204);
    await fetch(link, { redirect: 'manual', headers: scanner });
    const reasons = async () =>
      (await executionsOf(project, asking)).map(({ status, exitReason }) => exitReason ?? status);
    await eventually(async () => (await reasons()).includes('machine'));
    expect((await project.api('GET', `/contacts/${contact.id}`)).body.data).toEqual({});
    expect([await statusesOf(started), await statusesOf(waiting)]).toEqual([[], ['WAITING']]);

    const person = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
    await fetch(link, { redirect: 'manual', headers: person });
    await eventually(async () => (await project.api('GET', `/contacts/${contact.id}`)).body.data.follows === true);
    expect((await reasons()).sort()).toEqual(['COMPLETED', 'machine']);
    await eventually(
      async () => [...(await statusesOf(started)), ...(await statusesOf(waiting))].join() === 'COMPLETED,COMPLETED',
    );
    const { body: stats } = await project.api('GET', `/campaigns/${created.data.id}/stats`);
    expect(stats).toMatchObject({ openedCount: 1, clickedCount: 1, humanOpenedCount: 1, humanClickedCount: 1 });
  });

  it('suppresses an address that RCPT refuses as unknown, but not one that is refused because of the sender', async () => {
    for (const [name, text] of [
      ['unknown', '5.1.1 No such user'],
      ['blocked', '5.7.1 Your address is on a list'],
    ] as const) {
      await stack.api('POST', '/contacts', { body: { email: `${name}@mail.test` } });
      stack.sink.replyTo(`${name}@mail.test`, { stage: 'rcpt', code: 550, text, times: 1 });
    }
    const send = async () => {
      const { body } = await stack.api('POST', '/v1/send', {
        body: {
          to: ['unknown@mail.test', 'blocked@mail.test'],
          subject: 'S',
          body: '<p>R</p>',
          from: 'shop@example.com',
        },
      });
      const ids = body.data.emails.map((mail: any) => mail.email);
      return eventually(async () => {
        const { body: feed } = await stack.api('GET', '/activity?types=email.sent,email.suppressed,email.bounced');
        const about = feed.data.filter((item: any) => ids.includes(item.metadata.emailId));
        return about.length === 2 && Object.fromEntries(about.map((item: any) => [item.contactEmail, item.type]));
      });
    };
    expect(await send()).toEqual({ 'unknown@mail.test': 'email.bounced', 'blocked@mail.test': 'email.sent' });
    expect(await send()).toEqual({ 'unknown@mail.test': 'email.suppressed', 'blocked@mail.test': 'email.sent' });
  });
});

it('a trigger can leave out machines, which every way to name the event says, and none forgets', async () => {
  const created = await post(stack, '/workflows', {
    name: 'P',
    triggerConfig: { eventName: 'email.click', humanOnly: true },
  });
  const read = async () => {
    const { body } = await stack.api('GET', `/workflows/${created.id}`);
    expect(body.steps[0].config).toEqual(body.triggerConfig);
    return body.triggerConfig;
  };
  const patch = (body: object) => stack.api('PATCH', `/workflows/${created.id}`, { body });
  const people = { eventName: 'email.click', humanOnly: true };
  expect([created.triggerConfig, await read()]).toEqual([people, people]);
  await patch({ name: 'Q', eventName: 'email.open' });
  expect(await read()).toEqual({ ...people, eventName: 'email.open' });
  await patch({ triggerConfig: { humanOnly: false } });
  expect(await read()).toEqual({ eventName: 'email.open' });
  const { body } = await stack.api('GET', `/workflows/${created.id}`);
  const step = `/workflows/${created.id}/steps/${body.steps[0].id}`;
  await stack.api('PATCH', step, { body: { config: people } });
  expect(await read()).toEqual(people);
  await stack.api('PATCH', step, { body: { config: { eventName: 'email.click' } } });
  expect(await read()).toEqual({ eventName: 'email.click' });
  expect((await patch({ triggerConfig: { humanOnly: 'yes' } })).status).toBe(422);
});
