import { python, typescript, type Call, type Callable, type Dialect } from './dialects.ts';
import { MARKS, readShell, type ShellStep } from './shell.ts';

/** Finds the operation of a request, and the values of the placeholders of its path. */
export type FindOperation = (
  method: string,
  path: string,
) => { operation: Callable; params: Record<string, string> } | undefined;

/** A shell block in other languages. */
export interface Translation {
  typescript: string;
  python: string;
  operations: Callable[];
}

type Step = Omit<ShellStep, 'request'> & { call?: Call };

/** The parts of a pick: `.data.emails[0]` has `data`, `emails` and 0. */
function partsOf(pick: string): (string | number)[] {
  return [...pick.matchAll(/\.(\w+)|\[(\d+)\]/g)].map(([, name, index]) => name ?? Number(index));
}

/** Writes the blocks of one page in a language. Later blocks know the variables and answers of earlier ones. */
class Writer {
  readonly #dialect: Dialect;
  readonly #known = new Set<string>();
  readonly #answers = new Map<string, { name: string; isUnwrapped: boolean }>();
  #isFirst = true;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  write(steps: readonly Step[], hasPublicKey: boolean): string {
    const hasFile = steps.some(({ call }) => call?.request.file !== undefined);
    const head = this.#isFirst ? `${this.#dialect.head(hasPublicKey, hasFile)}\n` : '';
    this.#isFirst = false;
    const names = new Set<string>();
    const lines = steps.flatMap((step) => [...this.#readUnknown(step), ...this.#writeStep(step, names)]);
    return `${head}${lines.join('\n')}`;
  }

  /** The lines that read variables that no code before has set. */
  #readUnknown({ call }: Step): string[] {
    const used = [...JSON.stringify(call?.request ?? {}).matchAll(MARKS)].map(([, name = '']) => name);
    const unknown = used.filter((name, index) => !this.#known.has(name) && used.indexOf(name) === index);
    for (const name of unknown) this.#known.add(name);
    const { declare, environment, style } = this.#dialect;
    return unknown.map((name) => declare(style.variable(name), environment(name)));
  }

  #writeStep({ call, file = 'answer.json', pick, variable }: Step, names: Set<string>): string[] {
    const dialect = this.#dialect;
    const lines: string[] = [];
    if (call) {
      const { text, isUnwrapped } = dialect.call(call);
      if (!call.isUsed) return [dialect.show(text, call)];
      const name = names.size === 0 ? 'answer' : `answer${names.size + 1}`;
      names.add(name);
      this.#answers.set(file, { name, isUnwrapped });
      lines.push(dialect.declare(name, text));
    }
    const answer = this.#answers.get(file);
    if (pick === undefined || !answer) return lines;
    const parts = partsOf(pick);
    const value = dialect.pick(answer.name, answer.isUnwrapped && parts[0] === 'data' ? parts.slice(1) : parts);
    if (variable === undefined) return [...lines, dialect.print(value)];
    this.#known.add(variable);
    return [...lines, dialect.declare(dialect.style.variable(variable), value)];
  }
}

/** Puts the operations into the steps of a block; undefined when a request is none of the API's. */
function resolve(steps: readonly ShellStep[], find: FindOperation): Step[] | undefined {
  const resolved: Step[] = [];
  for (const { request, ...step } of steps) {
    if (!request) {
      resolved.push(step);
      continue;
    }
    const found = find(request.method, request.path);
    const hasOtherHeader = Object.keys(request.headers).some((name) => name !== 'Idempotency-Key');
    // The answer of an operation without a method of the client is a file.
    const isFile = found?.operation.clientMethod === '' || request.query['format'] === 'csv';
    if (!found || hasOtherHeader || isFile) return undefined;
    resolved.push({ ...step, call: { ...found, request, isUsed: step.file !== undefined || step.pick !== undefined } });
  }
  return resolved;
}

/**
 * Creates a function that says the shell blocks of one page, in their order, in TypeScript and Python. It returns
 * undefined for a block that does more than call the API.
 * @param hasPublicKey whether the page uses the public key
 */
export function createTranslator(
  find: FindOperation,
  hasPublicKey: boolean,
): (code: string) => Translation | undefined {
  const writers = { typescript: new Writer(typescript), python: new Writer(python) };
  return (code) => {
    const read = readShell(code);
    const steps = read && resolve(read, find);
    if (!steps?.some(({ call }) => call)) return undefined;
    return {
      typescript: writers.typescript.write(steps, hasPublicKey),
      python: writers.python.write(steps, hasPublicKey),
      operations: steps.flatMap(({ call }) => (call ? [call.operation] : [])),
    };
  };
}
