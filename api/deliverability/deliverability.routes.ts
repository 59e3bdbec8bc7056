import { z } from 'zod';
import { readDeliverability, type DeliverabilityResult } from '../../shared/domain/emails/deliverability.ts';
import { SIGN_RULES, type DayNumbers } from '../../shared/pure/deliverability.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { percent } from '../http/percent.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import { model } from '../../shared/pure/model.ts';

const endpoint = endpointsOf('Activity');

const DAYS_DEFAULT = 30;
const NAME_LENGTH_MAX = 255;
const name = z.string().trim().min(1).max(NAME_LENGTH_MAX).optional();

const deliverabilityQuery = z.object({
  days: z.coerce
    .number()
    .max(LIMITS.deliverabilityDays, { abort: true })
    .int()
    .min(1)
    .default(DAYS_DEFAULT)
    .describe('How many days in UTC, with today'),
  provider: name.pipe(z.string().toLowerCase().optional()).meta({
    description: 'One provider only, also by a domain of its people, such as hotmail.com for outlook.com',
    examples: ['gmail.com'],
  }),
  source: name.describe('One source only, by its name'),
});

const count = (example: number) =>
  z
    .int()
    .nullable()
    .meta({ examples: [example] });
const rate = (example: number) =>
  z
    .number()
    .nullable()
    .meta({ examples: [example] });
const numbers = {
  offered: count(1_200),
  accepted: count(1_140),
  deferredSpeed: count(0),
  deferredReputation: count(144),
  deferredOther: count(12),
  refusedMailbox: count(6),
  refusedReputation: count(4),
  refusedOther: count(0),
  complaints: count(1),
  acceptedRate: rate(95),
  deferredRate: rate(13),
  refusedRate: rate(0.8),
  hardBounceRate: rate(0.5),
  complaintRate: rate(0.1),
  deliverySeconds: rate(42.5),
};

const resultSchema = model(
  'DeliverabilityResult',
  'What a provider made of the emails of a source, or of the project',
  {
    source: z
      .string()
      .nullable()
      .meta({ examples: ['mx1'] }),
    provider: z.string(),
    totals: model('DeliverabilityNumbers', 'What a provider made of emails', numbers),
    days: z.array(
      model('DeliverabilityDay', 'What a provider made of the emails of a day in UTC', {
        date: z.iso.date(),
        ...numbers,
      }),
    ),
    signs: z.array(
      model('DeliverabilitySign', 'Something that a provider has against our mail now', {
        sign: z.enum(SIGN_RULES.map(({ sign }) => sign)),
        isUrgent: z.boolean().meta({ examples: [true] }),
        percent: z.number().meta({ examples: [12] }),
        since: z.iso.date().meta({ examples: ['2026-02-03'] }),
        sentence: z.string().meta({ examples: ['Outlook defers 12 % for reputation since Tuesday'] }),
      }),
    ),
    warmUpReason: z
      .string()
      .nullable()
      .meta({
        description:
          'Why the warm-up of the source repeats a day or stepped back at the provider; null where it did not',
        examples: ['2026-02-03 is repeated: 6 % of the mailboxes do not exist'],
      }),
  },
);

export const deliverabilitySchema = model('Deliverability', 'What providers make of our mail', {
  from: z.iso.date(),
  to: z.iso.date(),
  isOfProject: z.boolean(),
  results: z.array(resultSchema),
});

/** The numbers as the API shows them; null where nobody has counted. */
function numbersView(day: DayNumbers): z.infer<typeof resultSchema>['totals'] {
  const { offered, accepted, complaints, deliveryMs } = day;
  const sumOf = (kind: string): number =>
    Object.entries(day).reduce((sum, [each, value]) => (each.startsWith(kind) ? sum + value : sum), 0);
  const rateOf = (part: number | undefined): number | null =>
    offered === undefined ? null : percent(part ?? 0, offered);
  const counts = ['offered', 'accepted', 'complaints', ...SIGN_RULES.map(({ sign }) => sign)] as const;
  return {
    ...(Object.fromEntries(counts.map((each) => [each, day[each] ?? null])) as Record<
      (typeof counts)[number],
      number | null
    >),
    acceptedRate: rateOf(accepted),
    deferredRate: rateOf(sumOf('deferred')),
    refusedRate: rateOf(sumOf('refused')),
    hardBounceRate: rateOf(day.refusedMailbox),
    complaintRate: percent(complaints ?? 0, accepted ?? 0),
    deliverySeconds: deliveryMs !== undefined && accepted ? Math.round(deliveryMs / accepted) / 1_000 : null,
  };
}

const resultView = ({ totals, days, ...result }: DeliverabilityResult): z.infer<typeof resultSchema> => ({
  ...result,
  totals: numbersView(totals),
  days: days.map((day) => ({ date: day.day, ...numbersView(day) })),
});

const deliverability = endpoint('getDeliverability', 'GET /deliverability', {
  roles: ['marketing', 'read'],
  isHeavy: true,
  summary: 'What providers make of our mail, by source and by day',
  description:
    'What was offered, accepted, deferred, refused and reported as spam, and what a provider has against our mail now, in plain sentences. Sources carry the mail of all projects, so their numbers are shown to a project that is alone in the installation. With more projects, each sees what was counted of its own mail: the emails that were accepted and the complaints of the last days; the other numbers are null. At most 100 results, those with the most emails.',
  query: deliverabilityQuery,
  replies: {
    200: { description: 'The results', schema: deliverabilitySchema },
  },
  async handle({ em, project, query, deps: { providerOf } }) {
    const { results, ...range } = await readDeliverability(em, query, providerOf, project.id);
    return ok({ ...range, results: results.map(resultView) });
  },
});

export const deliverabilityEndpoints: Endpoint[] = [deliverability];
