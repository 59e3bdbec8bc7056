/** The octets of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text);
}

/**
 * The octets of a value written as JSON without white space. Counting stops at the first number above `bytesMax`, so a
 * value that is much too large costs no more than one that just fits. `value` is one that JSON can hold.
 */
export function jsonBytes(value: unknown, bytesMax: number): number {
  if (typeof value === 'string') return value.length > bytesMax ? value.length : utf8Bytes(JSON.stringify(value));
  if (typeof value !== 'object' || value === null) return String(value).length;
  const isList = Array.isArray(value);
  let bytes = '{}'.length;
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    if (bytes > '{}'.length) bytes += ','.length;
    if (!isList) bytes += jsonBytes(key, bytesMax) + ':'.length;
    bytes += jsonBytes((value as Record<string, unknown>)[key], bytesMax - bytes);
    if (bytes > bytesMax) return bytes;
  }
  return bytes;
}
