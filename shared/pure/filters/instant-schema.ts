import { z } from 'zod';
import { parseIsoInstant } from './iso-instant.ts';

/** A day or a date-time, as text that `parseIsoInstant` reads. */
export const instantSchema = z
  .string()
  .refine((text) => parseIsoInstant(text) !== undefined, {
    error: 'Must be a date (YYYY-MM-DD) or a date-time with Z or an offset',
    params: { code: 'invalid_string' },
  })
  .meta({ examples: ['2026-01-31', '2026-01-31T08:00:00Z'] });

/** The moment that such a text names; of a day the first one, in UTC. */
export const momentSchema = instantSchema.transform((text) => new Date(parseIsoInstant(text)?.startMs ?? 0));
