import { defineEntity, p } from '@mikro-orm/core';
import { FIELD_TYPES } from '../../pure/contacts/custom-data.ts';

/** The type of the first value of a custom field in a project. It does not change afterwards. */
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
