import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDnsServer, type DnsServer } from './support/dns-server.ts';
import { INBOUND_DOMAIN, startStackInbound, type StackInbound } from './support/inbound.ts';
import type { ReceivedMessage } from './support/received-messages.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const SUCCESS = { status: '2.0.0', diagnostic: 'smtp; 250 2.0.0 Accepted' };

let dns: DnsServer;
let stack: TestStack;
let inbound: StackInbound;
beforeAll(async () => {
  dns = await createDnsServer();
  stack = await startTestStack({
    config: { DNS_SERVERS: [dns.address], INBOUND_DOMAIN, INBOUND_SMTP_PORT: 0 },
    sink: { dsn: true },
  });
  inbound = await startStackInbound(stack);
});
afterAll(async () => {
  await inbound.close();
  await stack.stop();
  await dns.close();
});

/** Adds a domain, publishes its records as its owner would, and checks them. */
async function verifyDomain(domain: string, purposes = ['DKIM', 'RETURN_PATH', 'SPF']): Promise<string> {
  const { body: added } = await stack.api('POST', '/domains', { body: { domain } });
  const records = added.records.filter((record: any) => purposes.includes(record.purpose));
  for (const { name } of records) {
    const own = records.filter((record: any) => record.name === name);
    const valuesOf = (type: string): string[] =>
      own.filter((record: any) => record.type === type).map((record: any) => record.value);
    dns.set(name, {
      TXT: valuesOf('TXT'),
      MX: valuesOf('MX').map((value) => [Number(value.split(' ')[0]), value.split(' ')[1] ?? ''] as const),
    });
  }
  const { body } = await stack.api('GET', `/domains/${added.id}/verify`);
  expect(body.status).toBe('VERIFIED');
  return added.id;
}

async function send(from: string, to: string): Promise<{ emailId: string; message: ReceivedMessage }> {
  const { body } = await stack.api('POST', '/v1/send', { body: { from, to, subject: 'Hi', body: '<p>Hi</p>' } });
  const message = await eventually(async () => stack.sink.messages().find((each) => each.to.includes(to)));
  return { emailId: body.data.emails[0].email, message };
}

async function sendCampaign(from: string, to: string): Promise<{ campaignId: string; message: ReceivedMessage }> {
  await stack.api('POST', '/contacts', { body: { email: to } });
  const condition = { logic: 'AND', groups: [{ filters: [{ field: 'email', operator: 'equals', value: to }] }] };
  const { body } = await stack.api('POST', '/campaigns', {
    body: {
      name: 'News',
      subject: 'News',
      body: '<p>News</p>',
      from,
      audienceType: 'FILTERED',
      audienceCondition: condition,
    },
  });
  await stack.api('POST', `/campaigns/${body.data.id}/send`, { body: {} });
  const message = await eventually(async () => stack.sink.messages().find((each) => each.to.includes(to)));
  return { campaignId: body.data.id, message };
}

async function activityOf(contactEmail: string): Promise<string[]> {
  const { body } = await stack.api('GET', '/activity?types=email.delivered,email.bounced');
  return body.data.filter((item: any) => item.contactEmail === contactEmail).map((item: any) => item.type);
}

const TOKEN = 'bounce\\+[a-z2-7]{40}';

describe('the envelope sender of mail from a domain that DNS has verified', () => {
  it('is below the domain itself, so SPF passes for the author, and reports come back to it', async () => {
    await verifyDomain('shop.example');
    const sent = await send('hello@shop.example', 'one@mail.test');
    expect(sent.message.from).toMatch(new RegExp(`^${TOKEN}@bounce\\.shop\\.example$`));
    await inbound.report(sent.message);
    expect(await activityOf('one@mail.test')).toEqual(['email.bounced']);

    const campaign = await sendCampaign('News@Shop.example', 'two@mail.test');
    expect(campaign.message.from).toMatch(new RegExp(`^${TOKEN}@bounce\\.shop\\.example$`));
    await inbound.report(campaign.message, { ...SUCCESS, action: 'relayed' });
    expect(await activityOf('two@mail.test')).toEqual(['email.delivered']);
    const { body: stats } = await stack.api('GET', `/campaigns/${campaign.campaignId}/stats`);
    expect(stats).toMatchObject({ deliveredCount: 1, bouncedCount: 0 });
  });

  it('has an international domain in ASCII', async () => {
    await verifyDomain('bücher.example');
    const { message } = await send('leser@bücher.example', 'three@mail.test');
    expect(message.raw.toString('latin1')).toMatch(/^DKIM-Signature:/m);
    // The other server may convert the name back to Unicode.
    expect(message.from).toMatch(new RegExp(`^${TOKEN}@bounce\\.(?:xn--bcher-kva|bücher)\\.example$`));
    await inbound.report(message);
    expect(await activityOf('three@mail.test')).toEqual(['email.bounced']);
  });
});

describe('the envelope sender of other mail', () => {
  it('is at the inbound domain when the sender domain is only trusted', async () => {
    const { message } = await send('hello@example.com', 'four@mail.test');
    expect(message.from).toMatch(new RegExp(`^${TOKEN}@in\\.everpost\\.test$`));
  });

  it('is at the inbound domain soon after a check finds that the records for bounces are gone', async () => {
    const id = await verifyDomain('moved.example');
    dns.set('bounce.moved.example', { MX: [[10, 'elsewhere.test']], TXT: [`v=spf1 include:${INBOUND_DOMAIN} ~all`] });
    await stack.api('GET', `/domains/${id}/verify`);
    const { message } = await send('hello@moved.example', 'five@mail.test');
    expect(message.raw.toString('latin1')).toMatch(/^DKIM-Signature:/m);
    expect(message.from).toMatch(new RegExp(`^${TOKEN}@in\\.everpost\\.test$`));
  });
});

describe('a receipt of the delivery', () => {
  it('is requested with the id of the email, and is recorded for that email', async () => {
    const sent = await send('hello@example.com', 'six@mail.test');
    const asked = { content: 'HDRS', notify: ['SUCCESS', 'FAILURE', 'DELAY'] };
    expect(sent.message.receipt).toEqual({ id: sent.emailId, ...asked });
    const campaign = await sendCampaign('news@example.com', 'seven@mail.test');
    expect(campaign.message.receipt).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), ...asked });
    for (const { message } of [sent, campaign]) await inbound.report(message, { ...SUCCESS, action: 'delivered' });
    expect(await activityOf('six@mail.test')).toEqual(['email.delivered']);
    expect(await activityOf('seven@mail.test')).toEqual(['email.delivered']);
  });
});
