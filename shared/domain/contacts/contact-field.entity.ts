import { defineEntity, p } from '@mikro-orm/core';
import { FIELD_TYPES } from '../../pure/contacts/custom-data.ts';

/** The type a custom field was first seen with in a project; sticky afterwards. */
export const ContactFieldEntity = defineEntity({
  name: 'ContactField',
  tableName: 'contact_field',
  properties: {
    projectId: p.uuid().primary(),
    key: p.text().primary(),
    type: p.enum(FIELD_TYPES),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
});
