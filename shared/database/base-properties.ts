import { p } from '@mikro-orm/core';
import { uuidV7 } from '../platform/uuid.ts';

/** The columns every record has: a UUID v7 (so that key order is insertion order) and its two times. */
export const baseProperties = {
  id: p
    .uuid()
    .primary()
    .onCreate(() => uuidV7()),
  createdAt: p.datetime(3).onCreate(() => new Date()),
  updatedAt: p
    .datetime(3)
    .onCreate(() => new Date())
    .onUpdate(() => new Date()),
};
