import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ContactEntity } from '../shared/domain/contacts/contact.entity.ts';
import { upsertContacts } from '../shared/domain/contacts/contacts.ts';
import { EmailEntity, type Email } from './support/entities/email.entity.ts';
import { createFaultyRelay, type FaultyRelay, type FaultyRelayOptions } from './support/faulty-relay.ts';
import type { TestProject } from './support/api.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const FROM = 'news@example.com';
const RETRY_SECONDS = [0.4, 0.4, 0.4];
const isPoison = (address: string | null | undefined) => address?.startsWith('poison') ?? false;

let fault: FaultyRelayOptions['fault'];
let relay: FaultyRelay;
let stack: TestStack;
beforeAll(async () => {
  relay = await createFaultyRelay({ fault: (moment) => fault?.(moment) });
  stack = await startTestStack({
    config: {
      SMTP_URL: [`${relay.url}?socketTimeout=1000`],
      DELIVERY_RETRY_SECONDS: RETRY_SECONDS,
      DELIVERY_PAUSE_SECONDS: 0.4,
      API_RATE_LIMIT_PER_MINUTE: 1_000_000,
    },
  });
});
afterAll(async () => {
  await stack.stop();
  await relay.close();
});
afterEach(() => {
  fault = undefined;
});

/** Sends a campaign of a new project to its contacts and waits until it has ended. */
async function sendCampaign(addresses: string[]): Promise<{ project: TestProject; emails: Email[] }> {
  const project = await stack.createProject();
  await upsertContacts(stack.em(), {
    projectId: project.project.id,
    emails: addresses,
    subscribedDefault: true,
    cause: { reason: 'send' },
  });
  const body = { name: 'C', subject: 'S', body: '<p>B</p>', from: FROM, type: 'TRANSACTIONAL', audienceType: 'ALL' };
  const { body: campaign } = await project.api('POST', '/campaigns', { body });
  await project.api('POST', `/campaigns/${campaign.data.id}/send`, { body: {} });
  await eventually(async () => {
    const reply = await project.api('GET', `/campaigns/${campaign.data.id}`);
    return reply.body.status === 'SENT';
  }, 60_000);
  return { project, emails: await stack.em().find(EmailEntity, { campaignId: campaign.data.id }) };
}

let runCount = 0;
/** Addresses, with bad ones at the given positions. */
function addressesWith(count: number, places: number[]): string[] {
  const run = ++runCount;
  return Array.from({ length: count }, (_, n) => `${places.includes(n) ? 'poison' : 'reader'}-${run}-${n}@mail.test`);
}

function expectOthersOnce(addresses: string[], emails: Email[]): void {
  const others = addresses.filter((address) => !isPoison(address));
  expect(others.map((address) => relay.deliveries().get(address))).toEqual(others.map(() => 1));
  expect(emails.filter((email) => !isPoison(email.toAddress)).every((email) => email.status === 'SENT')).toBe(true);
}

async function subscribedCount(project: TestProject): Promise<number> {
  return stack.em().count(ContactEntity, { projectId: project.project.id, subscribed: true });
}

describe('an email that breaks the connection', () => {
  it('after the content, at any position of a campaign, is sent three times at most', async () => {
    const addresses = addressesWith(60, [0, 30, 59]);
    fault = ({ step, to }) => (step === 'end' && isPoison(to) ? 'close' : undefined);
    const { emails } = await sendCampaign(addresses);
    expectOthersOnce(addresses, emails);
    const poisons = emails.filter((email) => isPoison(email.toAddress));
    expect(poisons).toHaveLength(3);
    for (const poison of poisons) {
      expect(poison).toMatchObject({ status: 'FAILED', uncertainAttempts: 2 });
      expect(poison.error).toContain('may have arrived');
      expect(relay.deliveries().get(poison.toAddress ?? '')).toBe(3);
    }
  });

  it.each(['421', 'close', 'silence', 'garbage'] as const)(
    'at RCPT by %s ends like any email that is deferred too often, also when four emails do so',
    async (kind) => {
      const addresses = addressesWith(60, [3, 20, 40, 58]);
      fault = ({ step, to }) => (step === 'rcpt' && isPoison(to) ? kind : undefined);
      const { emails, project } = await sendCampaign(addresses);
      expectOthersOnce(addresses, emails);
      const poisons = emails.filter((email) => isPoison(email.toAddress));
      expect(poisons).toHaveLength(4);
      for (const poison of poisons) {
        expect(poison).toMatchObject({ status: 'FAILED', deferrals: RETRY_SECONDS.length, uncertainAttempts: 0 });
        expect(poison.error).toContain('given up after 4 deferrals');
      }
      expect(await subscribedCount(project)).toBe(60);
    },
  );

  it('becomes FAILED also when many emails do so', async () => {
    const addresses = addressesWith(40, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    fault = ({ step, to }) => (step === 'data' && isPoison(to) ? '421' : undefined);
    const { emails } = await sendCampaign(addresses);
    expectOthersOnce(addresses, emails);
    expect(emails.filter((email) => email.status === 'FAILED')).toHaveLength(12);
  });
});

describe('a relay that refuses the sender for a while', () => {
  it('unsubscribes nobody, and gets all emails afterwards', async () => {
    const addresses = addressesWith(30, []);
    const endsAt = Date.now() + 1_500;
    fault = ({ step }) => (step === 'rcpt' && Date.now() < endsAt ? '5xx' : undefined);
    const { emails, project } = await sendCampaign(addresses);
    expectOthersOnce(addresses, emails);
    expect(await subscribedCount(project)).toBe(30);
  });
});
