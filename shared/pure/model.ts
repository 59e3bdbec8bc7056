import { z } from 'zod';

/**
 * The schema of an object that the OpenAPI document names.
 * @param id its name there, and in generated clients
 */
export function model<Fields extends z.core.$ZodShape>(id: string, description: string, fields: Fields) {
  return z.object(fields).meta({ id, description });
}

/**
 * A list of objects.
 * @param id what one of them is called
 * @param about what one of them is
 * @param list what the list has
 */
export function listOf<Fields extends z.core.$ZodShape>(id: string, about: string, list: string, fields: Fields) {
  return z.array(model(id, about, fields)).describe(list);
}
