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
import { model } from '../../shared/pure/model.ts';

const endpoint = endpointsOf('Contacts');

const VALUES_DEFAULT = 100;
const VALUES_MAX = 1_000;

const oneField = {
  params: z.object({
    field: z.string().min(1).max(1_000).describe('`email`, `data.plan`, or `plan` for short'),
  }),
} as const;

const fieldSchema = model('ContactField', 'A field of contacts', {
  field: z.string(),
  type: z.enum(FIELD_TYPES),
  isCustom: z.boolean(),
  coverage: z.number().min(0).max(1),
});

const valuesQuery = z.object({ limit: itemCount(VALUES_DEFAULT, VALUES_MAX) });

const usageSchema = model('FieldUsage', 'What uses a field', {
  usedInSegments: z.array(referenceSchema),
  usedInCampaigns: z.array(campaignReferenceSchema),
  usedInWorkflows: z.array(referenceSchema),
  contactCount: z.int(),
});

const list = endpoint('listContactFields', 'GET /contacts/fields', {
  roles: ['marketing', 'support', 'read'],
  summary: 'List standard and custom fields with their types and coverage',
  replies: {
    200: {
      description: 'The fields',
      schema: model('ContactFields', 'The fields', { fields: z.array(fieldSchema) }),
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
      schema: model('FieldValues', 'Distinct values of a field', {
        field: z.string(),
        values: z.array(z.unknown()),
        count: z.int(),
        limit: z.int(),
      }),
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

const deletionSchema = model('FieldDeletion', 'From how many contacts a field is removed', {
  deletedFrom: z.int(),
  jobId: z.uuid().optional().describe('The job that removes it, when many contacts have it'),
});

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
