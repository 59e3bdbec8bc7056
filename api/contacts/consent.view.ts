import { z } from 'zod';
import type { ListedConsent } from '../../shared/domain/consent/consent-list.ts';
import { CONSENT_STATES } from '../../shared/domain/consent/records.ts';
import {
  LEAVING_REASONS,
  SUBSCRIPTION_REASONS,
  type SubscriptionReason,
} from '../../shared/pure/events/subscription-reasons.ts';
import { model } from '../../shared/pure/model.ts';

const REASONS = Object.keys(SUBSCRIPTION_REASONS) as SubscriptionReason[];

export const consentSchema = model('Consent', 'A change of what a contact consents to', {
  id: z.uuid(),
  topic: model('ConsentTopic', 'A topic, which may be deleted since', {
    id: z.uuid(),
    key: z.nullable(z.string()).meta({ description: 'its key', examples: ['news'] }),
  })
    .nullable()
    .describe('null for all marketing'),
  state: z.enum(CONSENT_STATES),
  cause: z
    .object({
      reason: z.enum(REASONS),
      endpoint: z.string().optional().describe('the endpoint of the request'),
      key: z.enum(['public', 'secret']).optional().describe('the kind of key of the request'),
      jobId: z.uuid().optional(),
      workflowId: z.uuid().optional(),
      executionId: z.optional(z.uuid()).meta({ examples: ['01a214c7-4844-779a-8282-47d2aa49762f'] }),
      emailId: z.uuid().optional(),
      campaignId: z.uuid().optional(),
    })
    .catchall(z.string())
    .meta({ id: 'ConsentCause', description: 'What changed it, with everything that it names' })
    .describe('what changed it'),
  pausedUntil: z.iso
    .datetime()
    .optional()
    .meta({ description: 'of a pause: its end', examples: ['2026-03-01T08:00:00.000Z'] }),
  feedback: model('ConsentFeedback', 'Why a reader left, when a page asked', {
    reason: z.enum(LEAVING_REASONS).optional(),
    text: z.string().optional().describe('own words'),
  })
    .optional()
    .describe('why the reader left, where a page asked and got an answer'),
  clientAddress: z.string().nullable().describe("of the contact's device, as far as the project keeps it"),
  wording: model('ConsentWording', 'Words that somebody consented to', {
    id: z.string().describe('the SHA-256 of the text'),
    text: z.string(),
  })
    .nullable()
    .describe('null where none were shown'),
  at: z.iso.datetime(),
});

/** Causes that are requests which only a secret key may send. */
const BY_SECRET_KEY = ['api', 'send'];

/** A change of what a contact consents to, as callers see it. */
export function consentView(consent: ListedConsent): z.infer<typeof consentSchema> {
  const { topicKey, pausedUntil, feedback, ...details } = consent.details;
  const { topicId, emailId, campaignId, wordingId } = consent;
  return {
    id: consent.id,
    topic: topicId === null ? null : { id: topicId, key: topicKey ?? null },
    state: consent.state,
    cause: {
      reason: consent.cause as SubscriptionReason,
      ...(BY_SECRET_KEY.includes(consent.cause) && { key: 'secret' as const }),
      ...details,
      ...(emailId !== null && { emailId }),
      ...(campaignId !== null && { campaignId }),
    },
    ...(pausedUntil !== undefined && { pausedUntil }),
    ...(feedback && { feedback }),
    clientAddress: consent.clientAddress,
    wording: wordingId === null ? null : { id: wordingId, text: consent.wording ?? '' },
    at: consent.createdAt.toISOString(),
  };
}
