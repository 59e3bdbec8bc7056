import { LIMITS } from '../../limits.ts';
import { TemplateLimitError } from './errors.ts';
import { parsePath, type Path } from './path.ts';

/** One operand of `??`. Parsing leaves out operands that can never have a value. */
export type Operand = { type: 'literal'; text: string } | { type: 'path'; path: Path; source: string };

const NUMBER = /^-?\d+(?:\.\d+)?$/;

/**
 * Reads the operands of `a ?? b ?? "text" ?? 5` in order. No text is a syntax error: an operand that is neither quoted
 * nor a number is a path, and a path that does not exist prints nothing.
 * @throws TemplateLimitError for too many operands, including empty ones
 */
export function parseExpression(source: string): Operand[] {
  const operands: Operand[] = [];
  let position = 0;
  for (let count = 1; position <= source.length; count += 1) {
    if (count > LIMITS.templateTagOperands) {
      throw new TemplateLimitError(
        `A placeholder or block may have at most ${LIMITS.templateTagOperands} names and texts`,
      );
    }
    const start = skipSpace(source, position);
    const quoted = readQuoted(source, start);
    if (quoted) {
      operands.push({ type: 'literal', text: quoted.text });
      position = quoted.next;
      continue;
    }
    const separator = source.indexOf('??', start);
    const end = separator === -1 ? source.length : separator;
    const operand = readBare(source.slice(start, end).trim());
    if (operand) operands.push(operand);
    position = end + 2;
  }
  return operands;
}

function readBare(source: string): Operand | undefined {
  if (NUMBER.test(source)) return { type: 'literal', text: source };
  const path = parsePath(source);
  return path && { type: 'path', path, source };
}

/** Reads a quoted text. The operand must end after it: `it's` and `"a" b` are names. */
function readQuoted(source: string, start: number): { text: string; next: number } | undefined {
  const quote = source[start];
  if (quote !== '"' && quote !== "'") return undefined;
  const end = source.indexOf(quote, start + 1);
  if (end === -1) return undefined;
  const after = skipSpace(source, end + 1);
  if (after < source.length && !source.startsWith('??', after)) return undefined;
  return { text: source.slice(start + 1, end), next: after + 2 };
}

function skipSpace(source: string, start: number): number {
  let position = start;
  while (position < source.length && (source[position] as string).trim() === '') position += 1;
  return position;
}
