import { AppError, badRequest, tooLarge } from '../../pure/app-error.ts';
import {
  conditionTree,
  readConfigOf,
  readContactUpdate,
  type StoredConfig,
} from '../../pure/automations/automation-config.ts';
import { branchesOf, findTransitionFault, type GraphTransition } from '../../pure/automations/automation-graph.ts';
import type { StepType } from '../../pure/automations/automation-status.ts';
import { LIMITS } from '../../pure/limits.ts';
import { createYields } from '../../platform/yielding.ts';
import type { Em } from '../../database/sql.ts';
import { assertFilterSemantics } from '../filters/filter-semantics.ts';
import { assertFilterSize } from '../filters/filter-size.ts';
import { loadReferencedSegments } from '../filters/segment-references.ts';
import { findTemplateFault } from '../templates/template-syntax.ts';
import { assertEmailTopic } from '../topics/email-topics.ts';
import { findTemplate } from '../templates/templates.ts';
import { findTopicIds } from '../topics/topic-choices.ts';
import { assertTriggerLimit } from './automations.ts';
import { changeDefinition, findDefinition, graphOf, type AutomationDefinition } from './automation-graphs.ts';
import { findTargetFault } from './data-targets.ts';
import {
  AutomationStepEntity,
  AutomationTransitionEntity,
  type AutomationStep,
  type AutomationTransition,
} from './automation.entity.ts';

export interface NewStep {
  type: Exclude<StepType, 'TRIGGER'>;
  name: string;
  position: { x: number; y: number };
  config: StoredConfig;
  templateId?: string | null;
  autoConnect: boolean;
}

export interface StepPatch {
  name?: string;
  position?: { x: number; y: number };
  config?: StoredConfig;
  templateId?: string | null;
}

function stepOf(definition: AutomationDefinition, stepId: string): AutomationStep {
  const step = definition.steps.find((candidate) => candidate.id === stepId);
  if (!step) throw new AppError('RESOURCE_NOT_FOUND', { message: 'Step not found' });
  return step;
}

/** The config of a SEND_EMAIL step with its template: callers may name the template in the config or beside it. */
function withTemplate(config: StoredConfig, templateId: string | null): StoredConfig {
  const others = Object.entries(config).filter(([key]) => key !== 'templateId');
  return { ...Object.fromEntries(others), ...(templateId !== null && { templateId }) };
}

/** The template that a config names; undefined when it names none. */
function templateIn(config: StoredConfig): string | null | undefined {
  const templateId = config['templateId'];
  return typeof templateId === 'string' || templateId === null ? templateId : undefined;
}

/** Checks what the schema of a config does not check. @throws AppError TEMPLATE_NOT_FOUND, BAD_REQUEST */
async function assertConfig(
  em: Em,
  projectId: string,
  type: StepType,
  config: StoredConfig,
  templateId: string | null,
): Promise<void> {
  if (templateId !== null) await findTemplate(em, projectId, templateId);
  if (type === 'CONDITION') {
    const condition = conditionTree(readConfigOf('CONDITION', config));
    const rootPath = 'config.condition';
    assertFilterSize(condition, rootPath);
    const segments = await loadReferencedSegments(em, projectId, condition, { isLive: false, rootPath });
    assertFilterSemantics(condition, { segments, scope: 'execution', rootPath });
  }
  if (type === 'UPDATE_CONTACT') {
    const { topics = {} } = readContactUpdate(readConfigOf(type, config));
    await findTopicIds(em, projectId, Object.keys(topics), 'config.topics');
  }
  if (type === 'WEBHOOK') await assertWebhookTemplates(config);
  const fault = await findTargetFault(em, projectId, type, config);
  if (fault !== undefined) throw badRequest(fault);
}

/** Checks the topic that a step names. @throws AppError TOPIC_NOT_FOUND, VALIDATION_ERROR with a TRANSACTIONAL template */
async function assertStepTopic(
  em: Em,
  projectId: string,
  config: StoredConfig,
  templateId: string | null,
): Promise<void> {
  const { topicId } = readConfigOf('SEND_EMAIL', config);
  const template = templateId === null ? undefined : await findTemplate(em, projectId, templateId);
  await assertEmailTopic(em, projectId, { type: template?.type ?? 'MARKETING', topicId }, 'config.topicId');
}

/** Checks the size of the configs: a workflow is read and run with all its steps. @throws AppError VALIDATION_ERROR */
function assertConfigSize(steps: AutomationStep[], config: StoredConfig): void {
  const bytesOf = (each: StoredConfig) => Buffer.byteLength(JSON.stringify(each));
  if (bytesOf(config) > LIMITS.stepConfigBytes) {
    throw tooLarge('config', `The config of a step may have at most ${LIMITS.stepConfigBytes} bytes`);
  }
  const bytes = steps.reduce((sum, step) => sum + bytesOf(step.config), bytesOf(config));
  if (bytes <= LIMITS.stepConfigsBytes) return;
  throw tooLarge(
    'config',
    `The configs of a workflow's steps may have at most ${LIMITS.stepConfigsBytes} bytes together`,
  );
}

function* webhookTemplates(path: string, value: unknown): Generator<[path: string, source: string]> {
  if (typeof value === 'string') yield [path, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) yield* webhookTemplates(`${path}.${key}`, inner);
}

/** Checks the templates of a WEBHOOK step. Together they may have as many tags as one template of an email. */
async function assertWebhookTemplates(config: StoredConfig): Promise<void> {
  const yieldIfDue = createYields();
  let tagCount = 0;
  for (const [path, source] of webhookTemplates('config', config)) {
    tagCount += source.split('{{', LIMITS.templateTags + 2).length - 1;
    if (tagCount > LIMITS.templateTags) {
      throw tooLarge(path, `The config of a step may have at most ${LIMITS.templateTags} tags`);
    }
    const fault = await findTemplateFault(path, source, 'text');
    await yieldIfDue();
    if (!fault) continue;
    const { line, column } = fault;
    throw badRequest(`${path}: ${fault.message} (line ${line}, column ${column})`, {
      details: { field: path, line, column },
    });
  }
}

/** The newest step without a transition to a next one, with the branch that the new transition would take. */
function openEnd(definition: AutomationDefinition): { step: AutomationStep; branch: 'yes' | null } | undefined {
  const leading = new Set(definition.transitions.map((transition) => transition.fromStepId));
  const step = definition.steps.findLast((candidate) => candidate.type !== 'EXIT' && !leading.has(candidate.id));
  return step && { step, branch: step.type === 'CONDITION' ? 'yes' : null };
}

/** The type of a step. @throws AppError WORKFLOW_NOT_FOUND, RESOURCE_NOT_FOUND */
export async function findStepType(em: Em, projectId: string, automationId: string, stepId: string): Promise<StepType> {
  return stepOf(await findDefinition(em, projectId, automationId), stepId).type;
}

/** Adds a step. @throws AppError WORKFLOW_NOT_FOUND, TEMPLATE_NOT_FOUND, TOPIC_NOT_FOUND, BAD_REQUEST */
export async function addStep(
  em: Em,
  projectId: string,
  automationId: string,
  input: NewStep,
): Promise<AutomationStep> {
  return changeDefinition(em, projectId, automationId, async (tx, definition) => {
    if (definition.steps.length >= LIMITS.stepsPerAutomation) {
      throw tooLarge('type', `A workflow has at most ${LIMITS.stepsPerAutomation} steps`);
    }
    const isEmail = input.type === 'SEND_EMAIL';
    const templateId = isEmail ? (input.templateId ?? templateIn(input.config) ?? null) : null;
    const config = isEmail ? withTemplate(input.config, templateId) : input.config;
    assertConfigSize(definition.steps, config);
    await assertConfig(tx, projectId, input.type, config, templateId);
    if (isEmail) await assertStepTopic(tx, projectId, config, templateId);
    const step = tx.create(AutomationStepEntity, {
      automationId,
      type: input.type,
      name: input.name,
      positionX: input.position.x,
      positionY: input.position.y,
      config,
      templateId,
    });
    const end = input.autoConnect ? openEnd(definition) : undefined;
    await tx.flush();
    if (end) {
      tx.create(AutomationTransitionEntity, {
        automationId,
        fromStepId: end.step.id,
        toStepId: step.id,
        branch: end.branch,
      });
    }
    return step;
  });
}

/**
 * Changes the given fields of a step; `config` is replaced as a whole. The event of the TRIGGER step becomes that of
 * the automation.
 * @throws AppError WORKFLOW_NOT_FOUND, RESOURCE_NOT_FOUND, TEMPLATE_NOT_FOUND, TOPIC_NOT_FOUND, BAD_REQUEST
 */
export async function updateStep(
  em: Em,
  projectId: string,
  automationId: string,
  stepId: string,
  patch: StepPatch,
): Promise<AutomationStep> {
  return changeDefinition(em, projectId, automationId, async (tx, definition) => {
    const step = stepOf(definition, stepId);
    const isEmail = step.type === 'SEND_EMAIL';
    const named = patch.templateId === undefined && patch.config ? templateIn(patch.config) : patch.templateId;
    const templateId = isEmail && named !== undefined ? named : (step.templateId ?? null);
    const newConfig = patch.config ?? step.config;
    const config = isEmail ? withTemplate(newConfig, templateId) : newConfig;
    const others = definition.steps.filter((other) => other !== step);
    if (patch.config) assertConfigSize(others, config);
    // What the config names may be gone or may have changed since; the step can still be renamed and moved.
    if (patch.config !== undefined || patch.templateId !== undefined) {
      await assertConfig(tx, projectId, step.type, config, templateId);
      if (isEmail) await assertStepTopic(tx, projectId, config, templateId);
    }
    tx.assign(step, {
      config,
      templateId,
      ...(patch.name !== undefined && { name: patch.name }),
      ...(patch.position && { positionX: patch.position.x, positionY: patch.position.y }),
    });
    const eventName = config['eventName'];
    if (step.type === 'TRIGGER' && typeof eventName === 'string') {
      const { automation } = definition;
      if (automation.enabled && eventName !== automation.triggerEvent) {
        await assertTriggerLimit(tx, automation, eventName, 'config.eventName');
      }
      automation.triggerEvent = eventName;
      automation.triggerHumanOnly = config['humanOnly'] === true;
    }
    return step;
  });
}

/**
 * Removes a step with its transitions. With `splice`, the steps before it lead to the step after it.
 * @throws AppError WORKFLOW_NOT_FOUND, RESOURCE_NOT_FOUND, BAD_REQUEST for the TRIGGER step, or for `splice` of a step with
 *   two outgoing transitions
 */
export async function removeStep(
  em: Em,
  projectId: string,
  automationId: string,
  stepId: string,
  splice: boolean,
): Promise<void> {
  await changeDefinition(em, projectId, automationId, async (tx, definition) => {
    const step = stepOf(definition, stepId);
    if (step.type === 'TRIGGER') throw badRequest('The TRIGGER step cannot be deleted');
    const incoming = definition.transitions.filter((transition) => transition.toStepId === stepId);
    const outgoing = definition.transitions.filter((transition) => transition.fromStepId === stepId);
    const [target] = outgoing;
    if (splice && outgoing.length > 1) {
      throw badRequest(
        `"${step.name}" leads to two steps; splice works only where a step leads to one other step at most`,
        {
          suggestion: 'Delete one of its transitions first, or delete the step without splice',
        },
      );
    }
    for (const transition of [...incoming, ...outgoing]) tx.remove(transition);
    tx.remove(step);
    await tx.flush();
    if (!splice || !target) return;
    for (const { fromStepId, branch } of incoming) {
      tx.create(AutomationTransitionEntity, {
        automationId,
        fromStepId,
        toStepId: target.toStepId,
        branch: branch ?? null,
      });
    }
  });
}

/**
 * Adds a transition.
 * @throws AppError WORKFLOW_NOT_FOUND, RESOURCE_NOT_FOUND for a step of another automation, BAD_REQUEST for a transition
 *   that the graph may not have
 */
export async function addTransition(
  em: Em,
  projectId: string,
  automationId: string,
  transition: GraphTransition,
): Promise<AutomationTransition> {
  return changeDefinition(em, projectId, automationId, async (tx, definition) => {
    const from = stepOf(definition, transition.fromStepId);
    stepOf(definition, transition.toStepId);
    const fault = findTransitionFault(graphOf(definition), transition);
    if (fault !== undefined) throw badRequest(fault, { details: { ...transition, branches: branchesOf(from.type) } });
    return tx.create(AutomationTransitionEntity, { automationId, ...transition });
  });
}

/** Removes a transition. @throws AppError WORKFLOW_NOT_FOUND, RESOURCE_NOT_FOUND */
export async function removeTransition(
  em: Em,
  projectId: string,
  automationId: string,
  transitionId: string,
): Promise<void> {
  await changeDefinition(em, projectId, automationId, async (tx, definition) => {
    const transition = definition.transitions.find((candidate) => candidate.id === transitionId);
    if (!transition) throw new AppError('RESOURCE_NOT_FOUND', { message: 'Transition not found' });
    tx.remove(transition);
  });
}
