import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createExecutionEngine } from '../shared/domain/automations/execution-engine.ts';
import { sql } from '../shared/database/sql.ts';
import { query, queryOne } from './support/rows.ts';
import { LIMITS } from '../shared/pure/limits.ts';
import { linkSignerOf } from '../shared/sending/compose/links.ts';
import { createEmailCompiler } from '../shared/sending/compose/compiled-email.ts';
import { createAutomation } from './support/automations.ts';
import { expectTooBig, startTestApi, type TestApi, type TestReply } from './support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi({ config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 } });
});
afterAll(() => app.stop());

const TEXT_40_KB = 'x'.repeat(40_000);
const MANY_KEYS = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`k${index}`, 1]));

/** A contact whose data may grow by 25 kB. */
async function createContact(email: string): Promise<string> {
  const { body } = await app.api('POST', '/contacts', { body: { email, data: { a: TEXT_40_KB } } });
  return body.id;
}

const storedData = (email: string) =>
  queryOne(app.em(), sql`select data from contact where project_id = ${app.project.id} and email = ${email}`);

describe('contact data beyond its limit', () => {
  const content = { subject: 'S', body: 'B', from: 'a@example.com' };

  it.each<[string, (email: string, data: object) => Promise<TestReply>]>([
    ['POST /contacts', (email, data) => app.api('POST', '/contacts', { body: { email, data } })],
    [
      'POST /v1/track',
      (email, data) => app.api('POST', '/v1/track', { key: 'public', body: { email, event: 'e', data } }),
    ],
    ['POST /events/track', (email, data) => app.api('POST', '/events/track', { body: { email, event: 'e', data } })],
    ['POST /v1/send', (email, data) => app.api('POST', '/v1/send', { body: { to: email, ...content, data } })],
    [
      'POST /v1/send to several, with a subscription',
      (email, data) =>
        app.api('POST', '/v1/send', { body: { to: ['b@x.test', email], ...content, data, subscribed: true } }),
    ],
  ])('is refused by %s, which then changes nothing', async (name, call) => {
    const email = `${name.replaceAll(/\W+/g, '-').toLowerCase()}@x.test`;
    await createContact(email);
    const counts = () =>
      query(
        app.em(),
        sql`
          select (select count(*) from event) as events, (select count(*) from email) as emails,
            (select count(*) from contact) as contacts, (select count(*) from contact_field) as fields`,
      );
    const before = await counts();
    expectTooBig(await call(email, { b: TEXT_40_KB, unseen: 1 }), 'data');
    expectTooBig(await call(email, MANY_KEYS), 'data');
    expect(await counts()).toEqual(before);
    expect(await storedData(email)).toEqual({ data: { a: TEXT_40_KB } });
    expect((await call(email, { b: 'short' })).status).toBeLessThan(300);
  });

  it('is refused by PATCH /contacts/:id', async () => {
    const id = await createContact('patch@x.test');
    expectTooBig(await app.api('PATCH', `/contacts/${id}`, { body: { data: { b: TEXT_40_KB } } }), 'data');
    expect((await app.api('PATCH', `/contacts/${id}`, { body: { data: { a: null, b: TEXT_40_KB } } })).status).toBe(
      200,
    );
  });

  it('ends the execution of an UPDATE_CONTACT step with the reason', async () => {
    const automationId = await createAutomation(app, 'fill', {
      update: { type: 'UPDATE_CONTACT', config: { data: { b: TEXT_40_KB } } },
    });
    await createContact('step@x.test');
    await app.api('POST', '/v1/track', { key: 'public', body: { email: 'step@x.test', event: 'fill' } });
    const execution = await queryOne(
      app.em(),
      sql`select id from automation_execution where automation_id = ${automationId}`,
    );
    const engine = createExecutionEngine({
      em: app.em,
      links: linkSignerOf(app.config),
      compileEmail: createEmailCompiler(),
      messageBytesMax: 1_000_000,
    });
    await engine.advance(execution!.id, { now: () => new Date(), runId: null, isRepetition: false });
    const { body } = await app.api('GET', `/workflows/${automationId}/executions/${execution!.id}`);
    const reason = expect.stringMatching(/^data: A contact may have at most 500 keys/);
    expect(body).toMatchObject({ status: 'FAILED', exitReason: reason });
    expect(body.stepExecutions.at(-1)).toMatchObject({ status: 'FAILED', error: reason });
  });
});

describe('data of a request', () => {
  it('has a separate limit for data that is not stored with the contact', async () => {
    const passing = (bytes: number) => ({ big: { value: 'x'.repeat(bytes), persistent: false } });
    const track = (data: object) => app.api('POST', '/events/track', { body: { email: 'e@x.test', event: 'e', data } });
    expect((await track(passing(LIMITS.eventDataBytes - 100))).status).toBe(201);
    expectTooBig(await track(passing(LIMITS.eventDataBytes)), 'data');
    expectTooBig(
      await app.api('POST', '/events/track', { body: { name: 'e', data: passing(LIMITS.eventDataBytes) } }),
      'data',
    );
    const send = (data: object) =>
      app.api('POST', '/v1/send', {
        body: { to: 'e@x.test', subject: 'S', body: '{{#if big}}B{{/if}}', from: 'a@example.com', data },
      });
    expect((await send(passing(1_000_000))).status).toBe(200);
    expectTooBig(await send(passing(LIMITS.requestDataBytes)), 'data');
    const removals = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, key) => [`k${key}`, null]));
    expect((await send(removals(1_000))).status).toBe(200);
    expectTooBig(await send(removals(1_001)), 'data');
  });

  it('of an execution is limited as well', async () => {
    const automationId = await createAutomation(app, 'context', { end: { type: 'EXIT' } });
    const { body } = await app.api('POST', '/contacts', { body: { email: 'context@x.test' } });
    const start = (context: object) =>
      app.api('POST', `/workflows/${automationId}/executions`, { body: { contactId: body.id, context } });
    expectTooBig(await start({ text: 'x'.repeat(LIMITS.executionContextBytes) }), 'context');
    expect((await start({ text: 'x'.repeat(LIMITS.executionContextBytes - 100) })).status).toBe(201);
  });
});
