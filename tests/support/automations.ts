import { query, sql, type Em } from '../../shared/database/sql.ts';
import type { TestProject } from './api.ts';
import { eventually } from './stack.ts';

type Api = Pick<TestProject, 'api'>;

/** A step of a test automation, with its next steps by their names. */
export interface TestStep {
  type: string;
  config?: object;
  templateId?: string;
  next?: string;
  branches?: Record<string, string>;
}

/** Posts what must be created. @returns it, as the API answers */
export async function post(on: Api, path: string, body: object): Promise<any> {
  const reply = await on.api('POST', path, { body });
  if (reply.status !== 201) throw new Error(`POST ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}

/** Creates a template that may be sent from the test domain. @returns its id */
export async function createTemplate(on: Api, fields: object = {}): Promise<string> {
  const content = { subject: 'Hello {{name ?? "you"}}', body: '<p>Hi {{event.plan}}</p>', from: 'news@example.com' };
  return (await post(on, '/templates', { name: 'Hello', type: 'TRANSACTIONAL', ...content, ...fields })).id;
}

/**
 * Creates an automation from steps by name, the first one following the trigger, and enables it.
 * @returns its id
 */
export async function createAutomation(
  on: Api,
  eventName: string,
  steps: Record<string, TestStep>,
  fields: { allowReentry?: boolean; enabled?: boolean; name?: string; humanOnly?: boolean } = {},
): Promise<string> {
  const { name = 'Automation', enabled = true, allowReentry = false, humanOnly } = fields;
  const { id } = await post(on, '/workflows', { name, triggerConfig: { eventName, humanOnly } });
  const definition = await on.api('GET', `/workflows/${id}`);
  const ids = new Map<string, string>();
  for (const [stepName, { type, config, templateId }] of Object.entries(steps)) {
    const step = await post(on, `/workflows/${id}/steps`, { type, name: stepName, config, templateId });
    ids.set(stepName, step.id);
  }
  const connect = (fromStepId: string, to: string, branch?: string) =>
    post(on, `/workflows/${id}/transitions`, { fromStepId, toStepId: ids.get(to)!, branch });
  const [first] = ids.keys();
  if (first !== undefined) await connect(definition.body.steps[0].id, first);
  for (const [stepName, { next, branches = {} }] of Object.entries(steps)) {
    if (next !== undefined) await connect(ids.get(stepName)!, next);
    for (const [branch, to] of Object.entries(branches)) await connect(ids.get(stepName)!, to, branch);
  }
  const enabledReply = await on.api('PATCH', `/workflows/${id}`, { body: { enabled, allowReentry } });
  if (enabledReply.status !== 200) throw new Error(JSON.stringify(enabledReply.body));
  return id;
}

/** Tracks an event. @returns the ids of contact and event */
export async function track(
  on: Api,
  email: string,
  event: string,
  data?: object,
): Promise<{ contact: string; event: string }> {
  const reply = await on.api('POST', '/v1/track', { key: 'public', body: { email, event, data } });
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  return reply.body.data;
}

/** The executions of an automation, the newest first. */
export async function executionsOf(on: Api, automationId: string): Promise<any[]> {
  return (await on.api('GET', `/workflows/${automationId}/executions?pageSize=100`)).body.data;
}

/** One execution of an automation, with its steps. */
export async function executionOf(on: Api, automationId: string, executionId: string): Promise<any> {
  return (await on.api('GET', `/workflows/${automationId}/executions/${executionId}`)).body;
}

/** Waits until the only execution of an automation has one of the statuses. @returns it, with its steps */
export async function executionThatIs(on: Api, automationId: string, ...statuses: string[]): Promise<any> {
  return eventually(async () => {
    const [execution] = await executionsOf(on, automationId);
    if (!execution || !statuses.includes(execution.status)) return undefined;
    return executionOf(on, automationId, execution.id);
  });
}

/** What became of the steps of an execution, as `name status`. */
export function stepsOf(execution: any): string[] {
  return execution.stepExecutions.map((record: any) => `${record.step.name} ${record.status}`);
}

/**
 * Creates and enables an automation with a chain of many steps of one type.
 * @returns its id
 */
export async function createChain(
  on: Api & { em: () => Em },
  eventName: string,
  type: string,
  configs: object[],
): Promise<string> {
  const id = await createAutomation(on, eventName, {}, { enabled: false });
  await query(
    on.em(),
    sql`
      with step as (
        insert into automation_step (id, automation_id, type, name, config, created_at, updated_at)
        select everpost_uuid_v7(), ${id}, ${type}, 'Step ' || n, config, now() + n * interval '1 millisecond', now()
        from unnest(${configs.map((config) => JSON.stringify(config))}::jsonb[]) with ordinality as c (config, n)
        returning id, created_at
      ),
      chained as (
        select id, lag(id) over (order by created_at) as before from step
      )
      insert into automation_transition (id, automation_id, from_step_id, to_step_id, created_at, updated_at)
      select everpost_uuid_v7(), ${id}, coalesce(before, (select id from automation_step where automation_id = ${id})), id,
        now(), now()
      from chained`,
  );
  const { status, body } = await on.api('PATCH', `/workflows/${id}`, { body: { enabled: true } });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return id;
}
