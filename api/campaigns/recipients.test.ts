import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { query, sql } from '../../shared/database/sql.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const STATES = ['SENT', 'FAILED', 'BOUNCED', 'PENDING', 'SKIPPED'];

/** A campaign with this many recipients; their states alternate. */
async function createCampaign(owner: TestProject, recipients: number): Promise<string> {
  const id = uuidV7();
  await query(
    app.em(),
    sql`
      with campaign as (
        insert into campaign (id, project_id, name, subject, body, from_address, status, audience_type, total_recipients,
          created_at, updated_at)
        values (${id}, ${owner.project.id}, 'Spring', 'S', 'B', 'us@example.com', 'SENDING', 'ALL', ${recipients}, now(), now())
      )
      insert into email (id, project_id, contact_id, campaign_id, campaign_seq, to_address, status, error, created_at)
      select everpost_uuid_v7(), ${owner.project.id}, everpost_uuid_v7(), ${id}, n, 'p' || n || '@mail.test',
        (${STATES}::text[])[n % 5 + 1], case when n % 5 = 1 then '=cmd("x")' end, now()
      from generate_series(1, ${recipients}::int) n`,
  );
  return id;
}

async function readTable(
  url: string,
  headers: Record<string, string>,
): Promise<{ response: Response; lines: string[] }> {
  const response = await fetch(`${app.url}${url}`, {
    headers: { authorization: `Bearer ${app.keys.secretKey}`, ...headers },
  });
  return { response, lines: (await response.text()).split('\r\n').slice(0, -1) };
}

describe('GET /campaigns/:id/recipients', () => {
  it('lists every recipient once, with the state and the words of the server', async () => {
    const id = await createCampaign(app, 12);
    const seen: any[] = [];
    for (let cursor = ''; ;) {
      const { status, body } = await app.api('GET', `/campaigns/${id}/recipients?limit=5&cursor=${cursor}`);
      expect(status).toBe(200);
      seen.push(...body.recipients);
      if (!body.hasMore) break;
      cursor = body.cursor;
    }
    expect(seen.map((recipient) => recipient.number)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(seen.at(-1)).toMatchObject({ state: 'FAILED', email: 'p1@mail.test', words: '=cmd("x")', sentAt: null });
  });

  it('has each recipient in one state, so that the states together are all recipients', async () => {
    const id = await createCampaign(app, 23);
    let sum = 0;
    for (const state of STATES) {
      const { body } = await app.api('GET', `/campaigns/${id}/recipients?limit=100&state=${state}`);
      expect(body.recipients.every((recipient: any) => recipient.state === state)).toBe(true);
      sum += Number(body.recipients.length);
    }
    expect(sum).toBe(23);
    expect((await app.api('GET', `/campaigns/${id}`)).body.totalRecipients).toBe(sum);
  });

  it('answers all of them as CSV, without a cell that a spreadsheet would run as a formula', async () => {
    const id = await createCampaign(app, 2_345);
    const { response, lines } = await readTable(`/campaigns/${id}/recipients`, { accept: 'text/csv' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(lines).toHaveLength(2_346);
    expect(lines[0]).toMatch(/^"emailId","number","state","email"/);
    const numbers = lines.slice(1).map((line) => Number(line.split(',')[1]));
    expect(numbers).toEqual(Array.from({ length: 2_345 }, (_, index) => 2_345 - index));
    const failed = await readTable(`/campaigns/${id}/recipients?format=csv&state=FAILED`, {});
    expect(failed.lines).toHaveLength(470);
    expect(failed.lines[1]).toContain(`,"'=cmd(""x"")",`);
  });

  it('answers JSON when the caller accepts anything, or asks for JSON', async () => {
    const id = await createCampaign(app, 1);
    for (const [url, accept] of [
      [`/campaigns/${id}/recipients`, '*/*'],
      [`/campaigns/${id}/recipients?format=json`, 'text/csv'],
    ] as const) {
      const { response } = await readTable(url, { accept });
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    }
  });

  it('serves others after a client has left in the middle of its answer', async () => {
    const id = await createCampaign(app, 20_000);
    const leaving = new AbortController();
    const response = await fetch(`${app.url}/campaigns/${id}/recipients?format=csv`, {
      headers: { authorization: `Bearer ${app.keys.secretKey}` },
      signal: leaving.signal,
    });
    const reader = response.body!.getReader();
    await reader.read();
    leaving.abort();
    expect((await app.api('GET', `/campaigns/${id}/recipients`)).status).toBe(200);
  });

  it.each([
    ['state=LOST', 422, 'state'],
    ['state=', 422, 'state'],
    ['status=FAILED', 422, 'status'],
    ['format=pdf', 422, 'format'],
    ['limit=-1', 422, 'limit'],
    ['cursor=x', 400, 'cursor'],
  ])('refuses %s with %d and names the field', async (search, status, field) => {
    const id = await createCampaign(app, 1);
    const reply = await app.api('GET', `/campaigns/${id}/recipients?${search}`);
    const named = status === 422 ? reply.body.error.errors[0].field : reply.body.error.details.field;
    expect([reply.status, named]).toEqual([status, field]);
  });

  it('is not found for another project', async () => {
    const id = await createCampaign(await app.createProject(), 1);
    for (const search of ['', '?format=csv']) {
      expect((await app.api('GET', `/campaigns/${id}/recipients${search}`)).body.error.code).toBe('CAMPAIGN_NOT_FOUND');
    }
  });
});
