import { z } from 'zod';
import { parseIsoInstant } from './iso-instant.ts';

/** The text of a day or a date-time, as `parseIsoInstant` reads it. */
export const instantSchema = z
  .string()
  .refine((text) => parseIsoInstant(text) !== undefined, {
    error: 'Must be a date (YYYY-MM-DD) or a date-time with Z or an offset',
    params: { code: 'invalid_string' },
  })
  .meta({ examples: ['2026-01-31', '2026-01-31T08:00:00Z'] });

/** The moment that such a text names. A day means its beginning in UTC. */
export const momentSchema = instantSchema.transform((text) => new Date(parseIsoInstant(text)?.startMs ?? 0));
