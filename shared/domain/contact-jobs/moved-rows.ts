import { z } from 'zod';
import { customDataSchema } from '../../pure/contacts/custom-data-schema.ts';
import { isEmailAddress, normalizeAddress } from '../../pure/emails/email-address.ts';
import { utf8Bytes } from '../../pure/json-bytes.ts';
import { LIMITS } from '../../pure/limits.ts';
import type { MovedContact } from '../../pure/moving/moved.ts';
import { CHECKS } from '../../pure/schema-messages.ts';
import { topicChoicesSchema } from '../../pure/topics.ts';
import { isRecipientAddress } from '../../sending/transport/wire-address.ts';
import {
  refusedRow,
  RowCollector,
  RowNotes,
  takePart,
  type ImportedContact,
  type ImportFile,
  type RefusedRow,
} from './imported-rows.ts';
import { importedRow } from './write-contacts.ts';

const rowSchema = z.object({
  subscribed: z.boolean().nullish(),
  topics: topicChoicesSchema.nullish(),
  trackingAllowed: z.boolean().nullish(),
  data: customDataSchema.nullish(),
});

/** What a source has: a contact, or why one of its rows cannot be read. */
export type MovedRow = { row: number } & ({ contact: MovedContact } | { email: string; fault: string });

function readMoved(moved: MovedRow): ImportedContact | RefusedRow {
  const { row } = moved;
  if ('fault' in moved) return refusedRow(row, moved.email, moved.fault);
  const { email: written, left, ...fields } = moved.contact;
  const text = typeof written === 'string' ? written : '';
  const email = normalizeAddress(text);
  if (email === '') return refusedRow(row, text, 'has no email address');
  if (!isEmailAddress(email) || !isRecipientAddress(email)) {
    return refusedRow(row, text, 'has no address that an email can be sent to');
  }
  const read = rowSchema.safeParse(fields, CHECKS);
  if (!read.success) {
    const [issue] = read.error.issues;
    return refusedRow(row, text, `has a fault in "${issue?.path.join('.')}": ${issue?.message}`);
  }
  const { subscribed, topics, trackingAllowed, data } = read.data;
  const contact = {
    ...importedRow({ email, data: data ?? {} }, row),
    subscribed: left ? false : (subscribed ?? undefined),
    topics: topics ?? undefined,
    trackingAllowed: trackingAllowed ?? undefined,
    ...(left && { hasLeft: true as const, left }),
  };
  if (utf8Bytes(contact.data) > LIMITS.contactDataBytes) {
    return refusedRow(row, text, `has more than ${LIMITS.contactDataBytes} bytes of custom data`);
  }
  return contact;
}

/** The parts of a source of contacts of any size. */
export async function* movedParts(rows: AsyncIterable<MovedRow>): AsyncGenerator<ImportFile> {
  const [collector, notes] = [new RowCollector(), new RowNotes()];
  for await (const moved of rows) {
    const read = readMoved(moved);
    collector.add(read);
    if (!('error' in read)) notes.add(read);
    if (collector.isFull) yield takePart(collector, notes);
  }
  yield takePart(collector, notes);
}
