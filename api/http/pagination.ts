import { z } from 'zod';
import type { RecordPage } from '../../shared/database/record-page.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { ok, type Reply } from './endpoint.ts';
import { stringifyReply } from './json-reply.ts';

const JSON_HEADERS = { 'Content-Type': 'application/json; charset=utf-8' };
const PAGE_SIZE_DEFAULT = 20;
export const PAGE_SIZE_MAX = 100;
const PAGE_MAX = 1_000_000;

/** A text in the query; an empty one counts as missing. */
export function textQuery(lengthMax: number) {
  return z
    .string()
    .max(lengthMax)
    .optional()
    .transform((text) => (text === '' ? undefined : text));
}

export const searchQuery = textQuery(500);

/** A number of items; a number above `max` counts as `max`. */
export function itemCount(byDefault: number, max: number) {
  return z.preprocess((text) => Math.min(Number(text), max), z.int().min(1)).default(byDefault);
}

/** `page` and `pageSize` of the offset lists. */
export const offsetPageQuery = {
  page: z.coerce.number().max(PAGE_MAX, { abort: true }).int().min(1).default(1),
  pageSize: itemCount(PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX),
};

/** `limit` and `cursor` of the cursor lists. */
export function cursorPageQuery({ limitDefault = PAGE_SIZE_DEFAULT, limitMax = PAGE_SIZE_MAX } = {}) {
  return { limit: itemCount(limitDefault, limitMax), cursor: textQuery(1_000) };
}

/** `format` of lists that callers may ask for as CSV, too. */
export const formatQuery = {
  format: z.enum(['json', 'csv']).optional().describe('Takes precedence over the Accept header'),
};

/** `sort` and `dir`; an unknown value is no error but counts as the default. */
export function sortQuery<const Field extends string>(fields: readonly [Field, ...Field[]]) {
  return {
    sort: z
      .enum(fields)
      .catch('createdAt' as Field)
      .default('createdAt' as Field),
    dir: z.enum(['asc', 'desc']).catch('desc').default('desc'),
  };
}

export interface OffsetPage<Item> {
  data: Item[];
  page: number;
  pageSize: number;
  total: number;
  totalPages: number;
}

/** The reply of an offset list. */
export function offsetPage<Item>(
  data: Item[],
  total: number,
  query: { page: number; pageSize: number },
): OffsetPage<Item> {
  return { data, page: query.page, pageSize: query.pageSize, total, totalPages: Math.ceil(total / query.pageSize) };
}

async function* jsonPieces<Item>(
  parts: AsyncIterable<Item[]>,
  view: (item: Item) => unknown,
  page: Omit<OffsetPage<unknown>, 'data'>,
): AsyncGenerator<string | Buffer> {
  yield '{"data":[';
  let separator = '';
  for await (const part of parts) {
    for (const item of part) {
      yield separator;
      yield* await stringifyReply(view(item));
      separator = ',';
    }
  }
  yield `],${JSON.stringify(page).slice(1)}`;
}

/** The reply of an offset list of large records: a page that is too large for the memory is sent part by part. */
export async function recordPageReply<Item>(
  { total, isSmall, parts }: RecordPage<Item>,
  view: (item: Item) => unknown,
  query: { page: number; pageSize: number },
): Promise<Reply> {
  const { data, ...page } = offsetPage<unknown>([], total, query);
  if (!isSmall) {
    return {
      status: 200,
      stream: { headers: JSON_HEADERS, pieces: jsonPieces(parts, view, page), pieceBytes: LIMITS.pageBytes },
    };
  }
  for await (const items of parts) data.push(...items.map(view));
  return ok({ data, ...page });
}

/** The schema of an `OffsetPage`, for the OpenAPI document. */
export function offsetPageSchema(item: z.ZodType, id: string) {
  return z
    .object({
      data: z.array(item).describe('The items'),
      page: z.int(),
      pageSize: z.int(),
      total: z.int(),
      totalPages: z.int(),
    })
    .meta({ id, description: 'A page of items, and how many there are in all' });
}
