import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { AppError, validationError } from '../../shared/pure/app-error.ts';
import { createYields } from '../../shared/platform/yielding.ts';
import type { LargeText } from './json-scanner.ts';
import { decodeBase64, decodeText, malformedJson } from './large-text.ts';
import type { Octets } from './octets.ts';
import { textFault } from './storable.ts';

/** The most octets outside of large texts. JSON.parse reads them at once. */
const REST_BYTES_MAX = 3.5 * 1024 * 1024;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

type Holder = Record<string, unknown>;

/** Where a large text stands. */
interface Site {
  holder: Holder;
  key: string;
  path: string[];
  text: LargeText;
}

function textOf(octets: Buffer): string {
  if (!isUtf8(octets)) throw malformedJson(': it is not UTF-8');
  return octets.toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformedJson();
  }
}

/** The body with a mark in place of each large text. */
function restOf(octets: Octets, start: number, largeTexts: readonly LargeText[], mark: string): string {
  const parts: string[] = [];
  let position = start;
  for (const [index, { start: textStart, end }] of largeTexts.entries()) {
    parts.push(textOf(octets.slice(position, textStart)), `${mark}${index}`);
    position = end;
  }
  parts.push(textOf(octets.slice(position, octets.length)));
  return parts.join('');
}

/** Finds the marks in a part of a parsed body, which is at `path`. The scanner has bounded its depth. */
function* findSites(holder: Holder, textOfMark: ReadonlyMap<unknown, LargeText>, path: string[] = []): Generator<Site> {
  for (const [key, value] of Object.entries(holder)) {
    const text = textOfMark.get(value);
    if (text) yield { holder, key, path: [...path, key], text };
    if (typeof value === 'object' && value !== null) yield* findSites(value as Holder, textOfMark, [...path, key]);
  }
}

/** Whether a path fits a pattern in which `*` stands for any one key. */
function fits(path: string[], pattern: readonly string[] | undefined): boolean {
  return pattern?.length === path.length && pattern.every((part, index) => part === '*' || part === path[index]);
}

async function readSite(
  octets: Octets,
  { path, text }: Site,
  base64At: readonly string[] | undefined,
  yieldIfDue: () => Promise<void> | undefined,
): Promise<string | Buffer> {
  const field = path.join('.');
  if (fits(path, base64At)) {
    const decoded = await decodeBase64(octets, text, yieldIfDue);
    if (decoded) return decoded;
    throw validationError([{ field, message: 'Must be base64', code: 'invalid_string' }]);
  }
  const decoded = await decodeText(octets, text, textFault, yieldIfDue);
  if (decoded.fault === undefined) return decoded.text;
  throw validationError([{ field, message: decoded.fault, code: 'invalid_string' }]);
}

/**
 * Parses a JSON body without blocking the event loop for long: large texts, which are most of every large body, are
 * read piece by piece.
 * @param largeTexts the large texts that the scanner has found
 * @param base64At where base64 stands, as a path in which `*` is any key; a large text there becomes a Buffer
 * @throws AppError BAD_REQUEST when it is not JSON, PAYLOAD_TOO_LARGE when too much of it is not in large texts,
 *   VALIDATION_ERROR for a large text that cannot be stored
 */
export async function parseJson(
  octets: Octets,
  largeTexts: readonly LargeText[],
  base64At?: readonly string[],
): Promise<unknown> {
  const start = octets.length >= 3 && octets.slice(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
  const largeBytes = largeTexts.reduce((sum, text) => sum + text.end - text.start, 0);
  if (octets.length - largeBytes > REST_BYTES_MAX) {
    throw new AppError('PAYLOAD_TOO_LARGE', { details: { limitBytes: REST_BYTES_MAX } });
  }
  if (largeTexts.length === 0) return parse(textOf(octets.slice(start, octets.length)));

  const mark = `${randomUUID()}:`;
  const textOfMark = new Map(largeTexts.map((text, index) => [`${mark}${index}`, text] as const));
  const root = { body: parse(restOf(octets, start, largeTexts, mark)) };
  const yieldIfDue = createYields();
  for (const site of findSites(root, textOfMark)) {
    const value = await readSite(octets, { ...site, path: site.path.slice(1) }, base64At, yieldIfDue);
    // An assignment to the key __proto__ would set the prototype.
    Reflect.defineProperty(site.holder, site.key, { value, enumerable: true, writable: true, configurable: true });
  }
  return root.body;
}
