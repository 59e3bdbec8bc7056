import { z } from 'zod';
import { computeMembershipNow } from '../../shared/domain/segments/compute-membership.ts';
import { refreshMemberCount } from '../../shared/domain/segments/refresh-segments.ts';
import { listSegmentContacts } from '../../shared/domain/segments/segment-contacts.ts';
import { addMembers, removeMembers } from '../../shared/domain/segments/segment-members.ts';
import {
  createSegment,
  deleteSegment,
  findSegment,
  listSegments,
  updateSegment,
} from '../../shared/domain/segments/segments.ts';
import { contactViews } from '../contacts/contact.view.ts';
import { created, endpointsOf, type Endpoint, isFilled, noContent, ok } from '../http/endpoint.ts';
import { offsetPage } from '../http/pagination.ts';
import { segmentSchema, segmentView } from './segment.view.ts';
import {
  addedMembersSchema,
  addMembersBody,
  computedMembershipSchema,
  createSegmentBody,
  patchSegmentBody,
  refreshedSegmentSchema,
  removedMembersSchema,
  removeMembersBody,
  segmentContactsQuery,
  segmentContactsSchema,
} from './segments.schemas.ts';

const endpoint = endpointsOf('Segments', 'SEGMENT_NOT_FOUND');

function hasCondition(body: Record<string, unknown>): boolean {
  const { type, condition } = body;
  return type === 'STATIC' || (typeof condition === 'object' && condition !== null && !Array.isArray(condition));
}

const list = endpoint('listSegments', 'GET /segments', {
  roles: ['marketing', 'support', 'read'],
  summary: 'List all segments, newest first',
  replies: { 200: { description: 'The segments', schema: z.array(segmentSchema) } },
  handle: async ({ em, project }) => ok((await listSegments(em, project.id)).map(segmentView)),
});

const create = endpoint('createSegment', 'POST /segments', {
  roles: ['marketing'],
  summary: 'Create a segment',
  body: createSegmentBody,
  flatRequirements: [
    { message: 'Name is required', isMet: (body) => isFilled(body['name']) },
    { message: 'Condition is required and must be an object for DYNAMIC segments', isMet: hasCondition },
  ],
  replies: { 201: { description: 'The segment', schema: segmentSchema } },
  handle: async ({ em, project, body }) => created(segmentView(await createSegment(em, project.id, body))),
});

const get = endpoint('getSegment', 'GET /segments/:id', {
  roles: ['marketing', 'support', 'read'],
  summary: 'Get a segment with its cached member count',
  replies: { 200: { description: 'The segment', schema: segmentSchema } },
  handle: async ({ em, project, params }) => ok(segmentView(await findSegment(em, project.id, params.id))),
});

const patch = endpoint('updateSegment', 'PATCH /segments/:id', {
  roles: ['marketing'],
  summary: 'Change the given fields of a segment',
  body: patchSegmentBody,
  replies: { 200: { description: 'The segment after the change', schema: segmentSchema } },
  handle: async ({ em, project, params, body }) =>
    ok(segmentView(await updateSegment(em, project.id, params.id, body))),
});

const remove = endpoint('deleteSegment', 'DELETE /segments/:id', {
  roles: ['marketing'],
  summary: 'Delete a segment; its contacts stay',
  replies: { 204: { description: 'Deleted' } },
  errors: ['CONFLICT'],
  handle: ({ em, project, params }) => noContent(deleteSegment(em, project.id, params.id)),
});

const contacts = endpoint('listSegmentContacts', 'GET /segments/:id/contacts', {
  roles: ['marketing', 'support', 'read'],
  isHeavy: true,
  summary: 'List the contacts of a segment by page; a dynamic segment is evaluated now',
  query: segmentContactsQuery,
  replies: { 200: { description: 'A page of contacts', schema: segmentContactsSchema } },
  async handle({ em, project, params, query }) {
    const segment = await findSegment(em, project.id, params.id);
    const { contacts: page, total } = await listSegmentContacts(em, segment, query);
    return ok(offsetPage(await contactViews(em, project.id, page), total, query));
  },
});

const addToSegment = endpoint('addSegmentMembers', 'POST /segments/:id/members', {
  roles: ['marketing'],
  summary: 'Add contacts to a static segment by address',
  body: addMembersBody,
  replies: { 200: { description: 'How many joined, and addresses without a contact', schema: addedMembersSchema } },
  handle: async ({ em, project, params, body }) => ok(await addMembers(em, project.id, params.id, body)),
});

const removeFromSegment = endpoint('removeSegmentMembers', 'DELETE /segments/:id/members', {
  roles: ['marketing'],
  summary: 'Remove contacts from a static segment by address',
  body: removeMembersBody,
  replies: { 200: { description: 'How many left', schema: removedMembersSchema } },
  handle: async ({ em, project, params, body }) =>
    ok({ removed: await removeMembers(em, project.id, params.id, body.emails) }),
});

const compute = endpoint('computeSegment', 'POST /segments/:id/compute', {
  roles: ['marketing'],
  isHeavy: true,
  summary: 'Recompute the members of a tracked dynamic segment',
  description: 'Emits segment.<slug>.entry and segment.<slug>.exit for every contact that joins or leaves.',
  replies: { 200: { description: 'What has changed', schema: computedMembershipSchema } },
  errors: ['CONFLICT'],
  handle: async ({ em, project, params }) => ok(await computeMembershipNow(em, project.id, params.id)),
});

const refresh = endpoint('refreshSegment', 'POST /segments/:id/refresh', {
  roles: ['marketing'],
  isHeavy: true,
  summary: 'Count the contacts of a segment now; no members and no events change',
  replies: { 200: { description: 'The count', schema: refreshedSegmentSchema } },
  handle: async ({ em, project, params }) => ok({ memberCount: await refreshMemberCount(em, project.id, params.id) }),
});

export const segmentEndpoints: Endpoint[] = [
  list,
  create,
  get,
  patch,
  remove,
  contacts,
  addToSegment,
  removeFromSegment,
  compute,
  refresh,
];
