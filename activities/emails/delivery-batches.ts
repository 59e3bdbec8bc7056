import type { ClaimedEmail } from '../../shared/domain/emails/transactional-delivery.ts';

/** Emails that are loaded and sent together. */
export interface DeliveryBatch {
  ids: string[];
  /** The attachments that all of them have. */
  attachmentSetId: string | null;
  /** The memory for the attachments, once for the batch. */
  sharedBytes: number;
  /** The size of the largest message. */
  messageBytes: number;
}

/** Emails up to this size are loaded without reserving memory. */
const LIGHT_BYTES_MAX = 262_144;
const LIGHT_AT_ONCE = 20;
export const HEAVY_AT_ONCE = 4;

const sizeOf = (email: ClaimedEmail): number => email.bodyBytes + email.attachmentBytes;

function* chunksOf<T>(items: T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

function batchOf(emails: ClaimedEmail[]): DeliveryBatch {
  const [first] = emails;
  return {
    ids: emails.map((email) => email.id),
    attachmentSetId: first?.attachmentSetId ?? null,
    sharedBytes: first?.attachmentBytes ?? 0,
    messageBytes: Math.max(...emails.map(sizeOf)),
  };
}

/**
 * Divides emails into batches that need little memory at once: small ones first, then large ones, grouped by their
 * attachments.
 */
export function* batchesOf(emails: ClaimedEmail[]): Generator<{ kind: 'light' | 'heavy'; batch: DeliveryBatch }> {
  const groups = new Map<string, ClaimedEmail[]>();
  const light: ClaimedEmail[] = [];
  for (const email of emails) {
    if (sizeOf(email) <= LIGHT_BYTES_MAX && email.attachmentSetId === null) {
      light.push(email);
      continue;
    }
    const key = email.attachmentSetId ?? email.id;
    groups.set(key, [...(groups.get(key) ?? []), email]);
  }
  for (const chunk of chunksOf(light, LIGHT_AT_ONCE)) yield { kind: 'light', batch: batchOf(chunk) };
  for (const group of groups.values()) {
    const isLight = group.every((email) => sizeOf(email) <= LIGHT_BYTES_MAX);
    const size = isLight ? LIGHT_AT_ONCE : HEAVY_AT_ONCE;
    for (const chunk of chunksOf(group, size)) yield { kind: isLight ? 'light' : 'heavy', batch: batchOf(chunk) };
  }
}
