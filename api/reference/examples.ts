import { readFileSync } from 'node:fs';

/** One request to an operation with its answer, as a test made and got them. */
export interface ApiExample {
  name: string;
  params: Record<string, string>;
  query: Record<string, string>;
  /** The body of the request. */
  request?: unknown;
  status: number;
  /** The body of the answer, when it is JSON. */
  answer?: unknown;
  /** The body of the answer, when it is a table. */
  table?: string;
}

/** Examples by operation. */
export type ApiExamples = Readonly<Record<string, readonly ApiExample[]>>;

/** Where `npm run api-examples` writes them. */
export const API_EXAMPLES_FILE = new URL('examples.json', import.meta.url);

/** The examples of the operations. */
export function readApiExamples(): ApiExamples {
  return JSON.parse(readFileSync(API_EXAMPLES_FILE, 'utf8')) as ApiExamples;
}
