import type { MethodOf, RecordOf, Route } from './operations.ts';

/** A method for each route of a resource. */
export type Methods<Routes> = { [Name in keyof Routes]: MethodOf<Routes[Name]> };

/** What methods need of the client, without the types of the operations. */
interface Caller {
  request: (verb: string, path: string, options: object) => Promise<unknown>;
  list: (path: string, options: object) => AsyncGenerator;
  rows: (method: string, path: string, options: object) => AsyncGenerator;
}

/** The verbs of files of JSON lines, by the method with which they are asked for. */
const EXPORT_VERBS: Readonly<Record<string, string>> = { EXPORT: 'GET', EXPORT_BY: 'POST' };

/** The record of an answer, without the envelope that some endpoints put around it. */
export function recordOf<Json>(answer: Json): RecordOf<Json> {
  const isEnvelope = typeof answer === 'object' && answer !== null && 'success' in answer && 'data' in answer;
  return (isEnvelope ? answer.data : answer) as RecordOf<Json>;
}

function formOf(file: Blob | string): FormData {
  const form = new FormData();
  form.set('file', typeof file === 'string' ? new Blob([file]) : file);
  return form;
}

function methodOf(api: Caller, route: Route) {
  const [verb = '', path = '', ...inputs] = route.split(' ');
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name ?? '');
  return (...values: unknown[]) => {
    const params = Object.fromEntries(names.map((name) => [name, values.shift()]));
    const { file, ...given } = Object.fromEntries(inputs.map((name) => [name, values.shift()]));
    const body = file !== undefined && { body: formOf(file as Blob | string) };
    const options = { ...(values.shift() as object | undefined), ...given, ...body, params };
    const method = EXPORT_VERBS[verb];
    if (method) return api.rows(method, path, options);
    return verb === 'LIST' ? api.list(path, options) : api.request(verb, path, options).then(recordOf);
  };
}

/**
 * The methods of a resource. Each takes the values of the placeholders in the path, then the file or the body, then the
 * query, as far as the operation has them, and options of the call at the end.
 * @param api the client. Its type would need this file, so it is not named here
 */
export function methodsOf<Routes extends Record<string, Route>>(api: unknown, routes: Routes): Methods<Routes> {
  const methods = Object.entries(routes).map(([name, route]) => [name, methodOf(api as Caller, route)]);
  return Object.fromEntries(methods) as Methods<Routes>;
}
