import { createHash, hash } from 'node:crypto';
import type { RawMessage } from '../../transport/data-content.ts';
import { yieldNow } from '../../../platform/yielding.ts';
import { relaxLines, relaxedBodyEnd } from './canonical.ts';

/** Large bodies are hashed in parts of this size, so that other work of the event loop runs in between. */
const PART_BYTES = 256 * 1024;
const CRLF = '\r\n';

/** The end of the last whole line at or before `limit`; `limit` itself when there is none. */
function lineEnd(body: Buffer, start: number, limit: number): number {
  if (limit >= body.length) return body.length;
  const at = body.lastIndexOf(CRLF, limit - 2);
  return at < start ? limit : at + 2;
}

/**
 * The SHA-256 of the relaxed body (RFC 6376 section 3.4.4) in base64: the `bh` tag. The message must be as the composer
 * makes it: CRLF line ends, lines of bounded length, and only ASCII if it is text.
 */
export async function hashRelaxedBody(message: RawMessage, bodyStart: number): Promise<string> {
  const end = relaxedBodyEnd(message, bodyStart);
  if (end === bodyStart) return hash('sha256', '', 'base64');
  if (typeof message === 'string' && end - bodyStart <= PART_BYTES) {
    return hash('sha256', relaxLines(message.slice(bodyStart, end)) + CRLF, 'base64');
  }
  const octets = typeof message === 'string' ? Buffer.from(message, 'latin1') : message;
  const body = octets.subarray(bodyStart, end);
  const digest = createHash('sha256');
  for (let start = 0; start < body.length;) {
    const stop = lineEnd(body, start, start + PART_BYTES);
    const part = relaxLines(body.subarray(start, stop));
    digest.update(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
    start = stop;
    if (start < body.length) await yieldNow();
  }
  return digest.update(CRLF).digest('base64');
}
