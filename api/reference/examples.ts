import { readFileSync } from 'node:fs';

/** One request to an operation and its answer, as a test has recorded them. */
export interface ApiExample {
  name: string;
  params: Record<string, string>;
  query: Record<string, string>;
  /** The body of the request. */
  request?: unknown;
  status: number;
  /** The body of the answer, when it is JSON. */
  answer?: unknown;
  /** The body of the answer, when it is CSV. */
  table?: string;
  /** The first row of the answer, when it is JSON lines. */
  row?: unknown;
}

/** Examples by operation. */
export type ApiExamples = Readonly<Record<string, readonly ApiExample[]>>;

/** The file that `npm run api-examples` writes. */
export const API_EXAMPLES_FILE = new URL('examples.json', import.meta.url);

/** Reads the recorded examples. */
export function readApiExamples(): ApiExamples {
  return JSON.parse(readFileSync(API_EXAMPLES_FILE, 'utf8')) as ApiExamples;
}
