import { randomUUID } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { TASK_QUEUES } from '../shared/pure/task-queues.ts';
import { emailDeliveryWorkflowId, WORKFLOW_TYPES } from '../shared/pure/workflow-contracts.ts';
import { createDnsServer, type DnsServer } from './support/dns-server.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

let dns: DnsServer;
let stack: TestStack;
let resolver: Resolver;
beforeAll(async () => {
  dns = await createDnsServer();
  stack = await startTestStack({
    canJoinDeliveries: false,
    config: { DNS_SERVERS: [dns.address], DELIVERY_PAUSE_SECONDS: 1 },
  });
  resolver = new Resolver();
  resolver.setServers([dns.address]);
});
afterAll(async () => {
  await stack.stop();
  await dns.close();
});

async function addDomain(domain: string): Promise<any> {
  const { body } = await stack.api('POST', '/domains', { body: { domain } });
  return body;
}
function publishKey(domain: any): void {
  const [dkim] = domain.records;
  dns.set(dkim.name, { TXT: [dkim.value] });
}
const verifyNow = async (id: string) => (await stack.api('GET', `/domains/${id}/verify`)).body.status;

/** Runs the workflow that the schedule starts every five minutes. */
async function runDomainChecks(): Promise<void> {
  await stack.temporal.client.workflow.execute(WORKFLOW_TYPES.domainChecks, {
    taskQueue: TASK_QUEUES.orchestration,
    workflowId: `domain-checks-${randomUUID()}`,
    args: [{}],
  });
}

async function signaturesOf(raw: Buffer) {
  const { results } = await dkimVerify(raw, {
    resolver: ((name: string, type: string) => resolver.resolve(name, type)) as never,
  });
  return results.map((result: any) => [result.status.result, result.signingDomain]);
}

/** The message to an address, as the SMTP server received it. */
async function received(address: string): Promise<Buffer> {
  return eventually(async () => stack.sink.messages().find((message) => message.to.includes(address))?.raw);
}

describe('mail of a verified domain', () => {
  it('is signed, in transactional email and in campaigns, and the signature verifies with the key in DNS', async () => {
    const domain = await addDomain('signed.example');
    publishKey(domain);
    expect(await verifyNow(domain.id)).toBe('VERIFIED');

    const send = await stack.api('POST', '/v1/send', {
      body: { to: 'one@mail.test', subject: 'Grüße', body: '<p>Hello  there  </p>\n\n', from: 'a@signed.example' },
    });
    expect(send.status).toBe(200);
    expect(await signaturesOf(await received('one@mail.test'))).toEqual([['pass', 'signed.example']]);

    for (let i = 0; i < 12; i++) {
      await stack.api('POST', '/contacts', { body: { email: `c${i}@list.test`, data: { firstName: `Zoë ${i}` } } });
    }
    const { body } = await stack.api('POST', '/campaigns', {
      body: {
        name: 'C',
        subject: 'Hi {{firstName}}',
        body: '<p>Dear {{firstName}}</p>',
        from: 'News@signed.example',
        audienceType: 'FILTERED',
        audienceCondition: {
          logic: 'AND',
          groups: [{ filters: [{ field: 'email', operator: 'contains', value: '@list.test' }] }],
        },
      },
    });
    await stack.api('POST', `/campaigns/${body.data.id}/send`, { body: {} });
    for (let i = 0; i < 12; i++) {
      const raw = await received(`c${i}@list.test`);
      expect(await signaturesOf(raw)).toEqual([['pass', 'signed.example']]);
      const header = raw.toString('latin1').split('\r\n\r\n')[0]!;
      expect(header.replace(/\s+/g, '')).toMatch(/h=from:to:subject:.*:list-unsubscribe:list-unsubscribe-post:from;/);
    }
  });

  it('is signed with the key of its own project', async () => {
    const other = await stack.createProject();
    const { body } = await other.api('POST', '/domains', { body: { domain: 'signed.example' } });
    publishKey(body);
    await other.api('GET', `/domains/${body.id}/verify`);
    await other.api('POST', '/v1/send', {
      body: { to: 'two@mail.test', subject: 'S', body: 'B', from: 'a@signed.example' },
    });
    const raw = await received('two@mail.test');
    expect(raw.toString('latin1')).toContain(`s=${body.records[0].name.split('.')[0]};`);
    expect(await signaturesOf(raw)).toEqual([['pass', 'signed.example']]);
  });

  it('is not signed when the domain is only trusted', async () => {
    await stack.api('POST', '/v1/send', {
      body: { to: 'three@mail.test', subject: 'S', body: 'B', from: 'a@example.com' },
    });
    expect((await received('three@mail.test')).toString('latin1')).not.toMatch(/^DKIM-Signature:/im);
  });

  it('waits and is not sent unsigned when the key cannot be read', async () => {
    const domain = await addDomain('sealed.example');
    publishKey(domain);
    await verifyNow(domain.id);
    const key = 'select dkim_private_key from sender_domain';
    const [{ kept }] = (await query(
      stack.em(),
      sql`select dkim_private_key as kept from sender_domain where id = ${domain.id}`,
    )) as [{ kept: Buffer }];
    await query(
      stack.em(),
      sql`update sender_domain set dkim_private_key = ${Buffer.from(key)} where id = ${domain.id}`,
    );
    const { body } = await stack.api('POST', '/v1/send', {
      body: { to: 'four@mail.test', subject: 'S', body: 'B', from: 'a@sealed.example' },
    });
    await eventually(async () => {
      const handle = stack.temporal.client.workflow.getHandle(emailDeliveryWorkflowId(body.data.emails[0].email));
      // Temporal does not know the workflow until the dispatcher has started it.
      const description = await handle.describe().catch(() => undefined);
      return description?.raw.pendingActivities?.some((activity) =>
        activity.lastFailure?.message?.includes('APP_SECRET'),
      );
    });
    expect(stack.sink.recipientCounts().has('four@mail.test')).toBe(false);
    await query(stack.em(), sql`update sender_domain set dkim_private_key = ${kept} where id = ${domain.id}`);
    expect(await signaturesOf(await received('four@mail.test'))).toEqual([['pass', 'sealed.example']]);
  });
});

describe('the domain checks', () => {
  const statusOf = async (domain: string) => {
    const [row] = await query(
      stack.em(),
      sql`select verified, last_checked_at is not null as checked from sender_domain where domain = ${domain}`,
    );
    return row;
  };

  it('verify domains whose records are complete, and silent name servers delay no other domain', async () => {
    const dead = Array.from({ length: 15 }, (_, i) => `dead${i}.silent.test`);
    dns.behave('silent.test', { drop: true });
    for (const name of dead) await addDomain(name);
    const alive = await Promise.all(['alive0.example', 'alive1.example', 'alive2.example'].map(addDomain));
    for (const domain of alive) publishKey(domain);
    await addDomain('unfinished.example');

    let isDone = false;
    const startedAt = performance.now();
    const running = runDomainChecks().finally(() => (isDone = true));
    await eventually(
      async () => (await statusOf('alive2.example'))?.verified && (await statusOf('alive0.example'))?.verified,
    );
    expect(isDone).toBe(false);
    await running;
    expect(performance.now() - startedAt).toBeLessThan(40_000);
    expect(await statusOf('unfinished.example')).toEqual({ verified: false, checked: true });
    expect(await statusOf('dead14.silent.test')).toEqual({ verified: false, checked: true });
  });

  it('check a domain again only when it is due', async () => {
    const asked = dns.queries().length;
    await runDomainChecks();
    expect(dns.queries().length).toBe(asked);

    await query(stack.em(), sql`update sender_domain set next_check_at = now() where domain = 'unfinished.example'`);
    await runDomainChecks();
    const names = dns
      .queries()
      .slice(asked)
      .map(({ name }) => name);
    // The DMARC policy may be at the parent domain.
    const others = names.filter((name) => !name.endsWith('unfinished.example') && name !== '_dmarc.example');
    expect([names.length > 0, others]).toEqual([true, []]);
  });

  it('run every few minutes for pending domains, hourly for verified ones, and ever less often without an answer', async () => {
    const minutes = async (domain: string) => {
      const [row] = await query(
        stack.em(),
        sql`select round(extract(epoch from next_check_at - last_checked_at) / 60)::int as minutes from sender_domain where domain = ${domain}`,
      );
      return row!.minutes;
    };
    expect([
      await minutes('unfinished.example'),
      await minutes('alive0.example'),
      await minutes('dead0.silent.test'),
    ]).toEqual([4, 55, 4]);
    dns.behave('silent.test', { rcode: 'SERVFAIL' });
    for (const expected of [8, 16, 32, 64, 64]) {
      await query(stack.em(), sql`update sender_domain set next_check_at = now() where domain = 'dead0.silent.test'`);
      await runDomainChecks();
      expect(await minutes('dead0.silent.test')).toBe(expected);
    }
  });

  it('check all domains, also when there are more than one batch holds', async () => {
    const { project } = await stack.createProject();
    dns.behave('many.test', { rcode: 'NXDOMAIN' });
    await query(
      stack.em(),
      sql`insert into sender_domain (id, project_id, domain, dkim_selector, dkim_public_key, dkim_private_key, created_at, updated_at)
        select everpost_uuid_v7(), ${project.id}, 'd' || n || '.many.test', 's', 'k', 'x', now(), now() from generate_series(1, 450) n`,
    );
    await runDomainChecks();
    const rows = await query(
      stack.em(),
      sql`select count(*) from sender_domain where project_id = ${project.id} and domain like '%.many.test' and last_checked_at is not null and next_check_at > now()`,
    );
    expect(rows).toEqual([{ count: 450 }]);
  });
});
