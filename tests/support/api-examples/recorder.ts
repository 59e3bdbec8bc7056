import type { ApiExample } from '../../../api/reference/examples.ts';
import { keyKindOf, type Endpoint } from '../../../api/http/endpoint.ts';
import { createEndpoints } from '../../../api/routes.ts';
import { callsTo, type TestProject } from '../api.ts';
import { testConfig } from '../config.ts';
import { csvForm } from '../csv-files.ts';

export interface ExampleCall {
  params?: Record<string, string>;
  query?: Record<string, string>;
  /** JSON, or the text of the file of a form. */
  body?: unknown;
  headers?: Record<string, string>;
  /** The name of the example when an operation has several; `example` when left out. */
  as?: string;
}

/** Records the examples of one project. */
export interface ExampleRecorder {
  project: TestProject;
  /** Calls an operation and keeps request and answer as an example. @returns the body of the answer */
  record: (operationId: string, call?: ExampleCall) => Promise<any>;
  /** Calls an operation and keeps only the answer, which is an error. */
  refuse: (operationId: string, call: ExampleCall & { key?: string }) => Promise<void>;
  /** Keeps a request that a webhook receiver got. */
  receive: (operationId: string, body: unknown, as?: string) => void;
  /** Everything kept so far, by operation. */
  examples: () => Record<string, ApiExample[]>;
}

const endpoints = createEndpoints(testConfig());

function pathOf({ path }: Endpoint, params: Record<string, string>, query: Record<string, string>): string {
  const filled = path.replaceAll(/:(\w+)/g, (_match, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams(query).toString();
  return search === '' ? filled : `${filled}?${search}`;
}

function answerOf(type: string, body: unknown): Pick<ApiExample, 'answer' | 'row' | 'table'> {
  if (type.startsWith('text/csv')) return { table: String(body) };
  // A file with a single row is valid JSON, and is read as that.
  if (type.startsWith('application/jsonl'))
    return { row: typeof body === 'string' ? JSON.parse(body.split('\n', 1)[0] ?? '') : body };
  return { answer: body };
}

/** Calls the API with the keys of a project, and keeps requests and answers. */
export function createRecorder(url: string, project: TestProject): ExampleRecorder {
  const kept = new Map<string, ApiExample[]>();

  async function perform(operationId: string, call: ExampleCall & { key?: string }): Promise<ApiExample> {
    const definition = endpoints.find((endpoint) => endpoint.operationId === operationId);
    if (!definition) throw new Error(`there is no operation ${operationId}`);
    const { params = {}, query = {}, body, headers = {}, as: name = 'example', key = keyKindOf(definition) } = call;
    const reply = await callsTo(url, project.keys)(definition.method, pathOf(definition, params, query), {
      key,
      headers,
      ...(definition.multipart ? { raw: csvForm(String(body), definition.multipart.field) } : { body }),
    });
    const request = definition.multipart ? { [definition.multipart.field]: body } : body;
    const { status } = reply;
    const asked = { name, params, query, ...(request !== undefined && { request }) };
    return { ...asked, status, ...answerOf(reply.headers.get('content-type') ?? '', reply.body) };
  }

  function keep(operationId: string, example: ApiExample): void {
    kept.set(operationId, [...(kept.get(operationId) ?? []), example]);
  }

  return {
    project,
    async record(operationId, call = {}) {
      const example = await perform(operationId, call);
      if (example.status >= 300) throw new Error(`${operationId} answered ${JSON.stringify(example.answer)}`);
      keep(operationId, example);
      return example.answer;
    },
    async refuse(operationId, call) {
      const { name, status, answer } = await perform(operationId, call);
      if (status < 400) throw new Error(`${operationId} answered ${status}`);
      keep(operationId, { name, params: {}, query: {}, status, answer });
    },
    receive(operationId, body, as = 'example') {
      keep(operationId, { name: as, params: {}, query: {}, request: body, status: 204 });
    },
    examples: () => Object.fromEntries(kept),
  };
}
