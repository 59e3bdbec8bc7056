import { p, raw } from '@mikro-orm/core';
import { uuidV7 } from '../platform/uuid.ts';

/** The time of the transaction by the clock of the database, because the clocks of hosts differ. */
const now = () => raw<Date>('now()');

/** The columns every record has: a UUID v7 (so that key order is insertion order) and its two times. */
export const baseProperties = {
  id: p
    .uuid()
    .primary()
    .onCreate(() => uuidV7()),
  createdAt: p.datetime(3).returning().onCreate(now),
  updatedAt: p.datetime(3).returning().onCreate(now).onUpdate(now),
};
