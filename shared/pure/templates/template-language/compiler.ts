import { LIMITS } from '../../limits.ts';
import { TemplateLimitError } from './errors.ts';
import type { Operand } from './expression.ts';
import { createRenderMeter, spend, type RenderMeter } from './meter.ts';
import type { BlockNode, OutputNode, TemplateNode } from './parser.ts';
import { descend, isSafeName, type Path } from './path.ts';
import type { Steps } from '../../steps.ts';
import { TAGS_PER_STEP } from './tokenizer.ts';

/** The values that a template can read. Every path begins with a name of the scope. */
export interface RenderScope {
  /** The value of a name; undefined when there is none. */
  get(name: string): unknown;
}

/** How values are printed: those of `{{ }}` through `escape`, those of `{{{ }}}` through `raw`. */
export interface OutputEncoding {
  escape: (text: string) => string;
  raw: (text: string, meter: RenderMeter) => string;
}

/** Renders a template with the values of a scope, and counts the work in the meter. @throws TemplateLimitError */
export type RenderTemplate = (scope: RenderScope, meter?: RenderMeter) => string;

interface RenderState {
  scope: RenderScope;
  meter: RenderMeter;
  output: string;
  lengthMax: number;
  /** The rounds of all loops so far. */
  rounds: number;
  /** The values of `this`, `@index` and `@key`, in the innermost loop. */
  item: unknown;
  index: number;
  key: string;
}

type Step = (state: RenderState) => void;
type Read = (state: RenderState) => unknown;

/** The steps of a list of nodes. */
interface Program {
  steps: Step[];
  /** The cost in steps of the meter. The body of a loop costs it once a round. */
  price: number;
}

/**
 * Turns a tree into a function that renders it, up to `lengthMax` characters, with pauses. The function accepts any data.
 */
export function* compileSteps(
  nodes: readonly TemplateNode[],
  encoding: OutputEncoding,
  lengthMax: number = LIMITS.renderedLength,
): Steps<RenderTemplate> {
  const { steps, price } = yield* programSteps(nodes, { encoding, compiledCount: 0 }, false);
  return (scope, meter = createRenderMeter()) => {
    spend(meter, price);
    const state: RenderState = {
      scope,
      meter,
      output: '',
      lengthMax,
      rounds: 0,
      item: undefined,
      index: 0,
      key: '',
    };
    run(steps, state);
    return state.output;
  };
}

function isLoopName(path: Path): boolean {
  const root = path.segments[0];
  return root === 'this' || (path.segments.length === 1 && (root === '@index' || root === '@key'));
}

function run(steps: readonly Step[], state: RenderState): void {
  for (const step of steps) step(state);
}

function print(state: RenderState, text: string): void {
  state.output += text;
  if (state.output.length > state.lengthMax) {
    throw new TemplateLimitError(`The rendered text is longer than ${state.lengthMax} characters`);
  }
}

interface Compilation {
  encoding: OutputEncoding;
  /** The nodes so far. */
  compiledCount: number;
}

function* programSteps(nodes: readonly TemplateNode[], compilation: Compilation, isInLoop: boolean): Steps<Program> {
  const { encoding } = compilation;
  const steps: Step[] = [];
  let price = 0;
  for (const node of nodes) {
    compilation.compiledCount += 1;
    if (compilation.compiledCount % TAGS_PER_STEP === 0) yield 'pause';
    if (node.type === 'text') {
      const { text } = node;
      steps.push((state) => print(state, text));
      price += 1;
      continue;
    }
    price += 1 + priceOf(node.operands);
    if (node.type === 'output') {
      steps.push(compileOutput(node, encoding, isInLoop));
      continue;
    }
    const body = yield* programSteps(node.body, compilation, isInLoop || node.kind === 'each');
    const otherwise = yield* programSteps(node.otherwise, compilation, isInLoop);
    // A loop pays for its rounds when it runs.
    price += otherwise.price + (node.kind === 'each' ? 0 : body.price);
    steps.push(compileBlock(node, body, otherwise, isInLoop));
  }
  return { steps, price };
}

function priceOf(operands: readonly Operand[]): number {
  return operands.reduce((sum, operand) => sum + (operand.type === 'path' ? operand.path.segments.length : 1), 0);
}

function compileOutput(node: OutputNode, encoding: OutputEncoding, isInLoop: boolean): Step {
  const read = compileOperands(node.operands, isInLoop);
  const encode = node.isRaw ? encoding.raw : encoding.escape;
  return (state) => {
    const value = read(state);
    if (typeof value === 'string') print(state, encode(value, state.meter));
    else if (typeof value === 'number' || typeof value === 'boolean') print(state, String(value));
  };
}

function compileBlock(node: BlockNode, body: Program, otherwise: Program, isInLoop: boolean): Step {
  const read = compileOperands(node.operands, isInLoop);
  switch (node.kind) {
    case 'if':
      return (state) => run(isTruthy(read(state)) ? body.steps : otherwise.steps, state);
    case 'unless':
      return (state) => run(isTruthy(read(state)) ? otherwise.steps : body.steps, state);
    case 'each':
      return (state) => {
        const items = read(state);
        if (!isTruthy(items) || !runLoop(items, body, state)) run(otherwise.steps, state);
      };
  }
}

/** Runs the body for every element of an array, or every own value of an object. Returns false if there is none. */
function runLoop(items: unknown, body: Program, state: RenderState): boolean {
  if (typeof items !== 'object' || items === null) return false;
  const keys = Array.isArray(items) ? undefined : Object.keys(items).filter(isSafeName);
  const count = keys ? keys.length : (items as unknown[]).length;
  if (count === 0) return false;

  const { item, index, key } = state;
  for (let round = 0; round < count; round += 1) {
    payRound(state, body.price);
    state.key = keys ? (keys[round] as string) : String(round);
    state.item = (items as Record<string, unknown>)[state.key];
    state.index = round;
    run(body.steps, state);
  }
  state.item = item;
  state.index = index;
  state.key = key;
  return true;
}

function payRound(state: RenderState, price: number): void {
  state.rounds += 1;
  if (state.rounds > LIMITS.renderRounds) {
    throw new TemplateLimitError(`The loops take more than ${LIMITS.renderRounds} rounds`);
  }
  spend(state.meter, 1 + price);
}

function compileOperands(operands: readonly Operand[], isInLoop: boolean): Read {
  const reads = operands.map((operand) => compileOperand(operand, isInLoop));
  const [first, second] = reads;
  if (!first) return () => undefined;
  if (!second) return first;
  if (reads.length === 2) return (state) => first(state) ?? second(state);
  return (state) => {
    for (const read of reads) {
      const value = read(state);
      if (value !== undefined && value !== null) return value;
    }
    return undefined;
  };
}

function compileOperand(operand: Operand, isInLoop: boolean): Read {
  if (operand.type === 'literal') {
    const { text } = operand;
    return () => text;
  }
  const { path } = operand;
  const [root, second] = path.segments;
  const name = root as string;
  const isLong = second !== undefined;
  if (isInLoop && isLoopName(path)) {
    if (name === '@index') return (state) => state.index;
    if (name === '@key') return (state) => state.key;
    return isLong ? (state) => descend(state.item, path, 1) : (state) => state.item;
  }
  if (!isLong) return (state) => state.scope.get(name);
  const whole = path.rests[0] as string;
  return (state) => descend(state.scope.get(name), path, 1) ?? state.scope.get(whole);
}

/** Whether `#if` counts a value as true: all but false, undefined, null, 0, NaN, '' and an empty array. */
function isTruthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}
