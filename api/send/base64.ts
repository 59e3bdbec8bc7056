/**
 * Decodes padded base64 (RFC 4648 section 4) and ignores line breaks in it. Every step is one pass in native code,
 * because an attachment has megabytes.
 * @returns undefined for a text that is not base64
 */
export function decodeBase64(text: string): Buffer | undefined {
  const compact = text.includes('\n') || text.includes('\r') ? text.replaceAll(/[\r\n]+/g, '') : text;
  // The decoder also takes the URL alphabet, and skips or stops at other foreign characters.
  if (compact.length % 4 !== 0 || compact.includes('-') || compact.includes('_')) return undefined;
  let padding = 0;
  if (compact.endsWith('==')) padding = 2;
  else if (compact.endsWith('=')) padding = 1;
  const content = Buffer.from(compact, 'base64');
  return content.length === (compact.length / 4) * 3 - padding ? content : undefined;
}
