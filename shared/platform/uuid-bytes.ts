export const UUID_BYTES = 16;

/** The bytes of a UUID, or of several UUIDs in a row. */
export function uuidsToBytes(ids: string): Buffer {
  return Buffer.from(ids.replaceAll('-', ''), 'hex');
}

/** The UUID of 16 bytes, in lower case with hyphens (RFC 9562 section 4). */
export function bytesToUuid(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
