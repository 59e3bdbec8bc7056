import { z } from 'zod';
import { emailAddressSchema } from './emails/email-address.ts';
import { LIMITS } from './limits.ts';
import { model } from './model.ts';

const HOST = /^[a-z\d](?:[a-z\d.-]*[a-z\d])?(?::\d{1,5})?$/i;

/** How subscriptions through forms are confirmed, as operators and callers write it. A part left out has its default. */
export const doubleOptInSchema = model('DoubleOptIn', 'How subscriptions through forms are confirmed', {
  isRequired: z
    .boolean()
    .default(true)
    .meta({
      description: 'Whether a subscription has to be confirmed. A topic may say otherwise',
      examples: [true],
    }),
  remindAfterDays: z
    .int()
    .min(0)
    .max(6)
    .default(2)
    .meta({
      description: 'After how many days the one reminder follows, unless the request ends before; 0: none',
      examples: [2],
    }),
  expireAfterDays: z
    .int()
    .min(1)
    .max(30)
    .default(7)
    .meta({
      description: 'After how many days a request that nobody confirmed ends',
      examples: [7],
    }),
  from: emailAddressSchema
    .nullable()
    .default(null)
    .meta({
      description: 'The sender of confirmations, at a verified domain; null: no-reply at the first verified domain',
      examples: ['news@example.com'],
    }),
  templateId: z
    .uuid()
    .nullable()
    .default(null)
    .meta({
      description: 'A TRANSACTIONAL template with {{confirmUrl}} in place of the built-in email',
      examples: ['01a214c7-4844-779a-8282-47d2aa49762f'],
    }),
  redirectHosts: z
    .array(
      z
        .string()
        .trim()
        .max(LIMITS.redirectHostLength)
        .regex(HOST, 'Must be a host such as www.example.com, perhaps with a port')
        .toLowerCase(),
    )
    .max(LIMITS.redirectHosts)
    .default([])
    .meta({
      description: 'Hosts that a form may lead to, besides verified sender domains and the hosts below these',
      examples: [['www.example.com']],
    }),
});

export type DoubleOptIn = z.infer<typeof doubleOptInSchema>;

/** The settings of a project that has set none. */
export const DOUBLE_OPT_IN: DoubleOptIn = doubleOptInSchema.parse({});
