import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createProject } from '../shared/domain/projects/projects.ts';
import { findReplyAddressOwner, withReplyAddress } from '../shared/domain/emails/reply-addresses.ts';
import { query, sql } from '../shared/database/sql.ts';
import { answer, dsn, INBOUND_DOMAIN, startTestInbound, type TestInbound } from './support/inbound.ts';

let inbound: TestInbound;
let otherId: string;
const em = () => inbound.database.orm.em.fork();
beforeAll(async () => {
  inbound = await startTestInbound();
  otherId = (await createProject(em(), 'Other')).project.id;
});
afterAll(() => inbound.stop());

const use = (projectId: string, address: string) => ({
  projectId,
  address,
  inboundDomain: INBOUND_DOMAIN,
  field: 'replyTo',
});
const done = () => Promise.resolve('done');
const inReplyTo = (id: string) => `In-Reply-To: <${id}@example.com>`;

describe('an answer to a reply address', () => {
  it('is an event of the email that it names, whatever its From is', async () => {
    const address = `answers@${INBOUND_DOMAIN}`;
    const [mail, other] = [await inbound.sentMail({ replyTo: `Answers@${INBOUND_DOMAIN}` }), await inbound.sentMail()];
    const raw = answer(['Subject: one', inReplyTo(mail.emailId)]).replace('ada@home.test', other.address);
    for (let i = 0; i < 2; i++) expect(await inbound.deliver(address, raw, other.address)).toMatch(/^250/);
    expect((await inbound.stateOf(mail)).data).toEqual([expect.objectContaining({ subject: 'one', to: address })]);
    expect((await inbound.stateOf(other)).events).toEqual([]);
  });

  it('comes also from an address with letters outside ASCII', async () => {
    const address = `international@${INBOUND_DOMAIN}`;
    const mail = await inbound.sentMail({ replyTo: address });
    const raw = answer(['Subject: Grüße', inReplyTo(mail.emailId)]).replace('ada@home.test', 'jörg@home.test');
    expect(await inbound.deliver(address, raw, 'jörg@home.test')).toMatch(/^250/);
    expect((await inbound.stateOf(mail)).data).toEqual([expect.objectContaining({ subject: 'Grüße' })]);
  });

  it('that names none of our emails starts nothing, although its From is a contact', async () => {
    const address = `forged@${INBOUND_DOMAIN}`;
    const mail = await inbound.sentMail({ replyTo: address });
    const forged = (lines: string[]) => answer(lines).replace('ada@home.test', mail.address);
    for (const lines of [['Subject: hello'], [inReplyTo(mail.contactId)], [inReplyTo(mail.campaignId)]]) {
      expect(await inbound.deliver(address, forged(lines), mail.address)).toMatch(/^250/);
    }
    expect((await inbound.stateOf(mail)).events).toEqual([]);
  });

  it('belongs to the email that it names last, when it names several', async () => {
    const address = `thread@${INBOUND_DOMAIN}`;
    const [newest, oldest] = [
      await inbound.sentMail({ replyTo: address }),
      await inbound.sentMail({ replyTo: address }),
    ];
    const references = `References: <${newest.emailId}@example.com> <strange@home.test>`;
    await inbound.deliver(address, answer([references, inReplyTo(oldest.emailId)]), 'ada@home.test');
    expect((await inbound.stateOf(oldest)).events).toEqual(['email.received']);
    expect((await inbound.stateOf(newest)).events).toEqual([]);
  });

  it('reaches no project but the one that used the address first', async () => {
    const address = `diagnosis@${INBOUND_DOMAIN}`;
    const mine = await inbound.sentMail({ replyTo: address });
    const theirs = await inbound.sentMail({ replyTo: address, projectId: otherId });
    for (const mail of [mine, theirs]) {
      await inbound.deliver(address, answer(['Subject: my diagnosis', inReplyTo(mail.emailId)]), mail.address);
    }
    expect((await inbound.stateOf(mine)).events).toEqual(['email.received']);
    expect((await inbound.stateOf(theirs)).events).toEqual([]);
  });

  it('is recorded at most fifty times for one email', async () => {
    const address = `often@${INBOUND_DOMAIN}`;
    const mail = await inbound.sentMail({ replyTo: address });
    await query(
      em(),
      sql`
        insert into event (id, project_id, contact_id, email_id, name, data, created_at)
        select gen_random_uuid(), ${mail.projectId}, ${mail.contactId}, ${mail.emailId}, 'email.received', '{}', now()
        from generate_series(1, 49)`,
    );
    for (let i = 0; i < 3; i++) await inbound.deliver(address, answer([inReplyTo(mail.emailId)]), 'ada@home.test');
    expect((await inbound.stateOf(mail)).events.length).toBe(50);
  });
});

describe('a bounce that is reported again and again', () => {
  it('counts once when it is hard, and at most five times when it is soft', async () => {
    const [hard, soft] = [await inbound.sentMail(), await inbound.sentMail()];
    for (let i = 0; i < 3; i++) await inbound.deliver(inbound.verp.returnPath(hard.emailId), dsn());
    for (let i = 0; i < 8; i++) {
      await inbound.deliver(
        inbound.verp.returnPath(soft.emailId),
        dsn({ status: '4.2.2', diagnostic: 'smtp; 452 full' }),
      );
    }
    expect(await inbound.stateOf(hard)).toMatchObject({
      counts: [0, 1, 0],
      events: ['contact.unsubscribed', 'email.bounce'],
    });
    expect((await inbound.stateOf(soft)).events).toEqual(Array.from({ length: 5 }, () => 'email.bounce'));
  });
});

describe('withReplyAddress', () => {
  it('gives an address to the project that uses it first, in any spelling, and to no other', async () => {
    const address = `mine@${INBOUND_DOMAIN}`;
    expect(await withReplyAddress(em(), use(inbound.projectId, address), done)).toBe('done');
    expect(await withReplyAddress(em(), use(inbound.projectId, `MINE@${INBOUND_DOMAIN}`), done)).toBe('done');
    await expect(withReplyAddress(em(), use(otherId, ` Mine@${INBOUND_DOMAIN}`), done)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      errors: [expect.objectContaining({ field: 'replyTo', code: 'address_taken' })],
    });
    expect(await findReplyAddressOwner(em(), address)).toBe(inbound.projectId);
  });

  it('gives an address to one of two projects that use it at the same time', async () => {
    const address = `race@${INBOUND_DOMAIN}`;
    const results = await Promise.allSettled(
      [inbound.projectId, otherId, inbound.projectId, otherId].map((id) =>
        withReplyAddress(em(), use(id, address), done),
      ),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(2);
  });

  it('does not reserve an address when its use fails', async () => {
    const address = `failed@${INBOUND_DOMAIN}`;
    const failing = () => Promise.reject(new Error('no'));
    await expect(withReplyAddress(em(), use(inbound.projectId, address), failing)).rejects.toThrow('no');
    expect(await findReplyAddressOwner(em(), address)).toBeUndefined();
  });

  it('respects users of an address from the time before its domain was the inbound one', async () => {
    const address = `older@${INBOUND_DOMAIN}`;
    await inbound.sentMail({ replyTo: address });
    await expect(withReplyAddress(em(), use(otherId, address), done)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    });
    expect(await withReplyAddress(em(), use(inbound.projectId, address), done)).toBe('done');
  });

  it('refuses the addresses of reports, and leaves other domains to everybody', async () => {
    for (const local of ['abuse', 'postmaster', 'fbl', 'complaints', 'bounce+abc']) {
      const refused = withReplyAddress(em(), use(otherId, `${local}@${INBOUND_DOMAIN}`), done);
      await expect(refused).rejects.toMatchObject({ errors: [expect.objectContaining({ code: 'address_reserved' })] });
    }
    for (const projectId of [inbound.projectId, otherId]) {
      expect(await withReplyAddress(em(), use(projectId, 'hello@example.com'), done)).toBe('done');
    }
  });

  it('limits the number of addresses of a project', async () => {
    const { project } = await createProject(em(), 'Collector');
    await query(
      em(),
      sql`
        insert into reply_address (address, project_id)
        select 'collected-' || n || '@in.everpost.test', ${project.id}::uuid from generate_series(1, 1000) n`,
    );
    const one = withReplyAddress(em(), use(project.id, `one-more@${INBOUND_DOMAIN}`), done);
    await expect(one).rejects.toMatchObject({
      errors: [expect.objectContaining({ field: 'replyTo', code: 'too_big' })],
    });
    expect(await withReplyAddress(em(), use(project.id, `collected-1@${INBOUND_DOMAIN}`), done)).toBe('done');
  });
});
