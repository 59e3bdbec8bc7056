/** An object in the OpenAPI document. */
export type Node = Record<string, unknown>;

/** Whether a part of the document is an object. */
export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
