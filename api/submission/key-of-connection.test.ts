import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../tests/support/eventually.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { query } from '../../tests/support/rows.ts';
import { logIn, startTestSubmission, submit } from '../../tests/support/submission.ts';
import { sql } from '../../shared/database/sql.ts';
import type { Submission } from './submission-server.ts';

const MAIL = 'From: Shop <hello@example.com>\nTo: a@mail.test\nSubject: Hello\nMessage-ID: <1@shop>\n\nHi';

let app: TestApi;
let server: Submission & { port: number };
beforeAll(async () => {
  app = await startTestApi({ config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 } });
  server = await startTestSubmission(app);
});
afterAll(async () => {
  await server.close();
  await app.stop();
});

describe('the key of a connection', () => {
  it('ends the right to send, also on an open connection, and before the message is read after a refusal', async () => {
    const project = await app.createProject();
    const client = await logIn(server.port, project.keys.secretKey);
    expect(await submit(client, ['a@mail.test'], MAIL)).toMatch(/^250/);
    await query(app.em(), sql`delete from api_key where project_id = ${project.project.id}`);
    for (const line of ['MAIL FROM:<a@b.test>', 'RCPT TO:<b@mail.test>'])
      expect(await client.ask(line)).toMatch(/^250/);
    expect(await client.ask('DATA')).toMatch(/^354/);
    expect(await client.ask(`${MAIL.replaceAll('\n', '\r\n')}\r\n.`)).toMatch(/^535 5\.7\.8/);
    expect(await client.ask('MAIL FROM:<a@b.test>')).toMatch(/^535 5\.7\.8/);
    const emails = await query(
      app.em(),
      sql`select to_address as to from email where project_id = ${project.project.id}`,
    );
    expect(emails).toEqual([{ to: 'a@mail.test' }]);
  });

  it('counts each message as a request of its project', async () => {
    const limited = await startTestSubmission(app, { config: { API_RATE_LIMIT_PER_MINUTE: 3 } });
    const project = await app.createProject();
    const client = await logIn(limited.port, project.keys.secretKey);
    const replies: string[] = [];
    for (let i = 0; i < 6; i++)
      replies.push(await submit(client, ['a@mail.test'], MAIL.replace('1@shop', `${i}@shop`)));
    expect(replies.at(-1)).toMatch(/^451 4\.7\.0 More than 3 .*Try again in \d+ seconds/);
    await limited.close();
  });

  it('counts messages also when it was asked for a moment ago', async () => {
    const project = await app.createProject();
    const usage = sql`select used from rate_window where project_id = ${project.project.id}`;
    const used = async () => Number((await query(app.em(), usage))[0]?.used);
    // The count of each minute begins with 0.
    await eventually(async () => new Date().getUTCSeconds() < 45);
    const client = await logIn(server.port, project.keys.secretKey);
    await submit(client, ['a@mail.test'], MAIL);
    const before = await used();
    for (let i = 2; i < 6; i++)
      expect(await submit(client, ['a@mail.test'], MAIL.replace('1@shop', `${i}@shop`))).toMatch(/^250/);
    await client.ask('QUIT');
    await eventually(async () => (await used()) - before === 4);
  });

  it('of a disabled project sends nothing', async () => {
    const project = await app.createProject();
    const client = await logIn(server.port, project.keys.secretKey);
    await query(app.em(), sql`update project set disabled = true where id = ${project.project.id}`);
    expect(await client.ask('MAIL FROM:<a@b.test>')).toMatch(/^550 5\.7\.1 .*disabled/i);
  });
});
