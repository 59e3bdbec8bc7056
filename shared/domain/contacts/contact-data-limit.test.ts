import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LIMITS } from '../../pure/limits.ts';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { createProject } from '../projects/projects.ts';
import { json, sql } from '../../database/sql.ts';
import { queryOne } from '../../../tests/support/rows.ts';
import { findContact, patchContact, upsertContacts } from './contacts.ts';
import { createContactBatch } from '../contact-jobs/contact-batch.ts';
import { importContacts, importSource } from '../contact-jobs/import-contacts.ts';

const CAUSE = { reason: 'send' } as const;

let projectId: string;
const { em } = useTestDatabase();
beforeAll(async () => {
  projectId = (await createProject(em(), 'Data')).project.id;
});

type Data = Record<string, unknown>;

const REFUSED = { code: 'VALIDATION_ERROR', errors: [{ field: 'data', code: 'too_big' }] };
const keys = (count: number, start = 0): Data =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${start + index}`, 1]));
/** Data of exactly this many bytes of JSON. */
const dataOf = (bytes: number, key = 'a'): Data => ({ [key]: 'x'.repeat(bytes - key.length - 7) });

async function upsert(email: string, data: Data): Promise<{ id: string; data: Data }> {
  const [contact] = await upsertContacts(em(), {
    projectId,
    emails: [email],
    subscribedDefault: true,
    cause: CAUSE,
    data,
  });
  return contact!;
}

describe('the data of a contact', () => {
  it('may have 65,536 bytes of JSON, and not one more', async () => {
    expect(Buffer.byteLength(JSON.stringify(dataOf(65_536)))).toBe(LIMITS.contactDataBytes);
    const { id } = await upsert('bytes@x.test', dataOf(65_536));
    await expect(upsert('bytes-2@x.test', dataOf(65_537))).rejects.toMatchObject(REFUSED);
    await expect(patchContact(em(), projectId, id, { data: { b: 1 } }, CAUSE)).rejects.toMatchObject({
      ...REFUSED,
      details: { contactId: id },
    });
    await patchContact(em(), projectId, id, { data: { a: null, b: 1 } }, CAUSE);
    expect((await findContact(em(), projectId, id)).data).toEqual({ b: 1 });
  });

  it('is measured in octets of UTF-8, without the spaces that PostgreSQL writes', async () => {
    const numbers = Array.from({ length: 32_000 }, () => 1);
    expect(Buffer.byteLength(JSON.stringify({ numbers }))).toBeLessThan(65_536);
    await upsert('numbers@x.test', { numbers });
    await expect(upsert('umlauts@x.test', { text: 'ü'.repeat(33_000) })).rejects.toMatchObject(REFUSED);
  });

  it('may have 500 keys, and not one more', async () => {
    const { id } = await upsert('keys@x.test', keys(400));
    await patchContact(em(), projectId, id, { data: keys(500) }, CAUSE);
    await expect(upsert('keys@x.test', { other: 1 })).rejects.toMatchObject(REFUSED);
    await upsert('keys@x.test', { other: 1, k0: null });
    await expect(upsert('keys-2@x.test', keys(501))).rejects.toMatchObject(REFUSED);
  });

  it('stays within the limit when two requests add to it at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      const email = `race-${round}@x.test`;
      const results = await Promise.allSettled([
        upsert(email, dataOf(40_000, 'a')),
        upsert(email, dataOf(40_000, 'b')),
      ]);
      expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected']);
    }
  });
});

describe('everpost_json_bytes', () => {
  it('counts what JSON.stringify writes', async () => {
    const value = fc.jsonValue({ maxDepth: 3, noUnicodeString: false }).filter((each) => !/\\u0000|e/.test(json(each)));
    await fc.assert(
      fc.asyncProperty(fc.array(value, { maxLength: 20 }), async (values) => {
        const row = await queryOne(em(), sql`select everpost_json_bytes(${json(values)}::jsonb) as bytes`);
        // jsonb keeps one of two equal keys, and no sign of zero. Parsing does the same.
        expect(row?.bytes).toBe(Buffer.byteLength(JSON.stringify(JSON.parse(json(values)))));
      }),
      { numRuns: 200 },
    );
  });
});

describe('an import', () => {
  const row = (number: number, email: string, data: Data) => ({
    row: number,
    email,
    subscribed: undefined,
    data: JSON.stringify(data),
  });

  it('refuses rows that would give their contact too much data, and stores the others', async () => {
    await upsert('full@x.test', dataOf(60_000));
    await upsert('most-keys@x.test', keys(500));
    const { createdCount, updatedCount, refused } = await importContacts(
      em(),
      importSource({ id: randomUUID(), projectId, createdAt: new Date() }),
      createContactBatch([
        row(2, 'new@x.test', { plan: 'pro' }),
        row(3, 'full@x.test', dataOf(10_000, 'b')),
        row(4, 'twice@x.test', dataOf(40_000, 'a')),
        row(5, 'twice@x.test', dataOf(40_000, 'b')),
        row(6, 'most-keys@x.test', { k0: 2 }),
      ]),
    );
    expect([createdCount, updatedCount, refused.map((each) => each.row)]).toEqual([1, 1, [3, 4, 5]]);
    expect((await upsert('full@x.test', {})).data).toEqual(dataOf(60_000));
  });
});
