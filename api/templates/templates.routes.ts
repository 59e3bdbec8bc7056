import { findStepsUsingTemplate } from '../../shared/domain/automations/automations.ts';
import { withReplyAddress } from '../../shared/domain/emails/reply-addresses.ts';
import {
  countTemplateEmails,
  createTemplate,
  deleteTemplate,
  duplicateTemplate,
  findTemplate,
  listTemplates,
  updateTemplate,
} from '../../shared/domain/templates/templates.ts';
import { created, endpointsOf, type Endpoint, isFilled, noContent, ok } from '../http/endpoint.ts';
import { recordPageReply } from '../http/pagination.ts';
import { replyToUse } from './reply-to.ts';
import { templateSchema, templateView } from './template.view.ts';
import {
  createTemplateBody,
  patchTemplateBody,
  templateListQuery,
  templateListSchema,
  templateUsageSchema,
} from './templates.schemas.ts';

const endpoint = endpointsOf('Templates', 'TEMPLATE_NOT_FOUND');

const list = endpoint('listTemplates', 'GET /templates', {
  roles: ['marketing', 'read'],
  summary: 'List templates by page',
  query: templateListQuery,
  replies: { 200: { description: 'A page of templates', schema: templateListSchema } },
  handle: async ({ em, project, query }) =>
    recordPageReply(await listTemplates(em, project.id, query), templateView, query),
});

const create = endpoint('createTemplate', 'POST /templates', {
  roles: ['marketing'],
  summary: 'Create a template',
  body: createTemplateBody,
  flatRequirements: [
    { message: 'Name is required', isMet: (body) => isFilled(body['name']) },
    { message: 'Subject is required', isMet: (body) => isFilled(body['subject']) },
    { message: 'Body is required', isMet: (body) => isFilled(body['body']) },
    { message: 'From address is required', isMet: (body) => isFilled(body['from']) },
  ],
  replies: { 201: { description: 'The template', schema: templateSchema } },
  errors: ['SENDER_DOMAIN_REFUSED', 'TOPIC_NOT_FOUND'],
  async handle({ em, project, body, deps }) {
    const use = replyToUse(deps.config, project.id, body.replyTo);
    return created(templateView(await withReplyAddress(em, use, (tx) => createTemplate(tx, project.id, body))));
  },
});

const get = endpoint('getTemplate', 'GET /templates/:id', {
  roles: ['marketing', 'read'],
  summary: 'Get a template',
  replies: { 200: { description: 'The template', schema: templateSchema } },
  handle: async ({ em, project, params }) => ok(templateView(await findTemplate(em, project.id, params.id))),
});

const patch = endpoint('updateTemplate', 'PATCH /templates/:id', {
  roles: ['marketing'],
  summary: 'Change the given fields of a template',
  body: patchTemplateBody,
  replies: { 200: { description: 'The template after the change', schema: templateSchema } },
  errors: ['SENDER_DOMAIN_REFUSED', 'TOPIC_NOT_FOUND'],
  async handle({ em, project, params, body, deps }) {
    const use = replyToUse(deps.config, project.id, body.replyTo);
    return ok(templateView(await withReplyAddress(em, use, (tx) => updateTemplate(tx, project.id, params.id, body))));
  },
});

const remove = endpoint('deleteTemplate', 'DELETE /templates/:id', {
  roles: ['marketing'],
  summary: 'Delete a template; emails already sent stay on record',
  replies: { 204: { description: 'Deleted' } },
  handle: ({ em, project, params }) => noContent(deleteTemplate(em, project.id, params.id)),
});

const duplicate = endpoint('duplicateTemplate', 'POST /templates/:id/duplicate', {
  roles: ['marketing'],
  summary: 'Copy a template',
  replies: { 201: { description: 'The copy, named "<name> (Copy)"', schema: templateSchema } },
  handle: async ({ em, project, params }) => created(templateView(await duplicateTemplate(em, project.id, params.id))),
});

const usage = endpoint('getTemplateUsage', 'GET /templates/:id/usage', {
  roles: ['marketing', 'read'],
  isHeavy: true,
  summary: 'Where a template is used',
  description: 'Campaigns have content of their own, so none refers to a template.',
  replies: { 200: { description: 'What uses it, and how many emails were sent from it', schema: templateUsageSchema } },
  async handle({ em, project, params }) {
    const emailsSent = await countTemplateEmails(em, project.id, params.id);
    return ok({ campaigns: [], workflowSteps: await findStepsUsingTemplate(em, project.id, params.id), emailsSent });
  },
});

export const templateEndpoints: Endpoint[] = [list, create, get, patch, remove, duplicate, usage];
