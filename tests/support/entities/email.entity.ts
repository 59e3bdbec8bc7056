import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { EMAIL_STATUSES } from '../../../shared/pure/emails/email-types.ts';

/** One email to one recipient. The emails of a campaign are its frozen audience, numbered by `campaignSeq` from 1. */
export const EmailEntity = defineEntity({
  name: 'Email',
  tableName: 'email',
  properties: {
    id: p.uuid().primary(),
    projectId: p.uuid(),
    contactId: p.uuid().nullable(),
    campaignId: p.uuid().nullable(),
    campaignSeq: p.integer().nullable(),
    templateId: p.uuid().nullable(),
    /** The automation that sent it; `executionId` is the execution. */
    automationId: p.uuid().nullable(),
    executionId: p.uuid().nullable(),
    /** Null once its contact was erased. */
    toAddress: p.text().nullable(),
    /** The erased contact that it was for; `contactId` is null then. */
    erasedContactId: p.uuid().nullable(),
    subject: p.text().nullable(),
    status: p.enum(EMAIL_STATUSES),
    /** Delivery attempts that a mail server deferred (4xx). */
    deferrals: p.smallint().default(0),
    /** How many of these broke after the content was sent, so that the server may have the email. */
    uncertainAttempts: p.smallint().default(0),
    /** A deferred email is not tried again before this time. */
    retryAt: p.datetime(3).nullable(),
    /** When it began to wait because sending to its provider was paused or slowed down. */
    heldAt: p.datetime(3).nullable(),
    /** The attempt that is sending it; an attempt that finds its token replaced stops. */
    claimToken: p.uuid().nullable(),
    error: p.text().nullable(),
    /** The rule that judged the final refusal, the server that refused, and what the contact lost because of it. */
    refusal: p.json<Record<string, unknown>>().nullable(),
    /** Attempts in which a server did not accept it, oldest first. An accepted attempt sets only `sentAt`. */
    attempts: p.json<Record<string, unknown>[]>().nullable(),
    createdAt: p.datetime(3),
    sentAt: p.datetime(3).nullable(),
    deliveredAt: p.datetime(3).nullable(),
    openedAt: p.datetime(3).nullable(),
    clickedAt: p.datetime(3).nullable(),
    bouncedAt: p.datetime(3).nullable(),
    complainedAt: p.datetime(3).nullable(),
    /** When a link of this email ended the subscription. */
    unsubscribedAt: p.datetime(3).nullable(),
    /** How often it was opened, repetitions included; `clicks` is how often its links were followed. */
    opens: p.integer().default(0),
    clicks: p.integer().default(0),
  },
});
export type Email = InferEntity<typeof EmailEntity>;
