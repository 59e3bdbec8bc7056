import type { LeftElsewhere } from '../events/subscription-reasons.ts';
import type { EmailType } from '../emails/email-types.ts';
import type { DefaultSubscription } from '../topics.ts';

/** A contact as it comes from a file or another tool; its parts are not checked. */
export interface MovedContact {
  email?: unknown;
  /** From another tool only false: a repetition subscribes nobody who has left here. */
  subscribed?: unknown;
  topics?: unknown;
  trackingAllowed?: unknown;
  data?: unknown;
  left?: LeftElsewhere;
}

/** A list of another tool, which becomes a topic. */
export interface MovedList {
  /** What tells it from others with its name, where the tool says so. Ids of older lists come first in their order. */
  id?: string | undefined;
  name: string;
  isPublic: boolean;
  defaultSubscription: DefaultSubscription;
}

/** What a record of another tool is: a contact with its lists, the reason to refuse it, or nothing to import. */
export type Moved =
  { contact: MovedContact; lists?: readonly [list: MovedList, isMember: boolean][] } | string | undefined;

/** A template of another tool, in the language of that tool. */
export interface MovedTemplate {
  name: string;
  subject: string;
  body: string;
  type: EmailType;
}

/** Fetches a path of an API, and returns the JSON of the answer. */
export type Get = (path: string) => Promise<unknown>;

type Fields = Readonly<Record<string, unknown>>;

/** A record of a file or an API by the names of its fields in small letters. */
export class SourceRecord {
  /** The name of the file; empty for an API. */
  readonly file: string;
  readonly #fields: Fields;
  readonly #names: ReadonlyMap<string, string>;

  constructor(fields: Fields, file = '') {
    this.#fields = fields;
    this.#names = new Map(Object.keys(fields).map((name) => [name.trim().toLowerCase(), name]));
    this.file = file;
  }

  get(...names: string[]): unknown {
    const name = names.find((each) => this.#names.has(each));
    return name === undefined ? undefined : this.#fields[this.#names.get(name) ?? ''];
  }

  text(...names: string[]): string {
    const value = this.get(...names);
    return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
  }

  /** Whether a field is true; undefined when it is empty, null for a value that is not understood. */
  choice(name: string): boolean | null | undefined {
    const value = this.get(name);
    const word = typeof value === 'boolean' ? String(value) : this.text(name).toLowerCase();
    if (['true', 'yes', '1', 't'].includes(word)) return true;
    return ['false', 'no', '0', 'f'].includes(word) ? false : word === '' ? undefined : null;
  }

  /** The address of the record: the first field whose name is about that. */
  email(): unknown {
    const named = [...this.#names.keys()].find((name) =>
      /^(?:primary[ _]?)?e-?mail(?:$|[ _-]?(?:addres|adres|id$))/.test(name),
    );
    return named === undefined ? undefined : this.get(named);
  }

  /** The other fields as custom data. First and last names have one spelling, whatever the tool. */
  data(ignored: RegExp): Record<string, unknown> {
    const email = this.email();
    const entries = [...this.#names].filter(([name]) => !ignored.test(name) && this.get(name) !== email);
    return Object.fromEntries(
      entries.flatMap(([lowered, name]) => {
        const value = this.#fields[name];
        return value === '' || value === null || name === '' ? [] : [[NAMES.get(lowered) ?? name, value]];
      }),
    );
  }
}

const NAMES = new Map([
  ['first name', 'firstName'],
  ['first_name', 'firstName'],
  ['last name', 'lastName'],
  ['last_name', 'lastName'],
]);

/** An object, also when it comes as its JSON; undefined for anything else. */
export function objectOf(value: unknown): Record<string, unknown> | undefined {
  if (typeof value === 'string' && value.trim().startsWith('{')) {
    try {
      return objectOf(JSON.parse(value));
    } catch {
      return undefined;
    }
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : undefined;
}

/** The objects of a list in an answer. @param path such as `data.results` @throws Error when there is no such list */
export function itemsOf(body: unknown, path = ''): Record<string, unknown>[] {
  const found = path === '' ? body : path.split('.').reduce<unknown>((at, key) => objectOf(at)?.[key], body);
  if (!Array.isArray(found)) throw new Error(`The API answered without the list "${path}"`);
  return (found as unknown[]).map((item) => objectOf(item) ?? {});
}

/**
 * The items of a list, page after page. A server may have smaller pages than it is asked for, so pages that are numbered
 * end with an empty one.
 * @param next the path of the page after one with these items, of which `read` have come so far; undefined at the end
 * @throws Error when a page comes again
 */
export async function* itemsOfPages(
  get: Get,
  first: string,
  list: string,
  next: (body: unknown, items: Record<string, unknown>[], page: number, read: number) => string | undefined,
): AsyncGenerator<Record<string, unknown>> {
  let path: string | undefined = first;
  const seen = new Set<string>();
  let previous = '';
  let read = 0;
  for (let page = 1; path !== undefined; page++) {
    if (seen.has(path)) throw new Error(`The API names the page ${path} a second time`);
    seen.add(path);
    const body: unknown = await get(path);
    const items = itemsOf(body, list);
    const text = JSON.stringify(items);
    if (items.length > 0 && text === previous) throw new Error(`The API answers ${path} with the page before it`);
    previous = text;
    yield* items;
    read += items.length;
    path = next(body, items, page, read);
  }
}
