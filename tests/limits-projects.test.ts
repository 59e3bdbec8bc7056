import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { json, sql, SqlFragment } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { LIMITS } from '../shared/pure/limits.ts';
import { createAutomation } from './support/automations.ts';
import { expectTooBig, startTestApi, type TestApi } from './support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi({ config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 } });
});
afterAll(() => app.stop());

describe('a project', () => {
  it('may have 100 sender domains, and the next is refused with its field', async () => {
    const [domains] = await query(
      app.em(),
      sql`select count(*) from sender_domain where project_id = ${app.project.id}`,
    );
    await query(
      app.em(),
      sql`
        insert into sender_domain (id, project_id, domain, created_at, updated_at)
        select everpost_uuid_v7(), ${app.project.id}, i || '.example', now(), now()
        from generate_series(1, ${LIMITS.senderDomainsPerProject - 1 - (domains?.count ?? 0)}::int) i`,
    );
    const add = (domain: string) => app.api('POST', '/domains', { body: { domain } });
    expect((await add('last.example')).status).toBe(201);
    expectTooBig(await add('beyond.example'), 'domain');
    expect((await add('last.example')).status).toBe(409);
  });

  it('may have 5,000 names of events; further names are refused until one is deleted, known names are not', async () => {
    await query(
      app.em(),
      sql`
        insert into event_name select ${app.project.id}, 'name ' || i
        from generate_series(1, ${LIMITS.eventNamesPerProject - 1}::int) i`,
    );
    const track = (event: string) =>
      app.api('POST', '/v1/track', { key: 'public', body: { email: 'n@example.com', event } });
    expect((await track('last')).status).toBe(200);
    expectTooBig(await track('beyond'), 'event');
    expectTooBig(await app.api('POST', '/events/track', { body: { name: 'beyond' } }), 'name');
    expect((await track('name 1')).status).toBe(200);
    expect((await app.api('DELETE', '/events/last')).status).toBe(200);
    expect((await track('beyond')).status).toBe(200);
    expectTooBig(await track('last'), 'event');
  });

  it('may have 5,000 fields of custom data; further fields are refused, known ones are not', async () => {
    await query(
      app.em(),
      sql`
        insert into contact_field (project_id, key, type) select ${app.project.id}, 'field ' || i, 'string'
        from generate_series(1, ${LIMITS.contactFieldsPerProject - 1}::int) i`,
    );
    const create = (key: string) =>
      app.api('POST', '/contacts', { body: { email: `${key.length}@example.com`, data: { [key]: 'x' } } });
    const { body } = await create('last');
    expectTooBig(await create('beyond'), 'data');
    const patch = (key: string) => app.api('PATCH', `/contacts/${body.id}`, { body: { data: { [key]: 'x' } } });
    expectTooBig(await patch('beyond'), 'data');
    expect((await patch('field 1')).status).toBe(200);
  });

  it('may have 10,000 templates and 20,000 campaigns, copies included', async () => {
    const mail = { name: 'N', subject: 'S', body: 'B', from: 'a@example.com' };
    const add = (path: string, more = {}) => app.api('POST', path, { body: { ...mail, ...more } });
    const template = await add('/templates', { type: 'MARKETING' });
    const campaign = await add('/campaigns', { audienceType: 'ALL' });
    const fill = async (table: 'template' | 'campaign', limit: number) => {
      await query(
        app.em(),
        sql`
          insert into ${new SqlFragment(table)} select (jsonb_populate_record(t, jsonb_build_object('id', everpost_uuid_v7()))).*
          from ${new SqlFragment(table)} t, generate_series(2, ${limit}::int) where t.project_id = ${app.project.id}`,
      );
    };
    await fill('template', LIMITS.templatesPerProject);
    await fill('campaign', LIMITS.campaignsPerProject);
    expectTooBig(await add('/templates', { type: 'MARKETING' }), 'name');
    expectTooBig(await add(`/templates/${template.body.id}/duplicate`), 'name');
    expectTooBig(await add('/campaigns', { audienceType: 'ALL' }), 'name');
    expectTooBig(await add(`/campaigns/${campaign.body.data.id}/duplicate`), 'name');
    const activate = sql`
      update campaign set status = 'SCHEDULED', scheduled_for = now() + interval '1 day' where id in (
        select id from campaign where project_id = ${app.project.id} and id <> ${campaign.body.data.id}
        limit ${LIMITS.activeCampaignsPerProject}::int)`;
    await query(app.em(), activate);
    expectTooBig(await app.api('POST', `/campaigns/${campaign.body.data.id}/send`, { body: {} }), 'scheduledFor');
  });

  it('may have steps with configs of 1 MB each', async () => {
    const id = await createAutomation(app, 'configured', {}, { enabled: false });
    const add = (size: number) =>
      app.api('POST', `/workflows/${id}/steps`, {
        body: { type: 'WEBHOOK', config: { url: 'https://example.com/', body: { text: 'x'.repeat(size) } } },
      });
    expect((await add(LIMITS.stepConfigBytes - 1_000)).status).toBe(201);
    expectTooBig(await add(LIMITS.stepConfigBytes), 'config');
  });

  it('may have 50 enabled workflows with one event, and 2,000 workflows', async () => {
    const id = await createAutomation(app, 'bought', {}, { enabled: false });
    const other = await createAutomation(app, 'sold', {}, { enabled: true });
    const copies = (count: number, change: object) =>
      query(
        app.em(),
        sql`
          insert into automation
          select (jsonb_populate_record(a, jsonb_build_object('id', everpost_uuid_v7()) || ${json(change)}::jsonb)).*
          from automation a, generate_series(1, ${count}::int) where a.id = ${id}`,
      );
    await copies(LIMITS.automationsPerEvent, { enabled: true });
    expectTooBig(await app.api('PATCH', `/workflows/${id}`, { body: { enabled: true } }), 'enabled');
    expectTooBig(await app.api('PATCH', `/workflows/${other}`, { body: { eventName: 'bought' } }), 'eventName');
    await copies(LIMITS.automationsPerProject, {});
    expectTooBig(await app.api('POST', '/workflows', { body: { name: 'W', eventName: 'e' } }), 'name');
  });

  it('may have 200 jobs that wait or run', async () => {
    await query(
      app.em(),
      sql`
        insert into job (id, project_id, kind, input)
        select everpost_uuid_v7(), ${app.project.id}, 'DELETE', '{}' from generate_series(1, ${LIMITS.openJobsPerProject}::int)`,
    );
    const contactIds = ['019a0000-0000-7000-8000-000000000000'];
    expectTooBig(await app.api('POST', '/contacts/bulk-delete', { body: { contactIds } }), 'contactIds');
    await query(app.em(), sql`update job set state = 'completed' where project_id = ${app.project.id}`);
    expect((await app.api('POST', '/contacts/bulk-delete', { body: { contactIds } })).status).toBe(202);
  });
});
