import path from 'node:path';
import openapiTypeScript, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { ROUTES } from '../../clients/typescript/src/routes.ts';
import { createOpenApiDocument } from '../../api/reference/openapi.ts';
import { createEndpoints } from '../../api/routes.ts';
import { projectRoot } from '../../shared/platform/paths.ts';
import { testConfig } from './config.ts';

/** The types of the TypeScript client, in the repository. */
export const CLIENT_TYPES_FILE = path.join(projectRoot, 'clients', 'typescript', 'src', 'schema.ts');

/** The methods of the client by their operations, from which the docs make examples. */
export const CLIENT_METHODS_FILE = path.join(projectRoot, 'api', 'reference', 'client-methods.json');

/** The page of the docs with the table of roles, which follows from the declarations, too. */
export const ROLES_PAGE = path.join(projectRoot, 'docs', 'keys.md');

/**
 * The document without headers, links and the errors of each operation. The client does not need them, because it
 * throws one class of errors, and they would be most of the file.
 */
function withoutErrors(document: OpenAPI3): OpenAPI3 {
  const isKept = (key: string, parent: string) =>
    !['headers', 'links'].includes(key) && !(parent === 'responses' && Number(key) >= 400);
  const slim = (value: unknown, parent: string): unknown => {
    if (Array.isArray(value)) return value.map((item) => slim(item, parent));
    if (typeof value !== 'object' || value === null) return value;
    // In schemas these keys may be names of properties.
    if (parent === 'schema' || parent === 'schemas') return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, inner]) => (isKept(key, parent) ? [[key, slim(inner, key)]] : [])),
    );
  };
  return slim(document, '') as OpenAPI3;
}

/** The text of `CLIENT_TYPES_FILE`, made from the declarations of the endpoints. */
export async function describeClientTypes(): Promise<string> {
  const config = testConfig();
  const document = createOpenApiDocument(createEndpoints(config), config.publicUrl);
  // Requests and answers have different types.
  const api: OpenAPI3 = { ...withoutErrors(document as unknown as OpenAPI3), webhooks: {} };
  const naming = { rootTypes: true, rootTypesNoSchemaPrefix: true, rootTypesKeepCasing: true };
  const options = { alphabetize: true, defaultNonNullable: false, ...naming };
  const types = astToString(await openapiTypeScript(api, options));
  return `// Made by \`npm run client-types\` from the declarations of the endpoints; not edited by hand.\n\n${types}`;
}

/** The text of `CLIENT_METHODS_FILE`: `"GET /contacts": "contacts.list LIST query"`. */
export function describeClientMethods(): string {
  const own = {
    'POST /v1/send': 'send body',
    'POST /v1/track': 'track body',
    'POST /v1/subscribe': 'subscribe body',
    'POST /v1/verify': 'verify email',
  };
  const routes = Object.entries(ROUTES).flatMap(([resource, methods]) =>
    Object.entries<string>(methods).map(([method, route]) => {
      const [verb = '', address = '', ...inputs] = route.split(' ');
      const kind = verb === 'LIST' ? ['LIST'] : [];
      return [`${verb.replace('LIST', 'GET')} ${address}`, [`${resource}.${method}`, ...kind, ...inputs].join(' ')];
    }),
  );
  return `${JSON.stringify({ ...own, ...Object.fromEntries(routes) }, null, 2)}\n`;
}
