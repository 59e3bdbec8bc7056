import { createAutomation, createTemplate, executionThatIs } from '../automations.ts';
import { eventually } from '../eventually.ts';
import type { TestStack } from '../stack.ts';
import type { ExampleRecorder } from './recorder.ts';

/** Steps of every type but EXIT, which is added last. */
const stepsWith = (templateId: string) => ({
  email: {
    type: 'SEND_EMAIL',
    name: 'Welcome',
    templateId,
    config: { recipient: { type: 'CUSTOM', customEmail: 'delivered@sandbox.everpost.test' } },
  },
  condition: {
    type: 'CONDITION',
    name: 'On the pro plan?',
    config: { field: 'data.plan', operator: 'equals', value: 'pro' },
  },
  delay: {
    type: 'DELAY',
    name: 'Two days',
    config: { amount: 2, unit: 'days' },
    position: { x: 320, y: 160 },
    autoConnect: false,
  },
  wait: { type: 'WAIT_FOR_EVENT', name: 'Until paid', config: { eventName: 'order.paid', timeout: 86_400 } },
  call: {
    type: 'WEBHOOK',
    name: 'Tell the shop',
    config: {
      url: 'https://shop.example.com/hooks',
      method: 'POST',
      headers: { 'X-Plan': '{{data.plan}}' },
      body: { email: '{{email}}' },
    },
  },
  alias: {
    type: 'UPDATE_CONTACT',
    name: 'Thanked',
    config: { updates: { thanked: true }, subscriptionAction: 'none' },
  },
  update: { type: 'UPDATE_CONTACT', name: 'Welcomed', config: { data: { welcomed: true }, subscribed: true } },
});

async function recordSteps({ project, record }: ExampleRecorder, id: string): Promise<Record<string, string>> {
  const template = await project.api('POST', '/templates', {
    body: {
      name: 'Welcome',
      subject: 'Welcome',
      body: '<p>Welcome</p>',
      from: 'hello@example.com',
      type: 'TRANSACTIONAL',
    },
  });
  const ids: Record<string, string> = {};
  for (const [as, body] of Object.entries(stepsWith(template.body.id))) {
    ids[as] = (await record('addWorkflowStep', { params: { id }, body, as })).id;
  }
  const exit = { type: 'EXIT', name: 'Enough', config: { reason: 'Not on a plan' } };
  ids['exit'] = (await record('addWorkflowStep', { params: { id }, body: exit, as: 'exit' })).id;
  return ids;
}

/** An automation, its steps and its executions. */
export async function recordWorkflows(stack: TestStack, recorder: ExampleRecorder): Promise<void> {
  const { project, record } = recorder;
  const { api } = project;
  const contactId = (await api('POST', '/contacts', { body: { email: 'ada@mail.test', data: { plan: 'pro' } } })).body
    .id;
  const draft = { name: 'Welcome', description: 'Greets new customers', eventName: 'signed up', allowReentry: true };
  const { id } = await record('createWorkflow', { body: draft });
  const params = { id };
  const steps = await recordSteps(recorder, id);
  const definition = (await api('GET', `/workflows/${id}`)).body;
  const trigger = definition.steps.find(({ type }: { type: string }) => type === 'TRIGGER').id;
  const connect = (fromStepId: string, toStepId: string, branch?: string) =>
    api('POST', `/workflows/${id}/transitions`, { body: { fromStepId, toStepId, branch } });
  await connect(trigger, steps['email']!);
  await connect(steps['email']!, steps['condition']!);
  const no = { fromStepId: steps['condition']!, toStepId: steps['exit']!, branch: 'no' };
  await record('addWorkflowTransition', { params, body: no });
  const yes = await connect(steps['condition']!, steps['call']!, 'yes');
  await record('removeWorkflowTransition', { params: { id, transitionId: yes.body.id } });
  await connect(steps['condition']!, steps['delay']!, 'yes');
  const change = { name: 'Three days', config: { amount: 3, unit: 'days' }, position: { x: 320, y: 200 } };
  await record('updateWorkflowStep', { params: { id, stepId: steps['delay']! }, body: change });
  for (const spare of ['wait', 'call', 'alias']) await api('DELETE', `/workflows/${id}/steps/${steps[spare]}`);
  await record('removeWorkflowStep', { params: { id, stepId: steps['update']! }, query: { splice: 'true' } });
  await record('updateWorkflow', {
    params,
    body: {
      name: 'Welcome',
      description: 'Greets',
      triggerType: 'EVENT',
      eventName: 'signed up',
      allowReentry: true,
      enabled: true,
    },
  });
  await record('getWorkflow', { params });
  await record('listWorkflowFields');
  await recordExecutions(recorder, id, contactId);
  await recordRetries(recorder, contactId);
  const query = { page: '1', pageSize: '10', search: 'welcome', status: 'active', sort: 'name', dir: 'asc' };
  await record('listWorkflows', { query });
  const other = await api('POST', '/workflows', { body: { name: 'Spare', eventName: 'e' } });
  await record('deleteWorkflow', { params: { id: other.body.id } });
}

async function recordExecutions({ project, record }: ExampleRecorder, id: string, contactId: string): Promise<void> {
  const params = { id };
  const started = await record('startWorkflowExecution', {
    params,
    body: { contactId, context: { source: 'website' } },
  });
  const executionId: string = started.id;
  const path = `/workflows/${id}/executions/${executionId}`;
  await eventually(async () => (await project.api('GET', path)).body.status === 'WAITING');
  await record('getWorkflowExecution', { params: { id, executionId } });
  await record('listWorkflowExecutions', { params, query: { status: 'WAITING', page: '1', pageSize: '10' } });
  await record('countWorkflowExecutions', { params });
  await record('cancelWorkflowExecution', { params: { id, executionId } });
  await record('cancelAllWorkflowExecutions', { params });
}

async function recordRetries({ project, record }: ExampleRecorder, contactId: string): Promise<void> {
  const recipient = { type: 'CUSTOM', customEmail: 'sales of {{country}}' };
  const tell = { type: 'SEND_EMAIL', templateId: await createTemplate(project), config: { recipient } };
  const id = await createAutomation(project, 'order.placed', { 'Tell sales': tell });
  await project.api('POST', `/workflows/${id}/executions`, { body: { contactId } });
  const { id: executionId, currentStepId } = await executionThatIs(project, id, 'FAILED');
  await record('retryWorkflowExecution', { params: { id, executionId } });
  await executionThatIs(project, id, 'FAILED');
  await record('retryFailedWorkflowExecutions', { params: { id }, body: { stepId: currentStepId } });
}
