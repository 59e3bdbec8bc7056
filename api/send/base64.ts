/**
 * Decodes base64 (RFC 4648 section 4, padded), line breaks in it left out. Every step is one pass in native code: an
 * attachment has megabytes.
 * @returns undefined for anything else
 */
export function decodeBase64(text: string): Buffer | undefined {
  const compact = text.includes('\n') || text.includes('\r') ? text.replaceAll(/[\r\n]+/g, '') : text;
  // The decoder also takes the URL alphabet, and skips or stops at other foreign characters.
  if (compact.length % 4 !== 0 || compact.includes('-') || compact.includes('_')) return undefined;
  const padding = compact.endsWith('==') ? 2 : compact.endsWith('=') ? 1 : 0;
  const content = Buffer.from(compact, 'base64');
  return content.length === (compact.length / 4) * 3 - padding ? content : undefined;
}
