import { z } from 'zod';
import { lineSchema } from '../../shared/pure/brand.ts';
import { NAME_LENGTH_MAX } from '../../shared/pure/copy-name.ts';
import { LANGUAGES } from '../../shared/pure/languages/languages.ts';
import { DEFAULT_SUBSCRIPTIONS, TOPIC_KEY, VISIBILITIES } from '../../shared/pure/topics.ts';
import { offsetPageQuery, offsetPageSchema, searchQuery, sortQuery } from '../http/pagination.ts';
import { campaignReferenceSchema, referenceSchema, stepReferenceSchema } from '../http/references.ts';
import { model } from '../../shared/pure/model.ts';
import { viewOf } from '../http/view.ts';

const DESCRIPTION_LENGTH_MAX = 1_000;

const name = lineSchema(NAME_LENGTH_MAX);
const description = z
  .string()
  .max(DESCRIPTION_LENGTH_MAX)
  .meta({ examples: ['Once a month'] });

const texts = z
  .partialRecord(
    z.enum(LANGUAGES),
    model('TopicText', 'What readers see of a topic in one language', { name, description: description.optional() }),
  )
  .meta({
    description: 'Name and description in further languages, by language; readers without one see those above',
    examples: [{ de: { name: 'Neuigkeiten', description: 'Einmal im Monat' } }],
  });

const fields = {
  key: z
    .string()
    .regex(TOPIC_KEY, 'Must be 1 to 63 of a-z, 0-9, _ and -, the first one a letter or a digit')
    .meta({ description: 'Names the topic in requests, imports and filters; it never changes', examples: ['news'] }),
  name: name.meta({ description: 'What readers see', examples: ['News'] }),
  description: description.nullable().describe('What readers get; they see it on the preference page'),
  texts,
  defaultSubscription: z
    .enum(DEFAULT_SUBSCRIPTIONS)
    .describe(
      'opt_in: every subscribed contact gets it until they leave it; opt_out: only those who joined it get it. It never changes',
    ),
  visibility: z.enum(VISIBILITIES).describe('Whether readers see it on the preference page'),
  doubleOptIn: z
    .boolean()
    .nullable()
    .describe('Whether a subscription through a form has to be confirmed; null means as the project says'),
};

export const createTopicBody = z.object({
  ...fields,
  description: fields.description.optional(),
  texts: texts.optional(),
  visibility: fields.visibility.default('public'),
  doubleOptIn: fields.doubleOptIn.optional(),
});

export const patchTopicBody = z.object(fields).partial();

export const topicSchema = model('Topic', 'Something that contacts may join and leave, such as a newsletter', {
  id: z.uuid(),
  ...fields,
  projectId: z.uuid(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

/** A topic as callers see it. */
export const topicView = viewOf(topicSchema);

export const topicListQuery = z.object({
  ...offsetPageQuery,
  search: searchQuery,
  ...sortQuery(['createdAt', 'key', 'name', 'updatedAt']),
});
export const topicListSchema = offsetPageSchema(topicSchema, 'TopicPage');

export const topicUsageSchema = model('TopicUsage', 'What uses a topic, and how many contacts have it', {
  campaigns: z.array(campaignReferenceSchema),
  templates: z.array(referenceSchema),
  workflowSteps: z.array(stepReferenceSchema),
  segments: z.array(referenceSchema),
  contacts: model('TopicCounts', 'How many contacts have the topic', {
    subscribed: z.int().describe('Who has the topic, by choice or by default'),
    joined: z.int().describe('Who has chosen it'),
    left: z.int().describe('Who has left it'),
  }),
});
