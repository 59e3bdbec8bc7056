import { z } from 'zod';
import { customDataSchema } from '../../pure/contacts/custom-data-schema.ts';
import { isEmailAddress, normalizeAddress } from '../../pure/emails/email-address.ts';
import { utf8Bytes } from '../../pure/json-bytes.ts';
import { LIMITS } from '../../pure/limits.ts';
import type { MovedContact } from '../../pure/moving/moved.ts';
import { CHECKS } from '../../pure/schema-messages.ts';
import { topicChoicesSchema } from '../../pure/topics.ts';
import { isRecipientAddress } from '../../sending/transport/wire-address.ts';
import { RowCollector, type ImportFile } from './import-file.ts';
import { importedRow } from './write-contacts.ts';

const rowSchema = z.object({
  subscribed: z.boolean().nullish(),
  topics: topicChoicesSchema.nullish(),
  trackingAllowed: z.boolean().nullish(),
  data: customDataSchema.nullish(),
});

/** What a source has: a contact, or why one of its rows cannot be read. */
export type MovedRow = { row: number } & ({ contact: MovedContact } | { email: string; fault: string });

function collect(collector: RowCollector, moved: MovedRow): void {
  const { row } = moved;
  if ('fault' in moved) return collector.refuse(row, moved.email, moved.fault);
  const { email: written, left, ...fields } = moved.contact;
  const text = typeof written === 'string' ? written : '';
  const email = normalizeAddress(text);
  if (email === '') return collector.refuse(row, text, 'has no email address');
  if (!isEmailAddress(email) || !isRecipientAddress(email)) {
    return collector.refuse(row, text, 'has no address that an email can be sent to');
  }
  const read = rowSchema.safeParse(fields, CHECKS);
  if (!read.success) {
    const [issue] = read.error.issues;
    return collector.refuse(row, text, `has a fault in "${issue?.path.join('.')}": ${issue?.message}`);
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
    return collector.refuse(row, text, `has more than ${LIMITS.contactDataBytes} bytes of custom data`);
  }
  const values = JSON.parse(contact.data) as object;
  for (const [key, value] of Object.entries(values)) collector.firstValues[key] ??= value;
  for (const key of Object.keys(topics ?? {})) collector.topicKeys.add(key);
  collector.add(contact);
}

/** The parts of a source of contacts of any size. */
export async function* movedParts(rows: AsyncIterable<MovedRow>): AsyncGenerator<ImportFile> {
  const collector = new RowCollector();
  for await (const row of rows) {
    collect(collector, row);
    if (collector.isFull) yield collector.take();
  }
  yield collector.take();
}
