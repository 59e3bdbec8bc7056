import { utf8Bytes } from '../json-bytes.ts';

/** Base64 and its line ends make four octets of three, and a little more. */
export const BASE64_FACTOR = 1.37;

/** The octets of a text, and about as many as it takes in the message: text beyond ASCII is encoded as Base64. */
export function sizeOf(text: string): { bytes: number; encodedBytes: number } {
  const bytes = utf8Bytes(text);
  return { bytes, encodedBytes: bytes === text.length ? bytes : bytes * BASE64_FACTOR };
}
