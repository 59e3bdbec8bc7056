import { z } from 'zod';
import type { CampaignCheck } from '../../shared/domain/campaigns/check.ts';
import { listOf, model } from '../../shared/pure/model.ts';

const PROBLEMS = [
  'NO_RECIPIENTS',
  'TEMPLATE_ERROR',
  'DOMAIN_NOT_REGISTERED',
  'DOMAIN_NOT_VERIFIED',
  'DKIM_NOT_ALIGNED',
  'SPF_NOT_ALIGNED',
  'DMARC_MISSING',
  'ONE_CLICK_NOT_HTTPS',
  'NOBODY_IN_TOPIC',
  'CLIPPED_BY_GMAIL',
  'BAD_LINKS',
  'EMPTY_PLACEHOLDERS',
  'FOREIGN_PLACEHOLDERS',
  'NO_PLAIN_TEXT',
  'WARM_UP',
] as const;

const problemSchema = model('CampaignProblem', 'Something that stops a campaign, or is worth a look', {
  code: z.enum(PROBLEMS).describe('The kind of problem'),
  level: z.enum(['error', 'warning']).describe('With an error the campaign cannot be sent, or not as it is'),
  message: z.string(),
});
type Problem = z.infer<typeof problemSchema>;

/** Gmail shows about this much HTML of an email and hides the rest. */
const GMAIL_BYTES_MAX = 102_000;

const recipientsSchema = model('CampaignRecipients', 'Who will get the campaign, counted at this moment', {
  matching: z.int().describe('Contacts that the audience names'),
  queued: z.int().describe('`totalRecipients` of the campaign if it were sent now'),
  receiving: z.int().describe('Queued recipients who will be sent to'),
  notReceiving: model('CampaignNotReceiving', 'Contacts of the audience who get nothing, by the reason', {
    unsubscribed: z.int().describe('They are not queued'),
    pending: z.int().describe('They have not confirmed their subscription, and are not queued'),
    paused: z.int().describe('They have paused marketing, and are not queued'),
    topic: z.int().describe('They left the topic, or never joined one that has to be joined, and are not queued'),
    suppressed: z.int().describe('They are queued and come out as SUPPRESSED'),
  }),
});

const senderSchema = model('CampaignSender', 'What receivers can verify of the sender', {
  domain: z.string(),
  registered: z.boolean().describe('Whether the project has the domain'),
  verified: z.boolean(),
  dkimAligned: z.boolean().describe('Whether the domain of the author signs'),
  spfAligned: z.boolean().describe('Whether the return path is below the domain of the author'),
  dmarc: z.boolean().describe('Whether the domain publishes a policy'),
  checkedAt: z.iso.datetime().nullable().describe('When its DNS records were looked up last'),
});

const durationSchema = model(
  'CampaignDuration',
  'How long the sending will take at least: traffic rules and providers that slow down make it longer',
  {
    seconds: z.int().meta({ description: 'Seconds from the first email to the last', examples: [420] }),
    emailsPerSecond: z.number().meta({ description: 'The speed that this assumes', examples: [50] }),
    basis: z.enum(['limit', 'measured']).describe('The limit of the project, or its speed within the last day'),
  },
);

export const campaignCheckSchema = model('CampaignCheck', 'What would happen if a campaign were sent now', {
  canBeSent: z.boolean().describe('Whether there is no problem of level error'),
  problems: z.array(problemSchema).describe('What was found, errors first'),
  recipients: recipientsSchema,
  sender: senderSchema,
  oneClickUnsubscribe: model('CampaignOneClick', 'One-click unsubscribing (RFC 8058)', {
    required: z.boolean().describe('Whether its type asks for one-click unsubscribing'),
    https: z.boolean().describe('Whether PUBLIC_URL is https, which one-click unsubscribing needs'),
  }),
  size: model('CampaignSize', 'The size of the email to the first recipient', {
    htmlBytes: z.int().describe('Octets of the HTML'),
    textBytes: z.int().describe('Octets of the plain text'),
    clippedByGmail: z.boolean().describe('Whether Gmail hides the end'),
  }),
  badLinks: listOf('CampaignBadLink', 'A link that leads nowhere', 'Links that lead nowhere', {
    href: z.string().describe('The link as it is written'),
    reason: z.string(),
  }),
  placeholders: model('CampaignPlaceholders', 'Placeholders without a value', {
    checked: z.int().describe('Recipients whose data was checked: the first ones, by id'),
    empty: listOf(
      'CampaignEmptyPlaceholder',
      'A placeholder that prints nothing for some',
      'Placeholders that print nothing, and for how many recipients',
      {
        placeholder: z.string().describe('The placeholder as it is written'),
        recipients: z.int(),
      },
    ),
  }),
  plainText: z.boolean().describe('Whether there is text for those who see no HTML'),
  templateError: z.string().nullable().describe('Why the template cannot be rendered; null where it can'),
  duration: durationSchema.nullable().describe('Null when no speed is known'),
  warmUp: model('CampaignWarmUp', 'How many days it takes, because sources warm up', {
    days: z.int().meta({ description: 'The day on which the last email goes; 1 is today', examples: [3] }),
    provider: z.string().describe('The provider that takes the most days'),
  })
    .nullable()
    .describe('Null when no warm-up holds it for longer than today'),
});

type Finding = [isFound: boolean, code: Problem['code'], message: string];

function problemsOf(level: Problem['level'], findings: Finding[]): Problem[] {
  return findings.flatMap(([isFound, code, message]) => (isFound ? [{ code, level, message }] : []));
}

function errorsOf({ audience, sender, content }: CampaignCheck): Problem[] {
  const { domain, isRegistered, isVerified } = sender;
  return problemsOf('error', [
    [audience.queued === 0, 'NO_RECIPIENTS', 'Nobody would get it.'],
    [content.fault !== null, 'TEMPLATE_ERROR', content.fault ?? ''],
    [!isRegistered, 'DOMAIN_NOT_REGISTERED', `The domain ${domain} is not registered with this project.`],
    [isRegistered && !isVerified, 'DOMAIN_NOT_VERIFIED', `The domain ${domain} is not verified yet.`],
  ]);
}

function warningsOf({ audience, sender, content, placeholders, oneClick, warmUp }: CampaignCheck): Problem[] {
  const { domain } = sender;
  const { badLinks, hasPlainText, htmlBytes, lookAlikes } = content;
  return problemsOf('warning', [
    [
      audience.queued === 0 && audience.topic > 0,
      'NOBODY_IN_TOPIC',
      'The topic leaves out everybody who could get it: they left it, or have not joined it.',
    ],
    [!sender.isDkimAligned, 'DKIM_NOT_ALIGNED', `The email is not signed by ${domain}: its DKIM record was not found.`],
    [!sender.isSpfAligned, 'SPF_NOT_ALIGNED', `The return path is not below ${domain}: its MX or SPF was not found.`],
    [!sender.hasDmarc, 'DMARC_MISSING', `${domain} has no DMARC policy, which large providers ask of bulk senders.`],
    [
      oneClick.isRequired && !oneClick.isHttps,
      'ONE_CLICK_NOT_HTTPS',
      'One-click unsubscribing works over https only: PUBLIC_URL is not https.',
    ],
    [htmlBytes > GMAIL_BYTES_MAX, 'CLIPPED_BY_GMAIL', 'Gmail hides all HTML after about 102 kB.'],
    [badLinks.length > 0, 'BAD_LINKS', 'Some links lead nowhere.'],
    [placeholders.empty.length > 0, 'EMPTY_PLACEHOLDERS', 'Some placeholders print nothing for some recipients.'],
    [
      lookAlikes.length > 0,
      'FOREIGN_PLACEHOLDERS',
      `${lookAlikes.join(', ')}: placeholders of another language go out as they are; write {{name}}.`,
    ],
    [!hasPlainText, 'NO_PLAIN_TEXT', 'The email has no text for those who see no HTML.'],
    [warmUp !== undefined, 'WARM_UP', warmUp?.words ?? ''],
  ]);
}

/** A check as callers see it. */
export function campaignCheckView(check: CampaignCheck): z.infer<typeof campaignCheckSchema> {
  const { audience, sender, content, placeholders, oneClick, speed, warmUp } = check;
  const { matching, queued, receiving, ...notReceiving } = audience;
  const errors = errorsOf(check);
  return {
    canBeSent: errors.length === 0,
    problems: [...errors, ...warningsOf(check)],
    recipients: { matching, queued, receiving, notReceiving },
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
    warmUp: warmUp ? { days: warmUp.days, provider: warmUp.provider } : null,
  };
}
