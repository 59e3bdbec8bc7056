import type { z } from 'zod';
import type { Endpoint } from './endpoint.ts';

/** What differs between a list and its search. */
interface Search {
  operationId: string;
  summary: string;
  /** The filters of the list as fields of a body. */
  body: z.ZodType;
}

/**
 * A list whose filters come in the body of a POST: proxies and servers write URLs to their logs, and an address is
 * personal data.
 */
export function searchByBody(list: Endpoint, { operationId, summary, body }: Search): Endpoint {
  const { path, replies } = list;
  const { schema } = replies[200] ?? {};
  return {
    ...list,
    query: undefined,
    operationId,
    summary,
    description: `As \`GET ${path}\`, with the filters in the body, so that no address comes into the logs of proxies.`,
    method: 'post',
    effect: 'reads',
    path: `${path}/search`,
    body,
    replies: { 200: { description: 'A page', ...(schema && { schema }) } },
    handle: (context) => list.handle({ ...context, query: context.body, wantsCsv: () => false }),
  };
}
