import type { Endpoint } from './endpoint.ts';

/** An endpoint that copies a record adds the copy to the collection of the original. */
const COPY = /\/:\w+\/duplicate$/;

/** The endpoint that is about one item of a collection, preferably the one that reads it. */
function itemEndpoint(collection: string, endpoints: readonly Endpoint[]): Endpoint | undefined {
  const items = endpoints.filter(
    ({ path }) => path.startsWith(`${collection}/:`) && !path.slice(collection.length + 1).includes('/'),
  );
  return items.find(({ method }) => method === 'get') ?? items[0];
}

/** The endpoint whose path names a record that `definition` creates; undefined when such records have no path. */
export function itemOf(definition: Endpoint, endpoints: readonly Endpoint[]): Endpoint | undefined {
  if (definition.method !== 'post' || definition.replies[201] === undefined) return undefined;
  return itemEndpoint(definition.path.replace(COPY, ''), endpoints);
}

/**
 * The path of a record that was created (`Location`, RFC 9110 section 10.2.2).
 * @param item the endpoint that `itemOf` has found
 * @param params the path parameters of the request that created the record
 */
export function locationOf(
  item: Endpoint,
  params: Readonly<Record<string, unknown>>,
  data: unknown,
): string | undefined {
  const id: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'id') : undefined;
  if (typeof id !== 'string') return undefined;
  const names = [...item.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
  const own = names.at(-1);
  return item.path.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(name === own ? id : String(params[name])),
  );
}
