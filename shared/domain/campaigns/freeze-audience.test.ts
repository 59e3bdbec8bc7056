import { beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { sql, type Em } from '../../database/sql.ts';
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

it('an audience is that of the segment as it was when the first recipients were stored', async () => {
  const { id: owner } = (await createProject(em(), 'Changing')).project;
  await addContacts(owner, 10);
  const [outer, inner, campaign] = [uuidV7(), uuidV7(), uuidV7()];
  const member = { field: `segment.${inner}`, operator: 'memberOfSegment', value: inner };
  const condition = (filter: object) => JSON.stringify({ logic: 'AND', groups: [{ filters: [filter] }] });
  for (const [id, text] of [
    [inner, condition({ field: 'email', operator: 'exists' })],
    [outer, condition(member)],
  ] as const) {
    await query(
      em(),
      sql`
        insert into segment (id, project_id, name, type, condition, created_at, updated_at)
        values (${id}, ${owner}, ${id}, 'DYNAMIC', ${text}::jsonb, now(), now())`,
    );
  }
  await query(
    em(),
    sql`
      insert into campaign (id, project_id, name, subject, body, from_address, status, audience_type, segment_id, created_at,
        updated_at)
      values (${campaign}, ${owner}, 'News', 'Hi', 'x', 'a@mail.test', 'SENDING', 'SEGMENT', ${outer}, now(), now())`,
  );
  expect(await freezeNextRecipients(em(), campaign, 4)).toEqual({ isComplete: false, totalRecipients: 4 });
  const none = condition({ field: 'email', operator: 'equals', value: 'nobody' });
  await query(em(), sql`update segment set condition = ${none}::jsonb where id = ${inner}`);
  expect(await freezeNextRecipients(em(), campaign, 100)).toEqual({ isComplete: true, totalRecipients: 10 });
});

describe('the audience of a project whose mail goes over a source that warms up', () => {
  const NAME = 'cold';
  let ordered: string;
  beforeAll(async () => {
    ordered = (await createProject(em(), 'Ordered')).project.id;
    await addContacts(ordered, 40);
    await query(
      em(),
      sql`
        update contact c set created_at = now() - n * interval '1 hour', email = 'reader' || n || '@mail.test'
        from (select id, row_number() over (order by md5(email)) as n from contact where project_id = ${ordered}) o
        where o.id = c.id`,
    );
    // Readers 1 to 20 opened: the later ones later, and each of them long ago as well. What machines did counts for nothing.
    await query(
      em(),
      sql`
        insert into event (id, project_id, contact_id, name, data, created_at)
        select everpost_uuid_v7(), project_id, id, name, jsonb_build_object('isMachine', is_machine), now() - ago
        from (select *, substring(email from '[0-9]+')::int as n from contact where project_id = ${ordered}) c
        cross join lateral (values
          ('email.open', false, interval '90 days'), ('email.click', false, (30 - n) * interval '1 day'),
          ('email.open', true, interval '1 minute')
        ) v (name, is_machine, ago) where n <= 20 or is_machine`,
    );
    await query(
      em(),
      sql`
        insert into source (name, kind, pool, relay, warm_up)
        values (${NAME}, 'relay', 'default', 'x:25', '{"plan": "default", "step": 0, "perDay": {}}')`,
    );
  });

  async function freezeInOrder(windowSize: number): Promise<string[]> {
    const owner = projectId;
    projectId = ordered;
    const id = await createCampaign('ALL');
    projectId = owner;
    while (!(await freezeNextRecipients(em(), id, windowSize))?.isComplete);
    const rows = await queryOne(
      em(),
      sql`select array_agg(to_address order by campaign_seq) as found, max(campaign_seq) as last from email where campaign_id = ${id}`,
    );
    expect(rows?.last).toBe(40);
    return rows?.found as string[];
  }

  it.each([1, 3, 7, 100])(
    'has those who opened or clicked last first, and then the newest, in parts of %i',
    async (size) => {
      const engaged = Array.from({ length: 20 }, (_, index) => 20 - index);
      const newest = Array.from({ length: 20 }, (_, index) => 21 + index);
      expect(await freezeInOrder(size)).toEqual([...engaged, ...newest].map((n) => `reader${n}@mail.test`));
    },
  );

  it('has no order of its own once no source warms up', async () => {
    await query(em(), sql`update source set warm_up = null where name = ${NAME}`);
    const byId = await query(em(), sql`select email from contact where project_id = ${ordered} order by id`);
    expect(await freezeInOrder(7)).toEqual(byId.map(({ email }) => email));
  });
});
