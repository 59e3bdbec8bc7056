import { AppError } from '../../shared/pure/app-error.ts';
import { listContacts } from '../../shared/domain/contacts/contact-list.ts';
import { setTrackingAllowed } from '../../shared/domain/contacts/contact-choices.ts';
import { findContact, patchContact, upsertContacts } from '../../shared/domain/contacts/contacts.ts';
import { chooseTopics } from '../../shared/domain/topics/topic-choices.ts';
import { deleteContacts } from '../../shared/domain/lifecycle/delete-contacts.ts';
import { eraseAtOnce } from '../../shared/domain/lifecycle/erase-contacts.ts';
import { endpointsOf, type Endpoint, isFilled, noContent, ok } from '../http/endpoint.ts';
import { searchByBody } from '../http/search-by-body.ts';
import { contactSchema, contactViews, oneContactView } from './contact.view.ts';
import {
  contactCursors,
  contactListQuery,
  contactSearchBody,
  contactListSchema,
  patchContactBody,
  upsertContactBody,
  upsertedContactSchema,
} from './contacts.schemas.ts';
import { inTransaction } from '../../shared/database/sql.ts';

const endpoint = endpointsOf('Contacts', 'CONTACT_NOT_FOUND');

const list = endpoint('listContacts', 'GET /contacts', {
  roles: ['marketing', 'support', 'read'],
  isHeavy: true,
  summary: 'List contacts by cursor',
  query: contactListQuery,
  replies: { 200: { description: 'A page of contacts', schema: contactListSchema } },
  errors: ['BAD_REQUEST'],
  async handle({ em, project, query }) {
    const cursor = contactCursors.read(query.cursor);
    const sort = cursor?.sort ?? query.sort;
    const page = await listContacts(em, project.id, { ...query, sort, cursor });
    const last = page.hasMore ? page.contacts.at(-1) : undefined;
    const end = last && { sort, value: sort === 'email' ? last.email : last.createdAt, id: last.id };
    const data = await contactViews(em, project.id, page.contacts);
    return ok({ data, ...contactCursors.after(end), total: page.total });
  },
});

const search = searchByBody(list, {
  operationId: 'searchContacts',
  summary: 'Find contacts, with the search in the body',
  body: contactSearchBody,
});

const upsert = endpoint('upsertContact', 'POST /contacts', {
  roles: ['marketing'],
  effect: 'data',
  summary: 'Create a contact, or update the one with this address',
  body: upsertContactBody,
  flatRequirements: [{ message: 'Email is required', isMet: (body) => isFilled(body['email']) }],
  replies: {
    200: { description: 'The contact existed and was updated', schema: upsertedContactSchema },
    201: { description: 'The contact was created', schema: upsertedContactSchema },
  },
  async handle({ em, project, body }) {
    const cause = { reason: 'api', endpoint: 'POST /contacts' } as const;
    return inTransaction(em, async (tx) => {
      const [contact] = await upsertContacts(tx, {
        projectId: project.id,
        emails: [body.email],
        subscribedDefault: true,
        subscribed: body.subscribed,
        cause,
        data: body.data,
      });
      if (!contact) throw new AppError('INTERNAL_SERVER_ERROR');
      await chooseTopics(tx, project.id, contact.id, body.topics, cause);
      if (body.trackingAllowed !== undefined) {
        await setTrackingAllowed(tx, project.id, [contact.id], body.trackingAllowed, { cause });
        contact.trackingAllowed = body.trackingAllowed;
      }
      const view = await oneContactView(tx, project.id, contact);
      const { isNew } = contact;
      return { status: isNew ? 201 : 200, data: { ...view, _meta: { isNew, isUpdate: !isNew } } };
    });
  },
});

const get = endpoint('getContact', 'GET /contacts/:id', {
  roles: ['marketing', 'support', 'read'],
  summary: 'Get a contact',
  replies: { 200: { description: 'The contact', schema: contactSchema } },
  handle: async ({ em, project, params }) =>
    ok(await oneContactView(em, project.id, await findContact(em, project.id, params.id))),
});

const patch = endpoint('updateContact', 'PATCH /contacts/:id', {
  roles: ['marketing', 'support'],
  fields: { support: ['subscribed'] },
  summary: 'Change address, subscription, pause, topics or custom data of a contact',
  body: patchContactBody,
  replies: { 200: { description: 'The contact after the change', schema: contactSchema } },
  errors: ['CONFLICT'],
  async handle({ em, project, params, body }) {
    const { topics, trackingAllowed, pausedUntil, ...changes } = body;
    const cause = { reason: 'api', endpoint: 'PATCH /contacts/:id' } as const;
    const pause = pausedUntil === undefined ? {} : { pausedUntil: pausedUntil === null ? null : new Date(pausedUntil) };
    return inTransaction(em, async (tx) => {
      if (trackingAllowed !== undefined)
        await setTrackingAllowed(tx, project.id, [params.id], trackingAllowed, { cause });
      const contact = await patchContact(tx, project.id, params.id, { ...changes, ...pause }, cause);
      await chooseTopics(tx, project.id, params.id, topics, cause);
      return ok(await oneContactView(tx, project.id, contact));
    });
  },
});

const remove = endpoint('deleteContact', 'DELETE /contacts/:id', {
  roles: ['marketing'],
  commitsInSteps: true,
  summary: 'Delete a contact for good',
  replies: { 204: { description: 'Deleted' } },
  async handle({ em, project, params, deps }) {
    const deleted = await deleteContacts(em, project.id, [params.id]);
    if (deleted.length === 0) throw new AppError('CONTACT_NOT_FOUND');
    await eraseAtOnce(em, project.id, deleted).catch((error: unknown) => {
      deps.logger.warn(
        { err: error, contactId: params.id },
        'a deleted contact could not be erased at once; the workers will erase it',
      );
    });
    return noContent();
  },
});

export const contactEndpoints: Endpoint[] = [list, search, upsert, get, patch, remove];
