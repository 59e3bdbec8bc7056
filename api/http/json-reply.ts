import type { Response } from 'express';
import { createPacer } from '../../shared/platform/pacer.ts';

/** Parts of this length, in characters, go out together. */
const PART_LENGTH = 64 * 1024;

/** Like JSON.stringify, with null for values that JSON cannot express. */
function stringify(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  return text ?? 'null';
}

/** The JSON of a value, in parts: one for each item of the arrays in its two upper levels. */
function* partsOf(value: unknown, depth = 0): Generator<string> {
  if (depth > 2 || typeof value !== 'object' || value === null || 'toJSON' in value) {
    yield stringify(value);
    return;
  }
  const isArray = Array.isArray(value);
  let separator = isArray ? '[' : '{';
  for (const [key, item] of Object.entries(value)) {
    if (!isArray && item === undefined) continue;
    yield isArray ? separator : `${separator}${JSON.stringify(key)}:`;
    separator = ',';
    if (isArray) yield stringify(item);
    else yield* partsOf(item, depth + 1);
  }
  if (separator !== ',') yield separator;
  yield isArray ? ']' : '}';
}

/**
 * The JSON of a reply as octets, made without holding the event loop for long: a page may be some megabytes of many
 * small values.
 */
export async function stringifyReply(value: unknown): Promise<Buffer[]> {
  const pace = createPacer();
  const parts: Buffer[] = [];
  let text = '';
  for (const part of partsOf(value)) {
    text += part;
    if (text.length < PART_LENGTH) continue;
    parts.push(Buffer.from(text));
    text = '';
    await pace();
  }
  return [...parts, Buffer.from(text)];
}

/** The octets of a reply. */
export function lengthOf(parts: Buffer[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}

/** Hands the JSON of a reply over to the connection. */
export function sendJson(res: Response, parts: Buffer[]): void {
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', lengthOf(parts));
  const last = parts.at(-1);
  if (res.req.method !== 'HEAD') for (const part of parts.slice(0, -1)) res.write(part);
  if (res.req.method === 'HEAD') res.end();
  else res.end(last);
}
