import type { Operand } from './template-language/expression.ts';
import { parseTokens, type TemplateNode } from './template-language/parser.ts';
import { tokenize } from './template-language/tokenizer.ts';

/** A value of a contact's data: the path to it, and the key to try when a stored key itself holds dots. */
export interface DataPath {
  keys: readonly string[];
  whole: string;
}

/** Values in order; the first that is there counts. */
export interface DataValue {
  paths: DataPath[];
  /** Something that every contact has comes behind them. */
  hasFallback: boolean;
}

/** A place of a template that prints data of the contact. */
export interface Placeholder {
  /** The placeholder as it is written, without its braces. */
  source: string;
  value: DataValue;
  /** The blocks around it: it is printed when the conditions of all of them are true. */
  conditions: { value: DataValue; isNegated: boolean }[];
}

/** Names that every contact has. */
const GIVEN: ReadonlySet<string> = new Set([
  'email',
  'id',
  'subscribed',
  'svc_email',
  'svc_id',
  'unsubscribeUrl',
  'subscribeUrl',
  'manageUrl',
]);
const LOOP_NAMES: ReadonlySet<string> = new Set(['this', '@index', '@key']);

function dataPathOf({ segments, rests }: { segments: readonly string[]; rests: readonly string[] }): DataPath {
  const from = segments[0] === 'data' && segments.length > 1 ? 1 : 0;
  return { keys: segments.slice(from), whole: rests[from] ?? '' };
}

/** @returns undefined when it reads the round of a loop, which is no value of the contact */
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

interface Place {
  isInLoop: boolean;
  conditions: Placeholder['conditions'];
  /** The same for places with the same conditions. */
  number: number;
}

/** Finds places again by their last condition and the place around it: comparing whole places would take too long. */
type PlaceNumbers = Map<string, number>;

function* walk(
  nodes: readonly TemplateNode[],
  place: Place,
  numbers: PlaceNumbers,
): Generator<{ placeholder: Placeholder; place: Place }> {
  for (const node of nodes) {
    if (node.type === 'text') continue;
    const value = valueOf(node.operands, place.isInLoop);
    if (node.type === 'output') {
      if (value && value.paths.length > 0) {
        yield { placeholder: { source: sourceOf(node.operands), value, conditions: place.conditions }, place };
      }
      continue;
    }
    // Fields that every contact has are never missing, and what a loop reads is not known here.
    const known = value && !value.hasFallback ? value : undefined;
    const within = (isNegated: boolean): Pick<Place, 'conditions' | 'number'> => {
      if (!known) return place;
      const condition = { value: known, isNegated };
      const key = `${place.number} ${JSON.stringify(condition)}`;
      const number = numbers.get(key) ?? numbers.size + 1;
      numbers.set(key, number);
      return { conditions: [...place.conditions, condition], number };
    };
    const isUnless = node.kind === 'unless';
    const isInLoop = place.isInLoop || node.kind === 'each';
    yield* walk(node.body, { ...within(isUnless), isInLoop }, numbers);
    yield* walk(node.otherwise, { ...within(!isUnless), isInLoop: place.isInLoop }, numbers);
  }
}

/** Paths of all places that are found: each is looked up in the data of every recipient. */
const PATHS_MAX = 300;

function pathsOf({ value, conditions }: Placeholder): number {
  return conditions.reduce((sum, condition) => sum + condition.value.paths.length, value.paths.length);
}

/**
 * The first `max` different places of a template that print data of the contact; those with too many paths are left out.
 * @throws TemplateSyntaxError, TemplateLimitError
 */
export function findPlaceholders(source: string, max: number): Placeholder[] {
  const found = new Map<string, Placeholder>();
  let pathCount = 0;
  const nodes = parseTokens(tokenize(source, { decodesEntities: true }), source);
  for (const { placeholder, place } of walk(nodes, { isInLoop: false, conditions: [], number: 0 }, new Map())) {
    if (found.size >= max) break;
    const key = `${place.number} ${placeholder.source}`;
    const count = pathsOf(placeholder);
    if (found.has(key) || pathCount + count > PATHS_MAX) continue;
    pathCount += count;
    found.set(key, placeholder);
  }
  return [...found.values()];
}
