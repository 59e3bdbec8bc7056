import type { z } from 'zod';

/** What a record may hold for a value of an answer: a moment for its text, and nothing for null. */
type Stored<Value> = Value | (string extends Value ? Date : never) | (null extends Value ? undefined : never);

type Viewed<Answer> = { [Name in keyof Answer as null extends Answer[Name] ? never : Name]: Stored<Answer[Name]> } & {
  [Name in keyof Answer as null extends Answer[Name] ? Name : never]?: Stored<Answer[Name]>;
};

/**
 * Returns what makes records into what callers see of them: the fields that their schema names, moments as text, and
 * null for what is not there.
 * @param own the fields that records have by another name, or not as callers see them; it gets what callers give beside
 *   a record, too
 */
export function viewOf<
  Answer extends object,
  Own extends Partial<Answer> = object,
  Source = unknown,
  Rest extends unknown[] = [],
>(
  schema: z.ZodType<Answer> & { shape: object },
  own?: (record: Source, ...rest: Rest) => Own,
): (record: Source & Viewed<Omit<Answer, keyof Own>>, ...rest: Rest) => Answer {
  const names = Object.keys(schema.shape);
  return (record, ...rest) => {
    const made = own?.(record, ...rest);
    const answer: { [name: string]: unknown } = {};
    for (const name of names) {
      const value: unknown = made && name in made ? Reflect.get(made, name) : Reflect.get(record, name);
      answer[name] = value instanceof Date ? value.toISOString() : (value ?? null);
    }
    return answer as Answer;
  };
}
