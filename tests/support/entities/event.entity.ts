import { defineEntity, p } from '@mikro-orm/core';

/** Something that happened to a contact: tracked by a caller or emitted by Everpost. */
export const EventEntity = defineEntity({
  name: 'Event',
  tableName: 'event',
  properties: {
    id: p.uuid().primary(),
    projectId: p.uuid(),
    contactId: p.uuid().nullable(),
    emailId: p.uuid().nullable(),
    name: p.text(),
    data: p.json().$type<Record<string, unknown>>(),
    createdAt: p.datetime(3),
  },
});
