import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FROM, freshEmail, startSendApi, type SendApi } from '../../tests/support/send.ts';

let app: SendApi;
beforeAll(async () => {
  app = await startSendApi();
});
afterAll(() => app.stop());

describe('POST /v1/send with a template', () => {
  it('takes subject, body, from and reply from the template', async () => {
    const template = await app.createTemplate();
    const { emailId, content, subject } = await app.sendOne({ to: freshEmail(), template, data: { name: 'Ada' } });
    expect(subject).toBe('Welcome Ada');
    expect(content).toMatchObject({
      html: '<p>Dear Ada</p>',
      text: 'Dear Ada',
      fromAddress: 'template@example.com',
      fromName: 'Template',
      replyTo: 'template-reply@example.com',
      headers: [
        ['Feedback-ID', expect.any(String)],
        ['Auto-Submitted', 'auto-generated'],
      ],
    });
    expect((await app.emailRecord(emailId)).templateId).toBe(template);
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['subject', { subject: 'Mine' }, { subject: 'Mine', html: '<p>Dear </p>', fromAddress: 'template@example.com' }],
    ['body', { body: '<b>Mine</b>' }, { subject: 'Welcome friend', html: '<b>Mine</b>' }],
    ['from', { from: FROM }, { fromAddress: FROM, fromName: null, replyTo: 'template-reply@example.com' }],
    ['from with the deprecated name', { from: FROM, name: 'Old' }, { fromAddress: FROM, fromName: 'Old' }],
    ['reply', { reply: 'Mine@example.com' }, { replyTo: 'mine@example.com', fromAddress: 'template@example.com' }],
  ])('lets the request override %s alone', async (_field, change, expected) => {
    const { content, subject } = await app.sendOne({
      to: freshEmail(),
      template: await app.createTemplate(),
      ...change,
    });
    expect({ ...content, subject }).toMatchObject(expected);
  });

  it('gives MARKETING its footer and bulk headers, and HEADLESS the headers alone', async () => {
    const marketing = await app.sendOne({
      to: freshEmail(),
      template: await app.createTemplate({ type: 'MARKETING' }),
    });
    expect(marketing.content.html).toContain('Unsubscribe</a>');
    const names = ['Feedback-ID', 'List-Id', 'Precedence', 'List-Unsubscribe', 'List-Unsubscribe-Post'];
    expect(marketing.content.headers.map(([name]) => name)).toEqual(names);
    const headless = await app.sendOne({ to: freshEmail(), template: await app.createTemplate({ type: 'HEADLESS' }) });
    expect(headless.content.html).toBe('<p>Dear </p>');
    expect(headless.content.headers.map(([name]) => name)).toEqual(names);
  });

  it('does not find the templates of other projects', async () => {
    const theirs = await app.createTemplate({}, await app.createProject());
    for (const template of [theirs, '019a0000-0000-7000-8000-000000000000']) {
      const reply = await app.expectNothingWritten(() => app.send({ to: freshEmail(), template }));
      expect([reply.status, reply.body.error.code]).toEqual([404, 'TEMPLATE_NOT_FOUND']);
    }
    await app.expectRefused({ to: freshEmail(), template: 'welcome' }, 'template', 'invalid_string');
  });

  it('names the field of a template to a request that has neither content nor a template', async () => {
    const misnamed = { to: freshEmail(), templateId: await app.createTemplate() };
    const { body } = await app.expectRefused(misnamed, 'subject', 'invalid_type');
    expect(body.error.errors[0].message).toContain('`template` is the field');
  });

  it.each(['MARKETING', 'HEADLESS'])(
    'refuses %s to a recipient who has opted out, for all recipients',
    async (type) => {
      const template = await app.createTemplate({ type });
      const [gone, other] = [freshEmail(), freshEmail()];
      const { body: contact } = await app.api('POST', '/contacts', { body: { email: gone, data: { plan: 'free' } } });
      await app.api('PATCH', `/contacts/${contact.id}`, { body: { subscribed: false } });

      const reply = await app.expectNothingWritten(() =>
        app.send({ to: [other, gone], template, data: { plan: 'pro', unheardOf: 1 } }),
      );
      expect([reply.status, reply.body.error.code]).toEqual([400, 'BAD_REQUEST']);
      expect(reply.body.error.details).toEqual({ recipients: [gone] });
      expect((await app.contactOf(gone)).data).toEqual({ plan: 'free' });

      // A contact that never consented has not opted out; TRANSACTIONAL reaches everybody; consent given now counts.
      expect((await app.send({ to: other, template })).status).toBe(200);
      expect((await app.send({ to: gone, template: await app.createTemplate() })).status).toBe(200);
      expect((await app.send({ to: gone, template, subscribed: true })).status).toBe(200);
    },
  );

  it('refuses MARKETING whose request also withdraws consent', async () => {
    const template = await app.createTemplate({ type: 'MARKETING' });
    const to = freshEmail();
    const { body: contact } = await app.api('POST', '/contacts', { body: { email: to } });
    const reply = await app.expectNothingWritten(() => app.send({ to, template, subscribed: false }));
    expect(reply.status).toBe(400);
    expect([(await app.contactOf(to)).subscribed, await app.eventNames(contact.id)]).toEqual([true, []]);
  });
});
