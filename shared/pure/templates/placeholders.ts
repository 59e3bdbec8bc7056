import type { Operand } from './template-language/expression.ts';
import { parseSteps, type TemplateNode } from './template-language/parser.ts';
import type { Steps } from '../steps.ts';
import { tokenizeSteps } from './template-language/tokenizer.ts';

/** The path to a value of a contact's data. */
export interface DataPath {
  keys: readonly string[];
  /** The path as one text: the key to try when a stored key itself contains dots. */
  whole: string;
}

/** The value of the first path that exists. */
export interface DataValue {
  paths: DataPath[];
  /** Whether a value that every contact has follows the paths. */
  hasFallback: boolean;
}

/** A placeholder that prints data of the contact. */
export interface Placeholder {
  /** The operands of the placeholder, joined by `??`. */
  source: string;
  value: DataValue;
  /** The conditions of the blocks around it: it is printed when all of them are true. */
  conditions: { value: DataValue; isNegated: boolean }[];
}

/** Names that have a value for every contact. */
const GIVEN: ReadonlySet<string> = new Set([
  'email',
  'id',
  'subscribed',
  'svc_email',
  'svc_id',
  'unsubscribeUrl',
  'subscribeUrl',
  'manageUrl',
  'viewUrl',
]);
const LOOP_NAMES: ReadonlySet<string> = new Set(['this', '@index', '@key']);

function dataPathOf({ segments, rests }: { segments: readonly string[]; rests: readonly string[] }): DataPath {
  const from = segments[0] === 'data' && segments.length > 1 ? 1 : 0;
  return { keys: segments.slice(from), whole: rests[from] ?? '' };
}

/** The value that operands read; undefined when they read the item of a loop, which is not a value of the contact. */
function valueOf(operands: readonly Operand[], isInLoop: boolean): DataValue | undefined {
  const paths: DataPath[] = [];
  for (const operand of operands) {
    if (operand.type === 'literal') return { paths, hasFallback: true };
    const root = operand.path.segments[0] ?? '';
    if (isInLoop && LOOP_NAMES.has(root)) return undefined;
    if (GIVEN.has(root)) return { paths, hasFallback: true };
    paths.push(dataPathOf(operand.path));
  }
  return { paths, hasFallback: false };
}

function sourceOf(operands: readonly Operand[]): string {
  return operands
    .map((operand) => (operand.type === 'path' ? operand.source : JSON.stringify(operand.text)))
    .join(' ?? ');
}

/** The blocks around a node. */
interface Surroundings {
  isInLoop: boolean;
  conditions: Placeholder['conditions'];
  /** Equal for equal lists of conditions. */
  conditionsId: number;
}

/** Ids by the id of the outer conditions and the last condition: comparing whole lists would take too long. */
type ConditionsIds = Map<string, number>;

function* walk(
  nodes: readonly TemplateNode[],
  around: Surroundings,
  ids: ConditionsIds,
): Generator<{ placeholder: Placeholder; conditionsId: number } | 'pause'> {
  for (const node of nodes) {
    if (node.type === 'text') continue;
    const value = valueOf(node.operands, around.isInLoop);
    if (node.type === 'output') {
      if (value && value.paths.length > 0) {
        const placeholder = { source: sourceOf(node.operands), value, conditions: around.conditions };
        yield { placeholder, conditionsId: around.conditionsId };
      }
      continue;
    }
    yield 'pause';
    // A value with a fallback is never missing, and the items of a loop are unknown here.
    const known = value && !value.hasFallback ? value : undefined;
    const within = (isNegated: boolean): Surroundings => {
      if (!known) return around;
      const condition = { value: known, isNegated };
      const key = `${around.conditionsId} ${JSON.stringify(condition)}`;
      const conditionsId = ids.get(key) ?? ids.size + 1;
      ids.set(key, conditionsId);
      return { ...around, conditions: [...around.conditions, condition], conditionsId };
    };
    const isUnless = node.kind === 'unless';
    const isInLoop = around.isInLoop || node.kind === 'each';
    yield* walk(node.body, { ...within(isUnless), isInLoop }, ids);
    yield* walk(node.otherwise, within(!isUnless), ids);
  }
}

/** The most paths of all placeholders that are found: each is looked up in the data of every recipient. */
const PATHS_MAX = 300;

function pathsOf({ value, conditions }: Placeholder): number {
  return conditions.reduce((sum, condition) => sum + condition.value.paths.length, value.paths.length);
}

/**
 * The first `max` different placeholders of a template that print data of the contact. Two with the same source differ
 * when the conditions around them do. Placeholders that would bring the paths above `PATHS_MAX` are left out.
 * Pauses now and then.
 * @throws TemplateSyntaxError, TemplateLimitError
 */
export function* placeholderSteps(source: string, max: number): Steps<Placeholder[]> {
  const found = new Map<string, Placeholder>();
  let pathCount = 0;
  const nodes = yield* parseSteps(yield* tokenizeSteps(source, { decodesEntities: true }), source);
  const outermost: Surroundings = { isInLoop: false, conditions: [], conditionsId: 0 };
  for (const each of walk(nodes, outermost, new Map())) {
    if (each === 'pause') {
      yield each;
      continue;
    }
    if (found.size >= max) break;
    const { placeholder, conditionsId } = each;
    const key = `${conditionsId} ${placeholder.source}`;
    const count = pathsOf(placeholder);
    if (found.has(key) || pathCount + count > PATHS_MAX) continue;
    pathCount += count;
    found.set(key, placeholder);
  }
  return [...found.values()];
}
