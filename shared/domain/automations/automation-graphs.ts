import { uuidV7 } from '../../platform/uuid.ts';
import { AppError } from '../../pure/app-error.ts';
import { findGraphProblems, type AutomationGraph, type GraphProblem } from '../../pure/automations/automation-graph.ts';
import { assertSenderDomain } from '../domains/sender-domains.ts';
import { json, query, sql, inTransaction, type Em } from '../../database/sql.ts';
import { tables, text } from '../../database/tables.ts';
import {
  AutomationEntity,
  AutomationStepEntity,
  AutomationTransitionEntity,
  type Automation,
  type AutomationStep,
  type AutomationTransition,
} from './automation.entity.ts';

/** An automation with all that belongs to it, steps and transitions in the order of their creation. */
export interface AutomationDefinition {
  automation: Automation;
  steps: AutomationStep[];
  transitions: AutomationTransition[];
}

/** Finds an automation of a project. @throws AppError WORKFLOW_NOT_FOUND */
export async function findAutomation(em: Em, projectId: string, automationId: string): Promise<Automation> {
  const automation = await em.findOne(AutomationEntity, { id: automationId, projectId }, { refresh: true });
  if (!automation) throw new AppError('WORKFLOW_NOT_FOUND');
  return automation;
}

/** Finds an automation with its steps and transitions. @throws AppError WORKFLOW_NOT_FOUND */
export async function findDefinition(em: Em, projectId: string, automationId: string): Promise<AutomationDefinition> {
  const automation = await findAutomation(em, projectId, automationId);
  const order = { orderBy: { createdAt: 'asc', id: 'asc' }, refresh: true } as const;
  const steps = await em.find(AutomationStepEntity, { automationId }, order);
  const transitions = await em.find(AutomationTransitionEntity, { automationId }, order);
  return { automation, steps, transitions };
}

/** The part of a definition that executions run. */
export function graphOf({ steps, transitions }: Pick<AutomationDefinition, 'steps' | 'transitions'>): AutomationGraph {
  return {
    steps: steps.map(({ id, type, name, config, templateId }) => ({
      id,
      type,
      name,
      config,
      templateId: templateId ?? null,
    })),
    transitions: transitions.map(({ fromStepId, toStepId, branch }) => ({
      fromStepId,
      toStepId,
      branch: branch ?? null,
    })),
  };
}

/**
 * Changes a definition. Changes of one automation wait for each other. If it is enabled, executions that start
 * afterwards get the changed graph. A thrown error undoes everything.
 */
export async function changeDefinition<T>(
  em: Em,
  projectId: string,
  automationId: string,
  change: (tx: Em, definition: AutomationDefinition) => Promise<T>,
): Promise<T> {
  return inTransaction(em, async (tx) => {
    // The weaker lock, because starting executions must not wait for this.
    await query(
      tx,
      sql`select from automation where id = ${automationId} and project_id = ${projectId} for no key update`,
    );
    const definition = await findDefinition(tx, projectId, automationId);
    const result = await change(tx, definition);
    await tx.flush();
    await query(tx, sql`update automation set updated_at = now() where id = ${automationId}`);
    // A disabled automation starts nothing, so it needs no snapshot.
    if (definition.automation.enabled) await storeSnapshot(tx, await findDefinition(tx, projectId, automationId));
    return result;
  });
}

/** Stores a snapshot of the graph for new executions, unless their present snapshot is the same. */
async function storeSnapshot(tx: Em, definition: AutomationDefinition): Promise<void> {
  const { automation } = definition;
  const graph = json(graphOf(definition));
  const graphId = uuidV7();
  const [stored] = await query(
    tx,
    sql`
      with same as (
        select id from automation_graph where id = ${automation.graphId ?? null}::uuid and graph = ${graph}::jsonb
      ),
      created as (
        insert into automation_graph (id, automation_id, graph, created_at)
        select ${graphId}::uuid, ${automation.id}::uuid, ${graph}::jsonb, now() where not exists (select from same)
        returning id
      )
      select coalesce((select id from same), (select id from created)) as graph_id`,
    { graph_id: text },
  );
  const current = stored?.graph_id ?? graphId;
  await query(tx, sql`update automation set graph_id = ${current} where id = ${automation.id}`);
}

/** What keeps an automation from being enabled: faults of its graph, missing templates, unverified sender domains. */
export async function findProblems(em: Em, definition: AutomationDefinition): Promise<GraphProblem[]> {
  const graph = graphOf(definition);
  const problems = findGraphProblems(graph);
  const templateIds = graph.steps.flatMap((step) => step.templateId ?? []);
  const templates = await query(
    em,
    sql`
      select id, from_address as "from" from template
      where project_id = ${definition.automation.projectId} and id = any(${templateIds}::uuid[])`,
    { id: tables.template.id, from: tables.template.fromAddress },
  );
  const senders = new Map(templates.map((template) => [template.id, template.from]));
  for (const step of graph.steps) {
    if (step.templateId === null) continue;
    const from = senders.get(step.templateId);
    if (from === undefined) {
      problems.push({ stepId: step.id, message: `"${step.name}" uses a template that does not exist` });
    } else if (!(await isSenderVerified(em, definition.automation.projectId, from))) {
      problems.push({ stepId: step.id, message: `"${step.name}" sends from ${from}, whose domain is not verified` });
    }
  }
  return problems;
}

async function isSenderVerified(em: Em, projectId: string, address: string): Promise<boolean> {
  try {
    await assertSenderDomain(em, projectId, address);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'SENDER_DOMAIN_REFUSED') return false;
    throw error;
  }
}
