import { z } from 'zod';

/**
 * The schema of an object that the OpenAPI document names.
 * @param id its name there, and in generated clients
 */
export function model<Fields extends z.core.$ZodShape>(id: string, description: string, fields: Fields) {
  return z.object(fields).meta({ id, description });
}
