import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { sql } from '../../shared/database/sql.ts';
import { query } from '../../tests/support/rows.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

async function send(more: object = {}): Promise<string> {
  const sent = await app.api('POST', '/v1/send', {
    body: { to: 'ada@mail.test', from: 'us@example.com', subject: 'Grüße', body: '<p>Order 7</p>', ...more },
  });
  expect(sent).toMatchObject({ status: 200 });
  return sent.body.data.emails[0].email;
}

const contentOf = (id: string, key?: string) => app.api('GET', `/emails/${id}/content`, key ? { key } : {});

describe('GET /emails/:id/content', () => {
  it('answers what was stored, with all headers and the source', async () => {
    const id = await send({ headers: { 'X-Order': '7' }, text: 'Order 7' });
    const { status, body } = await contentOf(id);
    expect([status, body.html, body.text.trim(), body.isExact]).toEqual([200, '<p>Order 7</p>', 'Order 7', true]);
    const headers = new Map(body.headers.map(({ name, value }: { name: string; value: string }) => [name, value]));
    expect(headers.get('To')).toContain('ada@mail.test');
    expect(headers.get('X-Order')).toBe('7');
    expect(headers.get('Message-ID')).toContain(id);
    expect(body.source).toContain('\r\n\r\n');
  });

  it('shows the images that lie in the message, and leaves the content of files out of the source', async () => {
    const image = {
      filename: 'l.png',
      content: PNG,
      contentType: 'image/png',
      contentId: 'l@x',
      disposition: 'inline',
    };
    const { body } = await contentOf(await send({ body: '<img src="cid:l@x">', attachments: [image] }));
    expect(body.html).toBe(`<img src="data:image/png;base64,${PNG}">`);
    expect(body.attachments).toEqual([{ filename: 'l.png', contentType: 'image/png', bytes: 70 }]);
    expect(body.source).not.toContain(PNG);
  });

  it('renders the email of a campaign again, with what is known of the contact', async () => {
    const { body: contact } = await app.api('POST', '/contacts', {
      body: { email: 'eve@mail.test', data: { name: '<Eve>' } },
    });
    const created = await app.api('POST', '/campaigns', {
      body: { name: 'N', subject: 'Hi {{name}}', body: '<p>{{name}}</p>', from: 'us@example.com', audienceType: 'ALL' },
    });
    const [emailId, campaignId] = [uuidV7(), created.body.data.id];
    await query(
      app.em(),
      sql`
        insert into email (id, project_id, contact_id, campaign_id, campaign_seq, to_address, status, created_at)
        values (${emailId}, ${app.project.id}, ${contact.id}, ${campaignId}, 1, 'eve@mail.test', 'SENT', now())`,
    );
    const { body } = await contentOf(emailId);
    expect([body.isExact, body.html.includes('<p>&lt;Eve&gt;</p>')]).toEqual([false, true]);
    expect(body.headers.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['Subject', 'List-Unsubscribe', 'Feedback-ID']),
    );
    expect((await app.api('DELETE', `/contacts/${contact.id}`)).status).toBe(204);
    expect((await contentOf(emailId)).body.error.message).toBe('The content of this email is not kept any more');
  });

  it('is a 404 for the email of another project, and for one that another key has sent', async () => {
    const id = await send();
    const other = await app.createProject();
    expect((await other.api('GET', `/emails/${id}/content`)).status).toBe(404);
    const { body: key } = await app.api('POST', '/keys', { body: { name: 'Shop', role: 'send' } });
    expect((await contentOf(id, key.key ?? key.data.key)).status).toBe(404);
    expect((await contentOf(uuidV7())).body.error.message).toBe('Email not found');
  });
});

describe('POST /find', () => {
  const find = async (text: string, key = 'secret') => {
    const { body } = await app.api('POST', '/find', { body: { text }, key });
    return body.records.map(({ kind, title }: { kind: string; title: string }) => `${kind} ${title}`);
  };

  it('finds contacts by part of an address or a name, in any case', async () => {
    await app.api('POST', '/contacts', {
      body: { email: 'grace.hopper@navy.test', data: { firstName: 'Grace', lastName: 'Hopper' } },
    });
    for (const text of ['hopper@', 'CE.HOP', 'grace hop', 'av', '@navy.test'])
      expect([text, await find(text)]).toEqual([text, expect.arrayContaining(['contact grace.hopper@navy.test'])]);
    for (const text of ['%', 'grace_hopper', 'hopper grace'])
      expect([text, (await find(text)).includes('contact grace.hopper@navy.test')]).toEqual([text, false]);
    expect((await app.api('GET', '/contacts?search=CE.HOP')).body.data).toHaveLength(1);
    const other = await app.createProject();
    expect((await other.api('POST', '/find', { body: { text: 'hopper@' } })).body.records).toEqual([]);
  });

  it('finds records of any kind by id, and those with a name by part of it, as far as the role may read them', async () => {
    const { body: template } = await app.api('POST', '/templates', {
      body: { name: 'Welcome letter', subject: 'S', body: '<p>B</p>', from: 'us@example.com' },
    });
    expect(await find('come let')).toEqual(['template Welcome letter']);
    expect(await find(template.id ?? template.data.id)).toEqual(['template Welcome letter']);
    expect(await find(await send({ subject: 'Receipt' }))).toEqual(['email Receipt']);
    const { body: key } = await app.api('POST', '/keys', { body: { name: 'Help', role: 'support' } });
    expect(await find('come let', key.key ?? key.data.key)).toEqual([]);
  });
});

it('POST /templates/:id/preview renders without sending, and names the fault of a template', async () => {
  const { body: template } = await app.api('POST', '/templates', {
    body: { name: 'T', subject: 'Hi {{name}}', body: '<p>{{name}}</p>', from: 'us@example.com', type: 'TRANSACTIONAL' },
  });
  const path = `/templates/${template.id ?? template.data.id}/preview`;
  const { body } = await app.api('POST', path, { body: { data: { name: '<b>' } } });
  expect([body.subject, body.html]).toEqual(['Hi <b>', '<p>&lt;b&gt;</p>']);
  expect((await app.api('POST', path, { body: {} })).status).toBe(422);
});
