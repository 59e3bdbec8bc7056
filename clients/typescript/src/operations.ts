import type { components, paths } from './schema.ts';

export type Schemas = components['schemas'];
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The paths that take a method. */
export type PathOf<M extends Method> = {
  [Path in keyof paths]: paths[Path] extends Record<Lowercase<M>, { responses: unknown }> ? Path : never;
}[keyof paths];

export type Operation<M extends Method, Path extends keyof paths> = paths[Path][Lowercase<M> & keyof paths[Path]];

type Content<Holder> = Holder extends { content: { 'multipart/form-data': unknown } }
  ? FormData
  : Holder extends { content: { 'application/json': infer Json } }
    ? Json
    : undefined;

type PathPart<Op> = Op extends { parameters: { path: infer Path extends object } } ? { params: Path } : object;

/** `format` asks for CSV, and the client reads JSON. */
export type Query<Op> = Op extends { parameters: { query?: infer Query } } ? Omit<NonNullable<Query>, 'format'> : never;
type QueryPart<Op> = Op extends { parameters: { query?: never } } ? object : { query?: Query<Op> };

type BodyPart<Op> = Op extends { requestBody: infer Body }
  ? { body: Content<Body> }
  : Op extends { requestBody?: infer Body }
    ? [NonNullable<Body>] extends [never]
      ? object
      : { body?: Content<NonNullable<Body>> }
    : object;

export interface CallOptions {
  /** Aborts the request, and the wait for its next try. */
  signal?: AbortSignal;
}

interface KeyOption {
  /** A text that is new for each thing you want done. The client makes one when there is none. */
  idempotencyKey?: string;
}
type KeyPart<Op> = Op extends { parameters: { header?: infer Header } }
  ? [NonNullable<Header>] extends [never]
    ? object
    : KeyOption
  : object;

/** Of several operations, the options of each. Without the condition it would be every combination of their parts. */
export type RequestOptions<Op> = Op extends unknown
  ? CallOptions & PathPart<Op> & QueryPart<Op> & BodyPart<Op> & KeyPart<Op>
  : never;
export type SendOptions = CallOptions & KeyOption;

/** The options may be left out when none is required. */
export type OptionsArgument<Op> =
  Partial<RequestOptions<Op>> extends RequestOptions<Op>
    ? [options?: RequestOptions<Op>]
    : [options: RequestOptions<Op>];

/** The answer of an operation: its JSON, or undefined for a 204. */
export type Answer<Op> = Op extends { responses: infer Responses }
  ? { [Status in keyof Responses]: Content<Responses[Status]> }[keyof Responses]
  : never;

type ListOf<Page> = Page extends (infer Item)[]
  ? Item
  : Page extends { data: (infer Item)[] }
    ? Item
    : { [Key in keyof Page]: Page[Key] extends (infer Item)[] ? Item : never }[keyof Page];

export type ListPath = {
  [Path in PathOf<'GET'>]: Answer<Operation<'GET', Path>> extends
    unknown[] | { hasMore: boolean } | { totalPages: number }
    ? Path
    : never;
}[PathOf<'GET'>];

/** An item of a list. */
export type ItemOf<Path extends ListPath> = ListOf<Answer<Operation<'GET', Path>>>;
