import { z } from 'zod';
import type { CampaignCheck } from '../../shared/domain/campaigns/check.ts';

const PROBLEMS = [
  'NO_RECIPIENTS',
  'TEMPLATE_ERROR',
  'DOMAIN_NOT_REGISTERED',
  'DOMAIN_NOT_VERIFIED',
  'DKIM_NOT_ALIGNED',
  'SPF_NOT_ALIGNED',
  'DMARC_MISSING',
  'ONE_CLICK_NOT_HTTPS',
  'CLIPPED_BY_GMAIL',
  'BAD_LINKS',
  'EMPTY_PLACEHOLDERS',
  'NO_PLAIN_TEXT',
] as const;

const problemSchema = z.object({
  code: z.enum(PROBLEMS),
  level: z.enum(['error', 'warning']).describe('with an error the campaign cannot be sent, or not as it is'),
  message: z.string(),
});
type Problem = z.infer<typeof problemSchema>;

/** Gmail shows about so much HTML of a mail and hides the rest, with what stands at its end. */
const GMAIL_BYTES_MAX = 102_000;

export const campaignCheckSchema = z
  .object({
    canBeSent: z.boolean().describe('whether there is no problem of level error'),
    problems: z.array(problemSchema),
    recipients: z.object({
      matching: z.int().describe('contacts that the audience names'),
      queued: z.int().describe('`totalRecipients` of the campaign if it were sent now'),
      receiving: z.int().describe('those of them who will be sent to'),
      notReceiving: z.object({
        unsubscribed: z.int().describe('are not queued'),
        suppressed: z.int().describe('are queued and come out as SUPPRESSED'),
      }),
    }),
    sender: z.object({
      domain: z.string(),
      registered: z.boolean(),
      verified: z.boolean(),
      dkimAligned: z.boolean().describe('signed by the domain of the author'),
      spfAligned: z.boolean().describe('returns to a name of the domain of the author'),
      dmarc: z.boolean().describe('the domain publishes a policy'),
      checkedAt: z.iso.datetime().nullable().describe('when its DNS records were looked up last'),
    }),
    oneClickUnsubscribe: z.object({ required: z.boolean(), https: z.boolean() }),
    size: z
      .object({ htmlBytes: z.int(), textBytes: z.int(), clippedByGmail: z.boolean() })
      .describe('of the mail to the first recipient'),
    badLinks: z.array(z.object({ href: z.string(), reason: z.string() })),
    placeholders: z.object({
      checked: z.int().describe('recipients whose data was looked at: the first ones, by id'),
      empty: z
        .array(z.object({ placeholder: z.string(), recipients: z.int() }))
        .describe('what prints nothing, and for how many of them'),
    }),
    plainText: z.boolean().describe('whether there is text for those who see no HTML'),
    templateError: z.string().nullable(),
    duration: z
      .object({
        seconds: z.int(),
        emailsPerSecond: z.number(),
        basis: z.enum(['limit', 'measured']).describe('the limit of the project, or its speed within the last day'),
      })
      .nullable()
      .describe('how long the sending will take; null where nothing is known of the speed'),
  })
  .meta({ id: 'CampaignCheck' });

function errorsOf({ audience, sender, content }: CampaignCheck): Problem[] {
  const { domain, isRegistered, isVerified } = sender;
  const found: [boolean, Problem['code'], string][] = [
    [audience.queued === 0, 'NO_RECIPIENTS', 'Nobody would get it.'],
    [content.fault !== null, 'TEMPLATE_ERROR', content.fault ?? ''],
    [!isRegistered, 'DOMAIN_NOT_REGISTERED', `The domain ${domain} is not registered with this project.`],
    [isRegistered && !isVerified, 'DOMAIN_NOT_VERIFIED', `The domain ${domain} is not verified yet.`],
  ];
  return found.flatMap(([isSo, code, message]) => (isSo ? [{ code, level: 'error' as const, message }] : []));
}

function warningsOf({ sender, content, placeholders, oneClick }: CampaignCheck): Problem[] {
  const { domain } = sender;
  const { badLinks, hasPlainText, htmlBytes } = content;
  const found: [boolean, Problem['code'], string][] = [
    [!sender.isDkimAligned, 'DKIM_NOT_ALIGNED', `The mail is not signed by ${domain}: its DKIM record was not found.`],
    [!sender.isSpfAligned, 'SPF_NOT_ALIGNED', `The return path is not below ${domain}: its MX or SPF was not found.`],
    [!sender.hasDmarc, 'DMARC_MISSING', `${domain} has no DMARC policy, which large providers ask of bulk senders.`],
    [
      oneClick.isRequired && !oneClick.isHttps,
      'ONE_CLICK_NOT_HTTPS',
      'One-click unsubscribing works over https only: PUBLIC_URL is not https.',
    ],
    [htmlBytes > GMAIL_BYTES_MAX, 'CLIPPED_BY_GMAIL', 'Gmail hides what is behind about 102 kB of HTML.'],
    [badLinks.length > 0, 'BAD_LINKS', 'Some links lead nowhere.'],
    [placeholders.empty.length > 0, 'EMPTY_PLACEHOLDERS', 'Some placeholders print nothing for some recipients.'],
    [!hasPlainText, 'NO_PLAIN_TEXT', 'The mail has no text for those who see no HTML.'],
  ];
  return found.flatMap(([isSo, code, message]) => (isSo ? [{ code, level: 'warning' as const, message }] : []));
}

/** A check as callers see it. */
export function campaignCheckView(check: CampaignCheck): z.infer<typeof campaignCheckSchema> {
  const { audience, sender, content, placeholders, oneClick, speed } = check;
  const { matching, queued, receiving, unsubscribed, suppressed } = audience;
  const errors = errorsOf(check);
  return {
    canBeSent: errors.length === 0,
    problems: [...errors, ...warningsOf(check)],
    recipients: { matching, queued, receiving, notReceiving: { unsubscribed, suppressed } },
    sender: {
      domain: sender.domain,
      registered: sender.isRegistered,
      verified: sender.isVerified,
      dkimAligned: sender.isDkimAligned,
      spfAligned: sender.isSpfAligned,
      dmarc: sender.hasDmarc,
      checkedAt: sender.checkedAt?.toISOString() ?? null,
    },
    oneClickUnsubscribe: { required: oneClick.isRequired, https: oneClick.isHttps },
    size: {
      htmlBytes: content.htmlBytes,
      textBytes: content.textBytes,
      clippedByGmail: content.htmlBytes > GMAIL_BYTES_MAX,
    },
    badLinks: content.badLinks,
    placeholders,
    plainText: content.hasPlainText,
    templateError: content.fault,
    duration: speed ? { seconds: Math.ceil(receiving / speed.emailsPerSecond), ...speed } : null,
  };
}
