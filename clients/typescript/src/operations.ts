import type { paths } from './schema.ts';

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
    ? unknown
    : KeyOption
  : unknown;

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

/** The words of a route for what an operation takes beside its path: ` file` or ` body`, and ` query`. */
type BodyWord<Op> = Op extends { requestBody?: never }
  ? ''
  : Op extends { requestBody?: { content: { 'multipart/form-data': unknown } } }
    ? ' file'
    : ' body';
type QueryWord<Op> = Op extends { parameters: { query?: never } } ? '' : ' query';

/** A list by its path, to be read page after page: `LIST /contacts query`. */
type ListRoute = { [Path in ListPath]: `LIST ${Path}${QueryWord<Operation<'GET', Path>>}` }[ListPath];

type RowIn<Op> = Op extends { responses: { 200: { content: { 'application/jsonl': infer Row } } } } ? Row : never;

type ExportRoute<Word extends string, M extends Method> = {
  [Path in PathOf<M>]: [RowIn<Operation<M, Path>>] extends [never]
    ? never
    : `${Word} ${Path}${BodyWord<Operation<M, Path>>}${QueryWord<Operation<M, Path>>}`;
}[PathOf<M>];

type RouteOf<M extends Method> = {
  [Path in PathOf<M>]: `${M} ${Path}${BodyWord<Operation<M, Path>>}${QueryWord<Operation<M, Path>>}`;
}[PathOf<M>];

/** An operation, and what it takes: `PATCH /contacts/{id} body`. */
export type Route =
  ListRoute | ExportRoute<'EXPORT', 'GET'> | ExportRoute<'EXPORT_BY', 'POST'> | { [M in Method]: RouteOf<M> }[Method];

/** The values of the placeholders in a path, in their order. */
type Ids<Path> = Path extends `${string}{${string}}${infer Rest}`
  ? Rest extends `${string}{${string}}${string}`
    ? [id: string, partId: string]
    : [id: string]
  : [];

type BodyArgument<Op> = Op extends { requestBody?: never }
  ? []
  : Op extends { requestBody: infer Body }
    ? Content<Body> extends FormData
      ? [file: Blob | string]
      : [body: Content<Body>]
    : Op extends { requestBody?: infer Body }
      ? [body?: Content<NonNullable<Body>>]
      : [];
type QueryArgument<Op> = Op extends { parameters: { query?: never } } ? [] : [query?: Query<Op>];

/** The record of an answer, without the envelope that some endpoints put around it. */
export type RecordOf<Json> = Json extends { success: true; data: infer Record } ? Record : Json;

type Verb<Text> = Text extends `${infer First} ${string}` ? First : never;
type RoutePath<Text> = Text extends `${string} ${infer Path} ${string}`
  ? Path
  : Text extends `${string} ${infer Path}`
    ? Path
    : never;

type ExportOf<Op> = (
  ...args: [...BodyArgument<Op>, ...QueryArgument<Op>, options?: CallOptions]
) => AsyncGenerator<RowIn<Op>>;

type ExportedOperation<R> = Operation<Verb<R> extends 'EXPORT' ? 'GET' : 'POST', Extract<RoutePath<R>, keyof paths>>;

/** The method for a route. */
export type MethodOf<R> = Verb<R> extends 'EXPORT' | 'EXPORT_BY' ? ExportOf<ExportedOperation<R>> : RequestOf<R>;

type RequestOf<R> =
  Verb<R> extends 'LIST'
    ? Extract<RoutePath<R>, ListPath> extends infer Path extends ListPath
      ? (
          ...args: [...Ids<Path>, ...QueryArgument<Operation<'GET', Path>>, options?: CallOptions]
        ) => AsyncGenerator<ItemOf<Path>>
      : never
    : Operation<Extract<Verb<R>, Method>, Extract<RoutePath<R>, keyof paths>> extends infer Op
      ? (
          ...args: [
            ...Ids<RoutePath<R>>,
            ...BodyArgument<Op>,
            ...QueryArgument<Op>,
            options?: CallOptions & KeyPart<Op>,
          ]
        ) => Promise<RecordOf<Answer<Op>>>
      : never;
