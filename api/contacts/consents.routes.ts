import { z } from 'zod';
import { listConsents } from '../../shared/domain/consent/consent-list.ts';
import { findContact } from '../../shared/domain/contacts/contacts.ts';
import { pageOfSuppressions } from '../../shared/domain/suppressions/suppression-lists.ts';
import { cursorFields, cursorsOf } from '../http/cursor.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import { cursorPageQuery } from '../http/pagination.ts';
import { suppressionSchema, suppressionView } from '../suppressions/suppressions.schemas.ts';
import { consentSchema, consentView } from './consent.view.ts';
import { model } from '../../shared/pure/model.ts';

const endpoint = endpointsOf('Contacts', 'CONTACT_NOT_FOUND');

const cursors = cursorsOf(z.object({ id: z.uuid() }));

const consentListSchema = model('ConsentPage', 'A page of the record of consent of a contact', {
  data: z.array(consentSchema),
  ...cursorFields,
  suppression: suppressionSchema.nullable().describe('why the address gets no email at all; null when it may'),
});

const list = endpoint('listContactConsents', 'GET /contacts/:id/consents', {
  roles: ['marketing', 'support', 'read'],
  summary: 'List what a contact has consented to by cursor, newest first',
  description:
    'One entry for each change of a subscription, of all marketing or of a topic, for each pause, and for each choice about tracking. A contact that was created as subscribed begins with an entry. Nothing changes an entry later; deleting the contact removes them.',
  query: z.object(cursorPageQuery()),
  replies: { 200: { description: 'A page of changes', schema: consentListSchema } },
  errors: ['BAD_REQUEST'],
  async handle({ em, project, params, query: { limit, cursor } }) {
    const contact = await findContact(em, project.id, params.id);
    const before = cursors.read(cursor)?.id;
    const { consents, hasMore } = await listConsents(em, contact.id, { limit, before });
    const { suppressions } = await pageOfSuppressions(em, project.id, { limit: 1, address: contact.email });
    const last = hasMore ? consents.at(-1) : undefined;
    return ok({
      data: consents.map(consentView),
      ...cursors.after(last && { id: last.id }),
      suppression: suppressions[0] ? suppressionView(suppressions[0]) : null,
    });
  },
});

export const consentEndpoints: Endpoint[] = [list];
