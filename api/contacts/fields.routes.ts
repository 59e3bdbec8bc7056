import { z } from 'zod';
import { FIELD_TYPES } from '../../shared/pure/contacts/custom-data.ts';
import { deleteField } from '../../shared/domain/contact-jobs/delete-field.ts';
import {
  findFieldUsage,
  listFields,
  listFieldValues,
  findCustomFieldPath,
  findField,
} from '../../shared/domain/usage/field-catalogue.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import { itemCount } from '../http/pagination.ts';
import { campaignReferenceSchema, referenceSchema } from '../http/references.ts';

const endpoint = endpointsOf('Contacts');

const VALUES_DEFAULT = 100;
const VALUES_MAX = 1_000;

const oneField = {
  params: z.object({
    field: z.string().min(1).max(1_000).meta({ description: '`email`, `data.plan`, or `plan` for short' }),
  }),
} as const;

const fieldSchema = z
  .object({
    field: z.string(),
    type: z.enum(FIELD_TYPES),
    isCustom: z.boolean(),
    coverage: z.number().min(0).max(1),
  })
  .meta({ id: 'ContactField', description: 'A field of contacts' });

const valuesQuery = z.object({ limit: itemCount(VALUES_DEFAULT, VALUES_MAX) });

const usageSchema = z
  .object({
    usedInSegments: z.array(referenceSchema),
    usedInCampaigns: z.array(campaignReferenceSchema),
    usedInWorkflows: z.array(referenceSchema),
    contactCount: z.int(),
  })
  .meta({ id: 'FieldUsage', description: 'What uses a field' });

const list = endpoint('listContactFields', 'GET /contacts/fields', {
  roles: ['marketing', 'support', 'read'],
  summary: 'List standard and custom fields with their types and coverage',
  replies: {
    200: {
      description: 'The fields',
      schema: z.object({ fields: z.array(fieldSchema) }).meta({ id: 'ContactFields', description: 'The fields' }),
    },
  },
  handle: async ({ em, project }) => ok({ fields: await listFields(em, project.id) }),
});

const values = endpoint('listContactFieldValues', 'GET /contacts/fields/:field/values', {
  ...oneField,
  roles: ['marketing', 'support', 'read'],
  isHeavy: true,
  summary: 'List distinct values of a field, the most frequent first',
  query: valuesQuery,
  replies: {
    200: {
      description: 'The values',
      schema: z
        .object({ field: z.string(), values: z.array(z.unknown()), count: z.int(), limit: z.int() })
        .meta({ id: 'FieldValues', description: 'Distinct values of a field' }),
    },
  },
  errors: ['RESOURCE_NOT_FOUND', 'BAD_REQUEST'],
  async handle({ em, project, params, query }) {
    const field = await findField(em, project.id, params.field);
    const found = await listFieldValues(em, project.id, field, query.limit);
    return ok({ field: field.name, values: found, count: found.length, limit: query.limit });
  },
});

const usage = endpoint('getContactFieldUsage', 'GET /contacts/fields/:field/usage', {
  ...oneField,
  roles: ['marketing', 'support', 'read'],
  isHeavy: true,
  summary: 'Which segments, campaigns and workflows refer to a field',
  replies: { 200: { description: 'What uses it', schema: usageSchema } },
  errors: ['RESOURCE_NOT_FOUND', 'BAD_REQUEST'],
  handle: async ({ em, project, params }) =>
    ok(await findFieldUsage(em, project.id, await findField(em, project.id, params.field))),
});

const deletionSchema = z
  .object({
    deletedFrom: z.int(),
    jobId: z.uuid().optional().meta({ description: 'The job that removes it, when many contacts have it' }),
  })
  .meta({ id: 'FieldDeletion', description: 'From how many contacts a field is removed' });

const remove = endpoint('deleteContactField', 'DELETE /contacts/fields/:field', {
  ...oneField,
  roles: ['marketing'],
  isHeavy: true,
  summary: 'Remove a custom field from every contact',
  replies: {
    200: { description: 'From how many contacts it was removed', schema: deletionSchema },
    202: { description: 'From how many it is being removed; poll /contacts/bulk/{jobId}', schema: deletionSchema },
  },
  errors: ['RESOURCE_NOT_FOUND', 'BAD_REQUEST'],
  async handle({ em, project, params }) {
    const deletion = await deleteField(em, project.id, await findCustomFieldPath(em, project.id, params.field));
    if (deletion.jobId === undefined) return ok(deletion);
    return { status: 202, data: deletion };
  },
});

export const fieldEndpoints: Endpoint[] = [list, values, usage, remove];
