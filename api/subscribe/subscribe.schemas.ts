import { z } from 'zod';
import { customDataSchema } from '../../shared/pure/contacts/custom-data-schema.ts';
import { jsonBytes } from '../../shared/pure/json-bytes.ts';
import { languageOf } from '../../shared/pure/languages/languages.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { TOPIC_KEY } from '../../shared/pure/topics.ts';
import { recipientAddressSchema } from '../send/sender-address.ts';

const URL_LENGTH_MAX = 2_000;
const LANGUAGE_TAG_LENGTH_MAX = 35;
const FORM_TOKEN_LENGTH_MAX = 200;

const tooMuch = (error: string) => ({ error, params: { code: 'too_big' } });

export const subscribeBody = z.object({
  email: recipientAddressSchema,
  topics: z
    .array(z.string().regex(TOPIC_KEY, 'Must be the key of a topic'))
    .max(LIMITS.topicsPerProject)
    .default([])
    .meta({ description: 'Keys of public topics; all newsletters when left out', examples: [['news']] }),
  data: customDataSchema
    .refine(
      (data) => Object.keys(data).length <= LIMITS.subscribeDataKeys,
      tooMuch(`At most ${LIMITS.subscribeDataKeys} keys`),
    )
    .refine(
      (data) => jsonBytes(data, LIMITS.subscribeDataBytes) <= LIMITS.subscribeDataBytes,
      tooMuch(`At most ${LIMITS.subscribeDataBytes} bytes of JSON`),
    )
    .optional()
    .describe('Custom data of the contact, stored when the subscription is confirmed'),
  language: z
    .string()
    .max(LANGUAGE_TAG_LENGTH_MAX)
    .transform((tag) => languageOf(tag))
    .optional()
    .meta({
      override: { type: 'string' },
      description: 'The language of the person, such as de or de-AT',
      examples: ['de'],
    }),
  wording: z.optional(z.string().trim().min(1).max(LIMITS.wordingLength)).meta({
    description: 'The words beside the button of the form, for the record of consent',
    examples: ['Send me the newsletter'],
  }),
  comment: z
    .string()
    .optional()
    .meta({ description: 'A field that people do not see. A request that fills it has no effect', examples: [''] }),
  redirectUrl: z.optional(z.url({ protocol: /^https?$/ }).max(URL_LENGTH_MAX)).meta({
    description: 'Where a plain HTML form leads: to a verified sender domain, below one, or to one of `redirectHosts`',
    examples: ['https://www.example.com/thanks'],
  }),
  formToken: z.optional(z.string().max(FORM_TOKEN_LENGTH_MAX)).meta({
    description: 'From the hosted form: when it was shown. A form that is sent within two seconds has no effect',
    examples: ['1795647600000.p0dVbWkxR3JtT2VzR2hFZA'],
  }),
});
export type SubscribeBody = z.output<typeof subscribeBody>;

export const acceptedSchema = z.object({ accepted: z.literal(true).describe('whatever is known of the address') });
