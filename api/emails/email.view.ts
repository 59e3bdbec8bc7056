import { z } from 'zod';
import type { ListedEmail } from '../../shared/domain/emails/email-lists.ts';
import { TIMELINE_TYPES, type EmailStory, type TimelineEntry } from '../../shared/domain/emails/email-timeline.ts';
import { WAITING_REASONS } from '../../shared/pure/emails/hold.ts';
import { EMAIL_STATUSES, EMAIL_TYPES } from '../../shared/pure/emails/email-types.ts';
import { MACHINE_REASONS } from '../../shared/pure/engagement/machine-judge.ts';
import { answeredAddress } from '../http/answered-address.ts';
import { cursorFields } from '../http/cursor.ts';
import { model } from '../../shared/pure/model.ts';
import { viewOf } from '../http/view.ts';

const moment = z.iso.datetime().nullable();

/** When an email was sent, and when each report about it arrived. */
export const emailMoments = {
  sentAt: moment,
  deliveredAt: moment,
  openedAt: moment,
  clickedAt: moment,
  bouncedAt: moment,
  complainedAt: moment,
  unsubscribedAt: moment,
  humanOpenedAt: moment,
  humanClickedAt: moment,
};

export const emailSchema = model('Email', 'An email and its state', {
  id: z.uuid(),
  status: z.enum(EMAIL_STATUSES),
  type: z.enum(EMAIL_TYPES).describe('the current type of its campaign or template'),
  to: answeredAddress.nullable().describe('null once its contact was erased'),
  subject: z.string().nullable().describe('cut after 1,000 characters'),
  contactId: z.uuid().nullable(),
  campaignId: z.uuid().nullable(),
  templateId: z.uuid().nullable(),
  topicId: z.uuid().nullable().describe('what it is about'),
  workflowId: z.uuid().nullable(),
  executionId: z.uuid().nullable(),
  error: z.string().nullable().describe('the words of the server, or why it was not sent'),
  deferrals: z.int().describe('attempts after which a server asked for another one'),
  nextAttemptAt: moment,
  scheduledAt: moment.describe('when a scheduled email is due'),
  tags: z.array(z.string()),
  createdAt: z.iso.datetime(),
  ...emailMoments,
  opens: z.int(),
  clicks: z.int(),
});

export const emailListSchema = z.object({ emails: z.array(emailSchema), ...cursorFields });

export const emailStorySchema = model('EmailStory', 'An email, what happened to it, and why it waits', {
  ...emailSchema.shape,
  waiting: model('EmailWait', 'What an email waits for', {
    reason: z
      .enum(WAITING_REASONS)
      .describe(
        '"complaints": its campaign is held, because too many recipients complain; "provider paused": it is held, because the provider or the relay refuses our emails or wants fewer; "traffic rule": a rule for its provider is used up; "warm-up": a source warms up, and what it may send today is used up; "no source": the pool of its stream has no source in use; "no relay": an attempt found no SMTP server; "queued": no attempt was made yet',
      ),
    until: moment.meta({ examples: ['2026-02-04T09:30:00.000Z'] }),
    words: z.string().nullable().describe('of the server, or what else is known of the reason'),
  })
    .nullable()
    .describe('null while it is being sent, or when it has its outcome'),
  timeline: z.array(
    model('TimelineEntry', 'Something that happened to an email', {
      at: z.iso.datetime(),
      type: z.enum(TIMELINE_TYPES),
      server: z.string().optional(),
      words: z.string().optional().describe('of the server, or why it ended'),
      rule: z.string().optional().describe('the rule by which the refusal or the report was judged'),
      bounceType: z.enum(['hard', 'soft']).optional(),
      nextAttemptAt: z.iso
        .datetime()
        .optional()
        .meta({ examples: ['2026-02-04T09:30:00.000Z'] }),
      link: z
        .string()
        .optional()
        .meta({ examples: ['https://example.com/news'] }),
      isMachine: z
        .boolean()
        .optional()
        .meta({ description: 'of an open or a click: whether a machine made it', examples: [false] }),
      machineReason: z.enum(MACHINE_REASONS).optional(),
    }),
  ),
});

const isoOf = (at: Date | null): string | null => at?.toISOString() ?? null;

/** An email as callers see it. */
export const emailView = viewOf(emailSchema, ({ retryAt, tags }: ListedEmail) => ({
  nextAttemptAt: isoOf(retryAt),
  tags: tags ?? [],
}));

function entryView({ at, nextAttemptAt, ...entry }: TimelineEntry) {
  return { at: at.toISOString(), ...entry, ...(nextAttemptAt && { nextAttemptAt: nextAttemptAt.toISOString() }) };
}

/** An email as callers see it, with what happened to it and why it waits. */
export function emailStoryView({ email, waiting, timeline }: EmailStory): z.infer<typeof emailStorySchema> {
  return {
    ...emailView(email),
    waiting: waiting && { reason: waiting.reason, until: isoOf(waiting.until), words: waiting.words },
    timeline: timeline.map(entryView),
  };
}
