import { beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { useTestDatabase } from '../../../tests/support/database.ts';
import type { Em } from '../../database/em.ts';
import { sql } from '../../database/sql.ts';
import { query, queryOne } from '../../../tests/support/rows.ts';
import { createProject } from '../projects/projects.ts';
import { findFirstRecipient } from './audience.ts';
import { freezeNextRecipients } from './freeze-audience.ts';

const FIRST = 8_000;
const LAST = 100;
const OF_OTHER = 20_000;
const MEMBERS = 30;
const WINDOW = 1_000;

let projectId: string;
let otherId: string;
const segmentId = uuidV7();
const { em } = useTestDatabase();

async function addContacts(owner: string, count: number): Promise<void> {
  await query(
    em(),
    sql`
      insert into contact (id, project_id, email, subscribed, created_at, updated_at)
      select everpost_uuid_v7(), ${owner}, everpost_uuid_v7() || '@mail.test', true, now(), now()
      from generate_series(1, ${count}::int)`,
  );
}

beforeAll(async () => {
  projectId = (await createProject(em(), 'Large')).project.id;
  otherId = (await createProject(em(), 'Other')).project.id;
  await addContacts(projectId, FIRST);
  await addContacts(otherId, OF_OTHER);
  await addContacts(projectId, LAST);
  await query(
    em(),
    sql`
      insert into contact (id, project_id, email, subscribed, created_at, updated_at)
      values (everpost_uuid_v7(), ${projectId}, 'jörg@mail.test', true, now(), now())`,
  );
  await query(
    em(),
    sql`
      insert into segment (id, project_id, name, type, created_at, updated_at)
      values (${segmentId}, ${projectId}, 'Few', 'STATIC', now(), now())`,
  );
  await query(
    em(),
    sql`
      insert into segment_member (segment_id, contact_id)
      select ${segmentId}, id from contact where project_id = ${projectId} order by md5(email) limit ${MEMBERS}`,
  );
  await query(em(), sql`vacuum (analyze) contact, segment_member`);
}, 60_000);

async function createCampaign(audienceType: 'ALL' | 'SEGMENT'): Promise<string> {
  const id = uuidV7();
  const segment = audienceType === 'SEGMENT' ? segmentId : null;
  await query(
    em(),
    sql`
      insert into campaign (id, project_id, name, subject, body, from_address, status, audience_type, segment_id, created_at,
        updated_at)
      values (${id}, ${projectId}, 'News', 'Hi', 'x', 'a@mail.test', 'SENDING', ${audienceType}, ${segment}, now(), now())`,
  );
  return id;
}

/** The contacts that a connection has read, in this transaction and shortly before. */
async function contactsRead(tx: Em): Promise<number> {
  const reads = await queryOne(
    tx,
    sql`select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables where relname = 'contact'`,
  );
  return reads?.rows ?? Number.NaN;
}

/** Stores an audience. @returns the recipients, the statements, and the most contacts that one of them has read */
async function freeze(campaignId: string): Promise<{ total: number; statements: number; contactsReadMax: number }> {
  const tx = em();
  await tx.begin();
  try {
    let contactsReadMax = 0;
    for (let statements = 1; ; statements++) {
      const before = await contactsRead(tx);
      const progress = await freezeNextRecipients(tx, campaignId, WINDOW);
      contactsReadMax = Math.max(contactsReadMax, (await contactsRead(tx)) - before);
      if (progress?.isComplete) return { total: progress.totalRecipients, statements, contactsReadMax };
    }
  } finally {
    await tx.rollback();
  }
}

it('whether a campaign has an audience is known without reading the contacts of other projects', async () => {
  const tx = em();
  await tx.begin();
  try {
    const before = await contactsRead(tx);
    const stated = { projectId: otherId, type: 'MARKETING', topicId: null, audienceType: 'ALL' } as const;
    expect(
      await findFirstRecipient(tx, { ...stated, audienceCondition: null, segmentId: null }, new Date()),
    ).toBeDefined();
    expect((await contactsRead(tx)) - before).toBeLessThan(10);
  } finally {
    await tx.rollback();
  }
});

describe('a statement that stores an audience', () => {
  it('reads no contacts of other projects, and leaves out those no email can go to', async () => {
    const { total, statements, contactsReadMax } = await freeze(await createCampaign('ALL'));
    expect([total, statements]).toEqual([FIRST + LAST, Math.floor((FIRST + LAST) / WINDOW) + 1]);
    expect(contactsReadMax).toBeLessThanOrEqual(WINDOW);
  });

  it('reads only the members of a static segment', async () => {
    const { total, statements, contactsReadMax } = await freeze(await createCampaign('SEGMENT'));
    expect([total, statements]).toEqual([MEMBERS, 1]);
    expect(contactsReadMax).toBeLessThan(2 * MEMBERS);
  });
});
