import { beforeEach, describe, expect, it } from '@jest/globals';
import { testConfig } from '../../../tests/support/config.ts';
import { untilBlocked, useTestDatabase } from '../../../tests/support/database.ts';
import { query } from '../../../tests/support/rows.ts';
import { AppError } from '../../pure/app-error.ts';
import { inTransaction, sql, type SqlFragment } from '../../database/sql.ts';
import { linkSignerOf } from '../../sending/compose/links.ts';
import { readSubmittedMessage } from '../../sending/compose/submitted-message.ts';
import { upsertContacts } from '../contacts/contacts.ts';
import { trustDomain } from '../domains/sender-domains.ts';
import { findKeyOwners } from '../projects/key-usage.ts';
import { hashKey } from '../projects/keys.ts';
import { createProject } from '../projects/projects.ts';
import { createSubmissionQueue } from './submission-queue.ts';

const { em } = useTestDatabase();
let projectId: string;
/** The key that submits. */
let key: { keyId: string; keyHash: string };
/** How often a group or a message had a connection. */
let turns = 0;
beforeEach(async () => {
  const { project, keys } = await createProject(em(), 'Submission');
  projectId = project.id;
  const keyHash = hashKey(keys.secretKey);
  const [owner] = await findKeyOwners(em(), [keyHash]);
  key = { keyId: owner!.key_id, keyHash };
  await trustDomain(em(), projectId, 'example.com');
  turns = 0;
});

/** A queue as each process has one. */
function createQueue() {
  const slots = { run: <Result>(_owner: string, work: () => Promise<Result>) => ((turns += 1), work()) };
  const queue = createSubmissionQueue({ em, slots, links: linkSignerOf(testConfig()), ttlHours: 24 });
  /** @returns what became of a message: stored, or the code of its refusal */
  return async (messageId: string, recipients: string[], from = 'shop@example.com'): Promise<string> => {
    const fields = [`From: ${from}`, 'Subject: Hi', `Message-ID: <${messageId}@example.com>`];
    const message = readSubmittedMessage(Buffer.from(`${fields.join('\r\n')}\r\n\r\nHello\r\n`), []);
    const project = { id: projectId, tracking: 'DISABLED' as const };
    return queue({ ...key, project, message, isEightBit: false, isUtf8: false, recipients }).then(
      () => 'stored',
      (error: unknown) => (error instanceof AppError ? error.code : String(error)),
    );
  };
}

const stored = async () =>
  query(
    em(),
    sql`
      select e.to_address as address, c.id = e.contact_id as "isOfContact", a.content is not null as "hasMessage"
      from email e join contact c on c.project_id = e.project_id and c.email = e.to_address
        join email_content b on b.email_id = e.id join attachment a on a.set_id = b.attachment_set_id
        join outbox o on o.subject_id = e.id
      where e.project_id = ${projectId} order by 1`,
  );
const whole = (address: string) => ({ address, isOfContact: true, hasMessage: true });

describe('submitted messages', () => {
  it('that come together are stored together, and leave contacts as they are that exist', async () => {
    const known = { projectId, emails: ['b@x.test'], subscribedDefault: true, cause: { reason: 'send' } as const };
    const [before] = await upsertContacts(em(), { ...known, data: { name: 'B' } });
    const submit = createQueue();
    const outcomes = await Promise.all([submit('1', ['a@x.test', 'b@x.test']), submit('2', ['c@x.test'])]);
    expect(outcomes).toEqual(['stored', 'stored']);
    expect(turns).toBe(1);
    expect(await stored()).toEqual(['a@x.test', 'b@x.test', 'c@x.test'].map(whole));
    const ids = await query(
      em(),
      sql`
        select substring(convert_from(a.content, 'UTF8') from '<([0-9])@') as id from email e
          join email_content b on b.email_id = e.id join attachment a on a.set_id = b.attachment_set_id
        where e.project_id = ${projectId} order by e.to_address`,
    );
    expect(ids).toEqual([{ id: '1' }, { id: '1' }, { id: '2' }]);
    const [after] = await query(
      em(),
      sql`select subscribed, data, updated_at as "updatedAt" from contact where id = ${before?.id}`,
    );
    expect(after).toEqual({ subscribed: true, data: { name: 'B' }, updatedAt: before?.updatedAt });
  });

  it('are stored once when two processes get them at once, and again later', async () => {
    const [one, another] = [createQueue(), createQueue()];
    const outcomes = await Promise.all([one('1', ['a@x.test']), another('1', ['a@x.test'])]);
    expect(outcomes.sort()).toEqual(['IDEMPOTENCY_KEY_REUSED', 'stored']);
    expect(await one('1', ['a@x.test'])).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(await stored()).toEqual([whole('a@x.test')]);
  });

  it('do not share the refusal of one of them', async () => {
    const submit = createQueue();
    const outcomes = await Promise.all([submit('1', ['a@x.test']), submit('2', ['b@x.test'], 'shop@other.test')]);
    expect(outcomes).toEqual(['stored', 'SENDER_DOMAIN_REFUSED']);
    expect(await stored()).toEqual([whole('a@x.test')]);
  });

  it.each<[string, SqlFragment, string]>([
    ['has ended', sql`delete from api_key`, 'INVALID_API_KEY'],
    ['has expired', sql`update api_key set expires_at = now()`, 'INVALID_API_KEY'],
    ['sends from other domains now', sql`update api_key set sender_domains = '{else.test}'`, 'ROLE_REFUSED'],
    ['belongs to a disabled project', sql`update project set disabled = true`, 'PROJECT_DISABLED'],
  ])('are refused when their key %s', async (_case, change, refusal) => {
    const submit = createQueue();
    expect(await submit('1', ['a@x.test'])).toBe('stored');
    await query(em(), change);
    // One with many recipients is stored alone, and in several statements.
    const many = Array.from({ length: 12 }, (_, n) => `${n}@x.test`);
    const outcomes = await Promise.all([submit('2', ['b@x.test']), submit('3', ['c@x.test']), submit('4', many)]);
    expect(outcomes).toEqual([refusal, refusal, refusal]);
    expect(await stored()).toEqual([whole('a@x.test')]);
  });

  it('get a new contact when theirs is deleted meanwhile', async () => {
    const submit = createQueue();
    await submit('1', ['a@x.test']);
    const submitted = await inTransaction(em(), async (tx) => {
      await query(tx, sql`delete from email where project_id = ${projectId}`);
      await query(tx, sql`delete from contact where project_id = ${projectId}`);
      const outcome = submit('2', ['a@x.test']);
      await untilBlocked(em);
      return { outcome };
    });
    expect(await submitted.outcome).toBe('stored');
    expect(await stored()).toEqual([whole('a@x.test')]);
  });
});
