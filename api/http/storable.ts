import { validationError, type FieldError } from '../../shared/pure/app-error.ts';

const FAULTS_MAX = 20;

interface Level {
  /** The keys of an object; undefined for an array. */
  keys: string[] | undefined;
  values: unknown[];
  /** The index of the next value to check. */
  index: number;
}

/** Why a text cannot be stored; undefined when it can. */
export function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the NUL character';
  if (!text.isWellFormed()) return 'must be well-formed Unicode';
  return undefined;
}

function levelOf(value: object): Level {
  if (Array.isArray(value)) return { keys: undefined, values: value, index: 0 };
  return { keys: Object.keys(value), values: Object.values(value), index: 0 };
}

/** The path to the value that is being checked. */
function pathOf(levels: Level[]): string {
  return levels.map(({ keys, index }) => keys?.[index - 1] ?? String(index - 1)).join('.');
}

/**
 * Refuses what no endpoint can store: NUL characters, lone surrogates, numbers like 1e400. It uses no recursion,
 * because the caller decides how deep the input is.
 * @throws AppError VALIDATION_ERROR that names the fields
 */
export function assertStorable(input: unknown): void {
  const errors: FieldError[] = [];
  const levels: Level[] = [levelOf([input])];
  const report = (field: string, message: string, code = 'invalid_string') => errors.push({ field, message, code });
  // The outermost level is not part of a path.
  const currentPath = () => pathOf(levels.slice(1));

  for (let level = levels.at(-1); level && errors.length < FAULTS_MAX; level = levels.at(-1)) {
    if (level.index >= level.values.length) {
      levels.pop();
      continue;
    }
    const value = level.values[level.index];
    level.index += 1;
    if (typeof value === 'string') {
      const fault = textFault(value);
      if (fault) report(currentPath(), fault);
    } else if (typeof value === 'number') {
      if (!Number.isFinite(value)) report(currentPath(), 'must be a number that a double can hold', 'not_finite');
    } else if (typeof value === 'object' && value !== null && !Buffer.isBuffer(value)) {
      const next = levelOf(value);
      const fault = next.keys?.map(textFault).find(Boolean);
      if (fault) report(currentPath(), `has a key that ${fault}`);
      levels.push(next);
    }
  }
  if (errors.length > 0) throw validationError(errors);
}
