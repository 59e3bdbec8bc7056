/** The part of JSON Schema 2020-12 that the OpenAPI document of the API uses. */
export interface JsonSchema {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  propertyNames?: JsonSchema;
  additionalProperties?: JsonSchema | boolean;
}

export interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  schema: JsonSchema;
}

interface Content {
  'application/json'?: { schema: JsonSchema };
  'text/csv'?: { schema: JsonSchema };
}

export interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Content & { 'multipart/form-data'?: unknown } };
  responses: Record<string, { content?: Content }>;
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonSchema> };
}

/** The schema itself, or the schema that its reference names. */
export function resolve(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const found = document.components.schemas[schema.$ref.replace('#/components/schemas/', '')];
  if (!found) throw new Error(`${schema.$ref} is missing`);
  return found;
}
