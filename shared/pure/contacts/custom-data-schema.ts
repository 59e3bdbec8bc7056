import { z } from 'zod';
import { atMost } from '../bounded-schema.ts';
import { jsonBytes } from '../json-bytes.ts';
import { LIMITS } from '../limits.ts';

/** Custom data of a contact or an event in a request. */
export const customDataSchema = atMost(
  LIMITS.requestDataKeys,
  z.record(z.string().min(1, 'A key must not be empty').max(LIMITS.contactDataKeyLength), z.unknown()),
)
  .refine((data) => jsonBytes(data, LIMITS.requestDataBytes) <= LIMITS.requestDataBytes, {
    error: `At most ${LIMITS.requestDataBytes} bytes of JSON`,
    params: { code: 'too_big' },
  })
  .meta({ description: 'Patched key by key; null deletes a key', examples: [{ firstName: 'Ada', plan: 'pro' }] });
