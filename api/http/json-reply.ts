import type { Response } from 'express';
import { createYields } from '../../shared/platform/yielding.ts';
import { textPieces } from '../../shared/pure/text-pieces.ts';

/** Small parts are joined until they have this length in characters. */
const PART_LENGTH = 64 * 1024;

/** Like JSON.stringify, with null for values that JSON cannot express. */
function stringify(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  return text ?? 'null';
}

function isLongText(value: unknown): value is string {
  return typeof value === 'string' && value.length > PART_LENGTH;
}

function hasLongText(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).some(isLongText);
}

function* partsOfText(text: string): Generator<string> {
  yield '"';
  for (const piece of textPieces(text)) yield JSON.stringify(piece).slice(1, -1);
  yield '"';
}

/** The JSON of a value in parts: one for each item of the arrays in its three upper levels, more for long texts. */
function* partsOf(value: unknown, depth = 0): Generator<string> {
  if (isLongText(value)) {
    yield* partsOfText(value);
    return;
  }
  if ((depth > 2 && !hasLongText(value)) || typeof value !== 'object' || value === null || 'toJSON' in value) {
    yield stringify(value);
    return;
  }
  const isArray = Array.isArray(value);
  let separator = isArray ? '[' : '{';
  for (const [key, item] of Object.entries(value)) {
    if (!isArray && item === undefined) continue;
    yield isArray ? separator : `${separator}${JSON.stringify(key)}:`;
    separator = ',';
    if (isArray && !hasLongText(item)) yield stringify(item);
    else yield* partsOf(item, depth + 1);
  }
  if (separator !== ',') yield separator;
  yield isArray ? ']' : '}';
}

/**
 * Makes the JSON of a reply without blocking the event loop for long: a page may have megabytes of small values.
 */
export async function stringifyReply(value: unknown): Promise<Buffer[]> {
  const yieldIfDue = createYields();
  const parts: Buffer[] = [];
  let text = '';
  for (const part of partsOf(value)) {
    text += part;
    if (text.length < PART_LENGTH) continue;
    parts.push(Buffer.from(text));
    text = '';
    await yieldIfDue();
  }
  return [...parts, Buffer.from(text)];
}

/** The length of a reply in octets. */
export function lengthOf(parts: Buffer[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}

export function sendJson(res: Response, parts: Buffer[]): void {
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', lengthOf(parts));
  if (res.req.method === 'HEAD') {
    res.end();
    return;
  }
  for (const part of parts.slice(0, -1)) res.write(part);
  res.end(parts.at(-1));
}
