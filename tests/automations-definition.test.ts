import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { startTestApi, type TestApi } from './support/api.ts';
import { createTemplate, post, track } from './support/automations.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

async function createWorkflow(fields: object = {}): Promise<{ id: string; triggerId: string }> {
  const { id } = await post(api, '/workflows', { name: 'Welcome', eventName: 'signed_up', ...fields });
  const { body } = await api.api('GET', `/workflows/${id}`);
  return { id, triggerId: body.steps[0].id };
}

const postStep = (id: string, step: object) => post(api, `/workflows/${id}/steps`, step);
const addStep = async (id: string, step: object): Promise<string> => (await postStep(id, step)).id;
const connect = (id: string, fromStepId: string, toStepId: string, branch?: string) =>
  post(api, `/workflows/${id}/transitions`, { fromStepId, toStepId, branch });

const DELAY = { type: 'DELAY', config: { amount: 1, unit: 'hours' } };
const CONDITION = { type: 'CONDITION', config: { field: 'contact.subscribed', operator: 'equals', value: true } };

describe('workflows', () => {
  it('begin disabled, with a TRIGGER step', async () => {
    const created = await post(api, '/workflows', {
      name: ' Welcome ',
      description: 'First steps',
      eventName: 'signed_up',
    });
    expect(created).toEqual({
      id: expect.any(String),
      name: 'Welcome',
      description: 'First steps',
      enabled: false,
      triggerType: 'EVENT',
      triggerConfig: { eventName: 'signed_up' },
      allowReentry: false,
      projectId: api.project.id,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const { body } = await api.api('GET', `/workflows/${created.id}`);
    expect(body).toMatchObject({ ...created, transitions: [] });
    expect(body.steps).toEqual([
      expect.objectContaining({
        type: 'TRIGGER',
        config: { eventName: 'signed_up' },
        workflowId: created.id,
        template: null,
        outgoingTransitions: [],
        incomingTransitions: [],
      }),
    ]);
  });

  it('require the name of an event, which may also be in triggerConfig', async () => {
    const created = await post(api, '/workflows', { name: 'A', triggerConfig: { eventName: 'email.open' } });
    expect(created.triggerConfig).toEqual({ eventName: 'email.open' });
    const { status, body } = await api.api('POST', '/workflows', { body: { name: 'A' } });
    expect([status, body.error.errors[0].field]).toEqual([422, 'eventName']);
  });

  it('are listed page by page with their step and execution counts, and can be searched by name and by state', async () => {
    const other = await api.createProject();
    for (const name of ['Alpha', 'Beta', 'Gamma']) {
      await other.api('POST', '/workflows', { body: { name, eventName: 'e' } });
    }
    const page = await other.api('GET', '/workflows?pageSize=2&sort=name&dir=asc');
    expect(page.body).toMatchObject({ page: 1, pageSize: 2, total: 3, totalPages: 2 });
    expect(page.body.data.map((item: any) => [item.name, item._count])).toEqual([
      ['Alpha', { steps: 1, executions: 0 }],
      ['Beta', { steps: 1, executions: 0 }],
    ]);
    const [alpha] = page.body.data;
    await other.api('PATCH', `/workflows/${alpha.id}`, { body: { enabled: true } });
    const names = async (query: string) =>
      (await other.api('GET', `/workflows?${query}`)).body.data.map((it: any) => it.name);
    expect(await names('status=active')).toEqual(['Alpha']);
    expect(await names('status=disabled&sort=name&dir=asc')).toEqual(['Beta', 'Gamma']);
    expect(await names('search=MM')).toEqual(['Gamma']);
  });

  it('are changed field by field, and the trigger step gets the new event', async () => {
    const { id } = await createWorkflow();
    const patch = { name: 'B', description: null, triggerType: 'MANUAL', eventName: 'other', allowReentry: true };
    const { body } = await api.api('PATCH', `/workflows/${id}`, { body: patch });
    expect(body).toMatchObject({
      name: 'B',
      triggerType: 'MANUAL',
      triggerConfig: { eventName: 'other' },
      allowReentry: true,
    });
    expect((await api.api('GET', `/workflows/${id}`)).body.steps[0].config).toEqual({ eventName: 'other' });
  });

  it('are found only in their own project', async () => {
    const { id } = await createWorkflow();
    const other = await api.createProject();
    for (const path of [`/workflows/${id}`, `/workflows/${uuidV7()}`, '/workflows/nonsense']) {
      const { status, body } = await other.api('GET', path);
      expect([status, body.error.code]).toEqual([404, 'WORKFLOW_NOT_FOUND']);
    }
  });

  it('are deleted with their steps and executions', async () => {
    const { id } = await createWorkflow({ eventName: 'left' });
    await addStep(id, { ...DELAY, autoConnect: true });
    await api.api('PATCH', `/workflows/${id}`, { body: { enabled: true } });
    await track(api, 'left@mail.test', 'left');
    expect((await api.api('POST', `/workflows/${id}/executions/cancel-all`)).body).toEqual({ cancelled: 1 });
    expect((await api.api('DELETE', `/workflows/${id}`)).status).toBe(204);
    expect((await api.api('GET', `/workflows/${id}`)).status).toBe(404);
    const left = sql`
      select from automation_step where automation_id = ${id}
      union all select from automation_execution where automation_id = ${id}`;
    expect(await query(api.em(), left)).toEqual([]);
  });

  it('list the fields that a condition can read', async () => {
    const other = await api.createProject();
    const data = { plan: 'pro', seats: 3, token: { value: 'x', persistent: false } };
    await other.api('POST', '/v1/track', { key: 'public', body: { email: 'f@mail.test', event: 'e', data } });
    const { body } = await other.api('GET', '/workflows/fields');
    expect(body.fields).toEqual(
      expect.arrayContaining([
        { field: 'contact.email', type: 'string', source: 'contact' },
        { field: 'contact.data.seats', type: 'number', source: 'contact' },
        { field: 'event.seats', type: 'number', source: 'event' },
        { field: 'event.token', type: 'string', source: 'event' },
      ]),
    );
  });
});

describe('enabling', () => {
  it('lists everything that keeps a workflow from running', async () => {
    const { id, triggerId } = await createWorkflow();
    const mail = await addStep(id, { type: 'SEND_EMAIL', name: 'Mail' });
    const condition = await addStep(id, { ...CONDITION, name: 'Asks' });
    const templateId = await createTemplate(api);
    const sender = await addStep(id, { type: 'SEND_EMAIL', name: 'Sender', templateId });
    await connect(id, triggerId, mail);
    await connect(id, mail, sender);
    await query(api.em(), sql`update template set from_address = 'a@other.test' where id = ${templateId}`);
    const { status, body } = await api.api('PATCH', `/workflows/${id}`, { body: { enabled: true } });
    expect([status, body.error.code]).toEqual([400, 'BAD_REQUEST']);
    expect(body.error.details.problems).toEqual([
      { stepId: mail, message: '"Mail" has no template' },
      { stepId: condition, message: '"Asks" cannot be reached from the trigger' },
      { stepId: condition, message: '"Asks" has no branches' },
      { stepId: sender, message: '"Sender" sends from a@other.test, whose domain is not verified' },
    ]);
    expect((await api.api('GET', `/workflows/${id}`)).body.enabled).toBe(false);
  });

  it('can be undone and repeated', async () => {
    const { id } = await createWorkflow();
    for (const enabled of [true, true, false, true]) {
      const { status, body } = await api.api('PATCH', `/workflows/${id}`, { body: { enabled } });
      expect([status, body.enabled]).toEqual([200, enabled]);
    }
  });
});

describe('steps', () => {
  it('are created with a type, and have a name, a position and a configuration', async () => {
    const { id } = await createWorkflow();
    const step = await postStep(id, { ...DELAY, position: { x: 10, y: -2.5 } });
    expect(step).toEqual({
      id: expect.any(String),
      type: 'DELAY',
      name: 'DELAY',
      position: { x: 10, y: -2.5 },
      config: DELAY.config,
      workflowId: id,
      templateId: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
  });

  it.each([
    ['DELAY', {}, 'config.amount'],
    ['DELAY', { amount: 0, unit: 'days' }, 'config.amount'],
    ['DELAY', { amount: 366, unit: 'days' }, 'config.amount'],
    ['DELAY', { amount: 1, unit: 'weeks' }, 'config.unit'],
    ['WAIT_FOR_EVENT', {}, 'config.eventName'],
    ['WAIT_FOR_EVENT', { eventName: 'e', timeout: 0 }, 'config.timeout'],
    ['WAIT_FOR_EVENT', { eventName: 'e', timeout: 31_536_001 }, 'config.timeout'],
    ['CONDITION', {}, 'config.field'],
    ['CONDITION', { field: 'email', operator: 'like', value: 'x' }, 'config.operator'],
    ['CONDITION', { field: 'data.at', operator: 'within', value: 3 }, 'config.unit'],
    ['CONDITION', { condition: { logic: 'AND', groups: [] } }, 'config.condition.groups'],
    ['WEBHOOK', {}, 'config.url'],
    ['WEBHOOK', { url: 'ftp://example.com' }, 'config.url'],
    ['WEBHOOK', { url: 'https://user:pw@example.com' }, 'config.url'],
    ['WEBHOOK', { url: 'https://example.com', method: 'HEAD' }, 'config.method'],
    ['UPDATE_CONTACT', {}, 'config.data'],
    ['UPDATE_CONTACT', { subscriptionAction: 'none' }, 'config.data'],
    ['SEND_EMAIL', { recipient: { type: 'CUSTOM' } }, 'config.recipient.customEmail'],
    ['SEND_EMAIL', { recipient: { type: 'CUSTOM', customEmail: 'nobody' } }, 'config.recipient.customEmail'],
  ])('are refused when a %s has the configuration %j', async (type, config, field) => {
    const { id } = await createWorkflow();
    const { status, body } = await api.api('POST', `/workflows/${id}/steps`, { body: { type, config } });
    expect([status, body.error.errors?.[0]?.field]).toEqual([422, field]);
  });

  it.each([
    [
      'a field that does not exist',
      { field: 'nonsense', operator: 'equals', value: 1 },
      'config.condition.groups[0].filters[0].field',
    ],
    [
      'a segment that does not exist',
      { field: `segment.${uuidV7()}`, operator: 'memberOfSegment' },
      'no segment has the id',
    ],
  ])('are refused when a CONDITION names %s', async (_what, config, words) => {
    const { id } = await createWorkflow();
    const { status, body } = await api.api('POST', `/workflows/${id}/steps`, { body: { type: 'CONDITION', config } });
    expect([status, body.error.code]).toEqual([400, 'BAD_REQUEST']);
    expect(body.error.message).toContain(words);
  });

  it('keep the form in which a CONDITION was written, with fields of the contact or of the event', async () => {
    const { id } = await createWorkflow();
    for (const config of [
      { field: 'contact.email', operator: 'contains', value: '@' },
      { field: 'contact.data.plan', operator: 'exists' },
      { field: 'event.order.total', operator: 'greaterThan', value: 10 },
      { condition: { logic: 'OR', groups: [{ filters: [{ field: 'bought', operator: 'triggered' }] }] } },
    ]) {
      expect((await postStep(id, { type: 'CONDITION', config })).config).toEqual(config);
    }
  });

  it('are refused with a template that does not exist, and with a webhook body that does not compile', async () => {
    const { id } = await createWorkflow();
    const missing = await api.api('POST', `/workflows/${id}/steps`, {
      body: { type: 'SEND_EMAIL', templateId: uuidV7() },
    });
    expect([missing.status, missing.body.error.code]).toEqual([404, 'TEMPLATE_NOT_FOUND']);
    for (const source of ['{{#if x}}', '{{ x | json }}']) {
      const config = { url: 'https://example.com', body: { deep: [source] } };
      const broken = await api.api('POST', `/workflows/${id}/steps`, { body: { type: 'WEBHOOK', config } });
      expect([broken.status, broken.body.error.details.field]).toEqual([400, 'config.body.deep.0']);
    }
  });

  it('accept the id of their template beside the configuration or in it', async () => {
    const { id } = await createWorkflow();
    const templateId = await createTemplate(api);
    const beside = await postStep(id, { type: 'SEND_EMAIL', templateId });
    const inside = await postStep(id, { type: 'SEND_EMAIL', config: { templateId } });
    for (const step of [beside, inside]) expect(step).toMatchObject({ templateId, config: { templateId } });
    const { body } = await api.api('GET', `/workflows/${id}`);
    expect(body.steps[1].template).toEqual({ id: templateId, name: 'Hello' });
    const cleared = await api.api('PATCH', `/workflows/${id}/steps/${inside.id}`, { body: { templateId: null } });
    expect(cleared.body).toMatchObject({ templateId: null, config: {} });
    const usage = await api.api('GET', `/templates/${templateId}/usage`);
    expect(usage.body.workflowSteps).toEqual([
      { id: beside.id, name: 'SEND_EMAIL', workflowId: id, workflowName: 'Welcome' },
    ]);
  });

  it('can be changed to what their type allows', async () => {
    const { id } = await createWorkflow();
    const stepId = await addStep(id, DELAY);
    const config = { amount: 0.5, unit: 'days' };
    const { body } = await api.api('PATCH', `/workflows/${id}/steps/${stepId}`, { body: { name: 'Rest', config } });
    expect(body).toMatchObject({ name: 'Rest', config, position: { x: 0, y: 0 } });
    const refused = await api.api('PATCH', `/workflows/${id}/steps/${stepId}`, { body: { config: { amount: 1 } } });
    expect(refused.status).toBe(422);
    const unknown = await api.api('PATCH', `/workflows/${id}/steps/${uuidV7()}`, { body: { name: 'x' } });
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
  });

  it('are connected to the newest open end with autoConnect', async () => {
    const { id, triggerId } = await createWorkflow();
    const first = await addStep(id, { ...DELAY, autoConnect: true });
    const condition = await addStep(id, { ...CONDITION, autoConnect: true });
    const last = await addStep(id, { type: 'EXIT', autoConnect: true });
    const { body } = await api.api('GET', `/workflows/${id}`);
    expect(body.transitions.map((it: any) => [it.fromStepId, it.toStepId, it.branch])).toEqual([
      [triggerId, first, null],
      [first, condition, null],
      [condition, last, 'yes'],
    ]);
  });

  it('leave a gap when they are deleted, unless the request closes it', async () => {
    const { id, triggerId } = await createWorkflow();
    const steps = [];
    for (let i = 0; i < 4; i++) steps.push(await addStep(id, { ...DELAY, autoConnect: true }));
    expect((await api.api('DELETE', `/workflows/${id}/steps/${steps[1]}?splice=true`)).status).toBe(204);
    expect((await api.api('DELETE', `/workflows/${id}/steps/${steps[2]}`)).status).toBe(204);
    const { body } = await api.api('GET', `/workflows/${id}`);
    expect(body.steps.map((step: any) => step.id)).toEqual([triggerId, steps[0], steps[3]]);
    expect(body.transitions.map((it: any) => [it.fromStepId, it.toStepId])).toEqual([[triggerId, steps[0]]]);
    const trigger = await api.api('DELETE', `/workflows/${id}/steps/${triggerId}`);
    expect([trigger.status, trigger.body.error.code]).toEqual([400, 'BAD_REQUEST']);
  });

  it('are not spliced out when two transitions leave them', async () => {
    const { id, triggerId } = await createWorkflow();
    const condition = await addStep(id, CONDITION);
    const [yes, no] = [await addStep(id, DELAY), await addStep(id, DELAY)];
    await connect(id, triggerId, condition);
    await connect(id, condition, yes, 'yes');
    await connect(id, condition, no, 'no');
    expect((await api.api('DELETE', `/workflows/${id}/steps/${condition}?splice=true`)).status).toBe(400);
  });
});

describe('transitions', () => {
  it('have a branch, which may also be in `condition`', async () => {
    const { id } = await createWorkflow();
    const [from, to] = [await addStep(id, CONDITION), await addStep(id, DELAY)];
    const body = { fromStepId: from, toStepId: to, condition: { branch: 'no' } };
    const transition = await post(api, `/workflows/${id}/transitions`, body);
    expect(transition).toEqual({
      id: expect.any(String),
      fromStepId: from,
      toStepId: to,
      branch: 'no',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect((await api.api('DELETE', `/workflows/${id}/transitions/${transition.id}`)).status).toBe(204);
    expect((await api.api('DELETE', `/workflows/${id}/transitions/${transition.id}`)).status).toBe(404);
  });

  it('are refused where a graph cannot have them', async () => {
    const { id, triggerId } = await createWorkflow();
    const a = await addStep(id, DELAY);
    const b = await addStep(id, DELAY);
    const condition = await addStep(id, CONDITION);
    const exit = await addStep(id, { type: 'EXIT' });
    const wait = await addStep(id, { type: 'WAIT_FOR_EVENT', config: { eventName: 'e' } });
    await connect(id, a, b);
    await connect(id, b, condition);
    await connect(id, condition, exit, 'yes');
    await connect(id, wait, exit);
    await connect(id, wait, a, 'timeout');
    const cases: [string, string, string | undefined, string][] = [
      [a, a, undefined, 'itself'],
      [condition, a, 'no', 'loop'],
      [exit, a, undefined, 'out of an EXIT'],
      [a, triggerId, undefined, 'into the TRIGGER'],
      [condition, b, 'yes', 'already has a transition on the branch yes'],
      [a, exit, undefined, 'already leads'],
      [condition, exit, undefined, 'needs branch yes or no'],
      [triggerId, a, 'yes', 'no branches'],
      [wait, b, 'yes', 'event and timeout'],
    ];
    for (const [fromStepId, toStepId, branch, words] of cases) {
      const { status, body } = await api.api('POST', `/workflows/${id}/transitions`, {
        body: { fromStepId, toStepId, branch },
      });
      expect([status, body.error?.message]).toEqual([400, expect.stringContaining(words)]);
    }
    const other = await createWorkflow();
    const foreign = await api.api('POST', `/workflows/${id}/transitions`, {
      body: { fromStepId: b, toStepId: other.triggerId },
    });
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
  });

  it('never close a loop, however many are added at once', async () => {
    const { id } = await createWorkflow();
    const ids = await Promise.all(Array.from({ length: 6 }, () => addStep(id, DELAY)));
    const replies = await Promise.all(
      ids.map((from, i) =>
        api.api('POST', `/workflows/${id}/transitions`, {
          body: { fromStepId: from, toStepId: ids[(i + 1) % ids.length] },
        }),
      ),
    );
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 201, 201, 201, 201, 400]);
  });
});

describe('the usage of an event name', () => {
  it('lists workflows that the event starts and workflows that wait for it', async () => {
    const started = await createWorkflow({ name: 'Starts', eventName: 'special' });
    const waiting = await createWorkflow({ name: 'Waits' });
    await addStep(waiting.id, { type: 'WAIT_FOR_EVENT', config: { eventName: 'special' } });
    const { body } = await api.api('GET', '/events/special/usage');
    expect(body.usedInWorkflows).toEqual([
      { id: started.id, name: 'Starts' },
      { id: waiting.id, name: 'Waits' },
    ]);
  });
});
