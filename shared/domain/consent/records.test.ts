import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { query } from '../../../tests/support/rows.ts';
import { createProject } from '../projects/projects.ts';
import { sql } from '../../database/sql.ts';
import { evidenceOf, recordConsents, wordingId } from './records.ts';

const { em } = useTestDatabase();

it.each([
  ['203.0.113.77', 'SHORTENED', '203.0.113.0/24'],
  ['203.0.113.77', 'FULL', '203.0.113.77'],
  ['203.0.113.77', 'NONE', null],
  ['::ffff:203.0.113.77', 'SHORTENED', '203.0.113.0/24'],
  ['2001:DB8:1:2:3:4:5:6', 'SHORTENED', '2001:db8:1::/48'],
  ['2001:0db8:0:0:1:0:0:1', 'FULL', '2001:db8::1:0:0:1'],
  ['fe80::1%eth0', 'SHORTENED', 'fe80::/48'],
  ['::1', 'SHORTENED', '::/48'],
  ['no address', 'FULL', null],
  [undefined, 'FULL', null],
] as const)('keeps the address %s as %s: %s', (address, kept, stored) => {
  expect(evidenceOf(address, kept)).toEqual({ clientAddress: stored });
});

it('records changes with everything that their causes name, and the campaign of the email', async () => {
  const { project } = await createProject(em(), 'P');
  const [contactId, topicId, emailId, campaignId, jobId] = Array.from({ length: 5 }, () => randomUUID());
  await query(
    em(),
    sql`insert into email (id, project_id, campaign_id, status, created_at)
      values (${emailId}, ${project.id}, ${campaignId}, 'SENT', now())`,
  );
  const evidence = { ...evidenceOf('203.0.113.7', 'SHORTENED'), wordingId: await wordingId(em(), 'Send me news') };
  await recordConsents(em(), project.id, []);
  await recordConsents(em(), project.id, [
    { contactId: contactId ?? '', state: 'subscribed', cause: { reason: 'import', jobId: jobId ?? '' } },
    {
      contactId: contactId ?? '',
      topicId,
      state: 'unsubscribed',
      cause: { reason: 'link', emailId: emailId ?? '' },
      evidence,
    },
  ]);
  const rows = await query(
    em(),
    sql`
      select project_id as project, topic_id as topic, state, cause, details, email_id as email,
        campaign_id as campaign, client_address as "clientAddress", wording_id as "wordingId"
      from consent_record where contact_id = ${contactId} order by topic_id nulls first`,
  );
  const nothing = { topic: null, email: null, campaign: null, clientAddress: null, wordingId: null };
  expect(rows).toEqual([
    { ...nothing, project: project.id, state: 'subscribed', cause: 'import', details: { jobId } },
    {
      project: project.id,
      topic: topicId,
      state: 'unsubscribed',
      cause: 'link',
      details: {},
      email: emailId,
      campaign: campaignId,
      ...evidence,
    },
  ]);
});

it('stores the same words once, also when they come at the same time', async () => {
  const ids = await Promise.all(Array.from({ length: 5 }, () => wordingId(em().fork(), 'I agree\0 🎈')));
  expect(new Set(ids).size).toBe(1);
  expect(await query(em(), sql`select content from wording where id = ${ids[0]}`)).toEqual([
    { content: 'I agree\ufffd 🎈' },
  ]);
});
