import { AppError, badRequest } from '../../pure/app-error.ts';
import { conditionTree, readConfigOf, triggerConfigOf } from '../../pure/automations/automation-config.ts';
import { ACTIVE_EXECUTION_STATUSES, type TriggerType } from '../../pure/automations/automation-status.ts';
import { likePattern, literalList, query, queryOne, sql, inTransaction, type Em } from '../../database/sql.ts';
import { number, tables, text, type RowOf } from '../../database/tables.ts';
import { refersToEvent } from '../usage/event-usage.ts';
import { findAutomationsOfSteps, type AutomationRef, type UsedStep } from '../usage/step-usage.ts';
import { LIMITS } from '../../pure/limits.ts';
import { createJob } from '../jobs/jobs.ts';
import { executionCount } from './execution-count.ts';
import { deleteExecutionChunk, EXECUTION_CHUNK } from './execution-jobs.ts';
import { changeDefinition, findAutomation, findProblems, type AutomationDefinition } from './automation-graphs.ts';
import { AutomationEntity, AutomationStepEntity, type Automation, type AutomationStep } from './automation.entity.ts';
import { assertBelowLimit, assertRoom } from '../../database/row-limit.ts';

export interface AutomationListQuery {
  page: number;
  pageSize: number;
  search?: string;
  enabled?: boolean;
  sort: 'name' | 'createdAt' | 'updatedAt';
  dir: 'asc' | 'desc';
}

export interface ListedAutomation {
  automation: Automation;
  stepCount: number;
  executionCount: number;
  failedCount: number;
}

/**
 * One page of a project's automations with their numbers of steps, of executions and of failed ones.
 * @returns the page and the total
 */
export async function listAutomations(
  em: Em,
  projectId: string,
  list: AutomationListQuery,
): Promise<[ListedAutomation[], number]> {
  const pattern = list.search === undefined ? undefined : likePattern(list.search);
  const [automations, total] = await em.findAndCount(
    AutomationEntity,
    {
      projectId,
      ...(list.enabled !== undefined && { enabled: list.enabled }),
      ...(pattern !== undefined && { $or: [{ name: { $ilike: pattern } }, { description: { $ilike: pattern } }] }),
    },
    {
      orderBy: [{ [list.sort]: list.dir }, { id: list.dir }],
      limit: list.pageSize,
      offset: (list.page - 1) * list.pageSize,
    },
  );
  const counts = await query(
    em,
    sql`
      select a.id, (select count(*) from automation_step s where s.automation_id = a.id) as steps,
        ${executionCount(sql`a.id`)} as executions, ${executionCount(sql`a.id`, 'FAILED')} as failed
      from unnest(${automations.map((automation) => automation.id)}::uuid[]) as a (id)`,
    { id: text, steps: number, executions: number, failed: number },
  );
  const byId = new Map(counts.map((row) => [row.id, row]));
  const listed = automations.map((automation) => ({
    automation,
    stepCount: byId.get(automation.id)?.steps ?? 0,
    executionCount: byId.get(automation.id)?.executions ?? 0,
    failedCount: byId.get(automation.id)?.failed ?? 0,
  }));
  return [listed, total];
}

export interface NewAutomation {
  name: string;
  description?: string | null;
  triggerEvent: string;
  triggerHumanOnly?: boolean;
  allowReentry?: boolean;
}

/** Creates an automation, disabled, with its trigger step. @throws AppError VALIDATION_ERROR for one too many */
export async function createAutomation(
  em: Em,
  projectId: string,
  { allowReentry = false, triggerHumanOnly = false, ...input }: NewAutomation,
): Promise<Automation> {
  return inTransaction(em, async (tx) => {
    await assertRoom(tx, projectId, 'automation');
    const automation = tx.create(AutomationEntity, { projectId, allowReentry, triggerHumanOnly, ...input });
    await tx.flush();
    tx.create(AutomationStepEntity, {
      automationId: automation.id,
      type: 'TRIGGER',
      name: 'Trigger',
      config: triggerConfigOf(automation),
    });
    await tx.flush();
    return automation;
  });
}

export interface AutomationPatch {
  name?: string;
  description?: string | null;
  triggerType?: TriggerType;
  triggerEvent?: string;
  triggerHumanOnly?: boolean;
  enabled?: boolean;
  allowReentry?: boolean;
}

function triggerOf({ steps }: AutomationDefinition): AutomationStep | undefined {
  return steps.find((step) => step.type === 'TRIGGER');
}

/**
 * Checks how many enabled automations an event starts, because the statement that records it starts them all.
 * @throws AppError VALIDATION_ERROR
 */
export async function assertTriggerLimit(
  em: Em,
  { id, projectId }: Automation,
  triggerEvent: string,
  field: string,
): Promise<void> {
  await assertBelowLimit(em, {
    rows: sql`
      from automation
      where project_id = ${projectId} and trigger_event = ${triggerEvent} and enabled and id <> ${id}`,
    limit: LIMITS.automationsPerEvent,
    field,
    what: 'enabled workflows with the same event',
  });
}

/**
 * Changes the given fields. An automation that becomes enabled is checked as a whole.
 * @throws AppError WORKFLOW_NOT_FOUND, BAD_REQUEST with the problems that keep it from being enabled, VALIDATION_ERROR
 */
export async function updateAutomation(
  em: Em,
  projectId: string,
  automationId: string,
  patch: AutomationPatch,
): Promise<Automation> {
  await changeDefinition(em, projectId, automationId, async (tx, definition) => {
    const { automation } = definition;
    if (patch.enabled === true && !automation.enabled) await assertRunnable(tx, definition);
    const { enabled = automation.enabled, triggerEvent = automation.triggerEvent } = patch;
    const hasNewTrigger = enabled && (!automation.enabled || triggerEvent !== automation.triggerEvent);
    if (hasNewTrigger) {
      const field = automation.enabled ? 'eventName' : 'enabled';
      await assertTriggerLimit(tx, automation, triggerEvent, field);
    }
    tx.assign(automation, patch);
    const trigger = triggerOf(definition);
    if (trigger) trigger.config = triggerConfigOf(automation);
  });
  return findAutomation(em, projectId, automationId);
}

async function assertRunnable(em: Em, definition: AutomationDefinition): Promise<void> {
  const problems = await findProblems(em, definition);
  if (problems.length === 0) return;
  throw badRequest(`The workflow cannot be enabled: ${problems.map((problem) => problem.message).join('; ')}`, {
    details: { problems },
    suggestion: 'Correct these steps, then enable the workflow again',
  });
}

/**
 * Deletes an automation with everything that belongs to it. If it has many ended executions, a job deletes the rest of
 * them.
 * @throws AppError WORKFLOW_NOT_FOUND, CONFLICT while executions are active
 */
export async function deleteAutomation(em: Em, projectId: string, automationId: string): Promise<void> {
  await inTransaction(em, async (tx) => {
    await query(tx, sql`select from automation where id = ${automationId} and project_id = ${projectId} for update`);
    await findAutomation(tx, projectId, automationId);
    const active = await queryOne(
      tx,
      sql`
        select count(*) from automation_execution
        where automation_id = ${automationId} and status in ${literalList(ACTIVE_EXECUTION_STATUSES)}`,
      { count: number },
    );
    if (active && active.count > 0) {
      throw new AppError('CONFLICT', {
        message: 'The workflow has active executions',
        details: { activeExecutions: active.count },
        suggestion: `Cancel them with POST /workflows/${automationId}/executions/cancel-all, or wait until they end`,
      });
    }
    if ((await deleteExecutionChunk(tx, automationId)) === EXECUTION_CHUNK) {
      await createJob(tx, { projectId, kind: 'DELETE_EXECUTIONS', input: { automationId } });
    }
    await query(tx, sql`delete from automation where id = ${automationId}`);
  });
}

function usesEvent({ triggerEvent, type, config }: UsedStep, eventName: string): boolean {
  if (triggerEvent === eventName) return true;
  if (type === 'CONDITION') return refersToEvent(conditionTree(readConfigOf(type, config)), eventName);
  return type === 'WAIT_FOR_EVENT' && config['eventName'] === eventName;
}

/** The automations that an event starts, that wait for it, or that have a condition about it; oldest first. */
export async function findAutomationsUsingEvent(
  em: Em,
  projectId: string,
  eventName: string,
): Promise<AutomationRef[]> {
  const types = ['TRIGGER', 'WAIT_FOR_EVENT', 'CONDITION'] as const;
  return findAutomationsOfSteps(em, projectId, types, (step) => usesEvent(step, eventName));
}

const TEMPLATE_USE = {
  id: tables.automationStep.id,
  name: tables.automationStep.name,
  workflowId: tables.automation.id,
  workflowName: tables.automation.name,
};
export type TemplateUse = RowOf<typeof TEMPLATE_USE>;

/** The steps that send a template. */
export async function findStepsUsingTemplate(em: Em, projectId: string, templateId: string): Promise<TemplateUse[]> {
  return query(
    em,
    sql`
      select s.id, s.name, a.id as "workflowId", a.name as "workflowName"
      from automation_step s join automation a on a.id = s.automation_id
      where s.template_id = ${templateId} and a.project_id = ${projectId} order by s.created_at, s.id
      limit ${LIMITS.listedNames}`,
    TEMPLATE_USE,
  );
}
