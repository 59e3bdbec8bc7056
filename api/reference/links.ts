import { itemOf } from '../http/location.ts';
import type { Endpoint } from '../http/endpoint.ts';

/** A link to the endpoint that reads the record whose id is in a field of the answer. */
function linkTo(target: Endpoint | undefined, field: string) {
  if (target?.method !== 'get') return {};
  const names = [...target.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const parameters = Object.fromEntries(
    names.map((name, index) => [
      name,
      index === names.length - 1 ? `$response.body#${field}` : `$request.path.${name}`,
    ]),
  );
  const { operationId, summary } = target;
  return { links: { [operationId]: { operationId, description: summary, parameters } } };
}

/** The links of an answer: to the endpoint that reads the new record, or to the one that polls the job. */
export function linksOf(definition: Endpoint, status: number, endpoints: readonly Endpoint[]) {
  const data = definition.hasEnvelope ? '/data' : '';
  if (status === 201) return linkTo(itemOf(definition, endpoints), `${data}/id`);
  if (status !== 202) return {};
  const jobPath = definition.multipart ? '/contacts/import/:jobId' : '/contacts/bulk/:jobId';
  return linkTo(
    endpoints.find(({ path }) => path === jobPath),
    `${data}/jobId`,
  );
}
