import { utf8Bytes } from '../json-bytes.ts';
import type { StoredConfig } from './automation-config.ts';
import type { Branch, StepType } from './automation-status.ts';

export interface GraphStep {
  id: string;
  type: StepType;
  name: string;
  config: StoredConfig;
  templateId: string | null;
}

export interface GraphTransition {
  fromStepId: string;
  toStepId: string;
  branch: Branch | null;
}

/** The steps of an automation and the transitions between them. An execution keeps the graph that it started with. */
export interface AutomationGraph {
  steps: GraphStep[];
  transitions: GraphTransition[];
}

const BRANCHES_OF: Partial<Record<StepType, readonly Branch[]>> = {
  CONDITION: ['yes', 'no'],
  WAIT_FOR_EVENT: ['event', 'timeout'],
};

/** The branches that lead out of a step of this type; empty for a plain step. */
export function branchesOf(type: StepType): readonly Branch[] {
  return BRANCHES_OF[type] ?? [];
}

/** The step where every execution begins. */
export function triggerStep(graph: AutomationGraph): GraphStep | undefined {
  return graph.steps.find((step) => step.type === 'TRIGGER');
}

/**
 * The step after `stepId`: along the transition of `branch`, or along the transition without a branch if that one does
 * not exist. Undefined where neither exists.
 */
export function nextStep(graph: AutomationGraph, stepId: string, branch: Branch | null): GraphStep | undefined {
  const leaving = graph.transitions.filter((transition) => transition.fromStepId === stepId);
  const taken =
    leaving.find((transition) => transition.branch === branch) ??
    leaving.find((transition) => transition.branch === null);
  return taken && graph.steps.find((step) => step.id === taken.toStepId);
}

/** The ids of every step that can be reached from `stepId`, including `stepId`. */
export function reachableFrom(transitions: readonly GraphTransition[], stepId: string): Set<string> {
  const targets = new Map<string, string[]>();
  for (const { fromStepId, toStepId } of transitions) {
    targets.set(fromStepId, [...(targets.get(fromStepId) ?? []), toStepId]);
  }
  const reached = new Set([stepId]);
  const pending = [stepId];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    for (const next of targets.get(id) ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      pending.push(next);
    }
  }
  return reached;
}

/** Says why a transition must not be added to a graph; undefined when it may. */
export function findTransitionFault(graph: AutomationGraph, transition: GraphTransition): string | undefined {
  const { fromStepId, toStepId, branch } = transition;
  const from = graph.steps.find((step) => step.id === fromStepId);
  const to = graph.steps.find((step) => step.id === toStepId);
  if (!from || !to) return 'Both steps must belong to the workflow';
  if (fromStepId === toStepId) return 'A step cannot lead to itself';
  if (from.type === 'EXIT') return 'Nothing leads out of an EXIT step';
  if (to.type === 'TRIGGER') return 'Nothing leads into the TRIGGER step';
  const branches = branchesOf(from.type);
  if (branch !== null && !branches.includes(branch)) {
    return branches.length === 0
      ? `A ${from.type} step has no branches`
      : `The branches of a ${from.type} step are ${branches.join(' and ')}`;
  }
  if (branch === null && from.type === 'CONDITION') return 'A transition from a CONDITION step needs branch yes or no';
  const leaving = graph.transitions.filter((other) => other.fromStepId === fromStepId);
  if (leaving.some((other) => other.branch === branch)) {
    return branch === null
      ? `The step "${from.name}" already leads to another one`
      : `The step "${from.name}" already has a transition on the branch ${branch}`;
  }
  if (reachableFrom(graph.transitions, toStepId).has(fromStepId)) return 'The transition would close a loop';
  return undefined;
}

export interface GraphProblem {
  stepId: string;
  message: string;
}

/** The problems of a graph that keep its automation from being enabled, as far as the graph alone shows them. */
export function findGraphProblems(graph: AutomationGraph): GraphProblem[] {
  const trigger = triggerStep(graph);
  const reached = trigger ? reachableFrom(graph.transitions, trigger.id) : new Set<string>();
  const leading = new Set(graph.transitions.map((transition) => transition.fromStepId));
  const problems: GraphProblem[] = [];
  for (const step of graph.steps) {
    const add = (message: string) => problems.push({ stepId: step.id, message: `"${step.name}" ${message}` });
    if (!reached.has(step.id)) add('cannot be reached from the trigger');
    if (step.type === 'SEND_EMAIL' && step.templateId === null) add('has no template');
    if (step.type === 'CONDITION' && !leading.has(step.id)) add('has no branches');
  }
  return problems;
}

/** The Temporal UI shows as many bytes. */
const LABEL_BYTES_MAX = 200;
/** A character has at most four bytes, so the label of one step always fits. */
const STEP_LABEL_LENGTH_MAX = 45;

function cut(text: string, length: number): string {
  // The replacement drops half of a surrogate pair.
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The name of a step as operators read it in the Temporal UI. */
export function stepLabel(step: GraphStep): string {
  return cut(step.name, STEP_LABEL_LENGTH_MAX);
}

/** Names the steps that one call of `runSteps` runs from `step` on: until a step branches, waits or calls a webhook. */
export function pathLabel(graph: AutomationGraph, step: GraphStep): string {
  let label = stepLabel(step);
  let last = step;
  for (;;) {
    if (branchesOf(last.type).length > 0 || last.type === 'DELAY' || last.type === 'WEBHOOK') return label;
    const next = nextStep(graph, last.id, null);
    if (!next) return label;
    const longer = `${label} → ${stepLabel(next)}`;
    if (utf8Bytes(longer) > LABEL_BYTES_MAX) return label;
    label = longer;
    last = next;
  }
}
