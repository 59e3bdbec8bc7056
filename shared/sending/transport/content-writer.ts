import type { Socket } from 'node:net';
import { toDataContent, toDataParts, type RawMessage } from './data-content.ts';

export interface ContentHooks {
  /** Returns the commands that follow in the same packets; called only for content that is written in one piece. */
  announce: () => string;
  /** Called when the next part is written. */
  progressed: () => void;
  /** Called when all content has left. */
  left: () => void;
}

/** Longer content is written in parts, so that a stuck server can be distinguished from a slow one. */
const WHOLE_OCTETS_MAX = 262_144;
/** Other work of the event loop runs between two parts. */
const PART_OCTETS = 65_536;

/** Writes the content of a message after the reply to DATA. */
export function writeContent(socket: Socket, raw: RawMessage, hooks: ContentHooks): void {
  if (raw.length > WHOLE_OCTETS_MAX) {
    writeParts(socket, raw, hooks);
    return;
  }
  const left = (error?: Error | null): void => {
    if (!error) hooks.left();
  };
  if (typeof raw === 'string') {
    socket.write(toDataContent(raw) + hooks.announce(), 'latin1', left);
    return;
  }
  socket.cork();
  for (const part of toDataParts(raw, PART_OCTETS)) socket.write(part);
  socket.write(hooks.announce(), 'latin1', left);
  socket.uncork();
}

function writeParts(socket: Socket, raw: RawMessage, hooks: ContentHooks): void {
  const parts = toDataParts(raw, PART_OCTETS);
  const writeNext = (error?: Error | null): void => {
    if (error || socket.destroyed) return;
    const part = parts.next();
    if (part.done) {
      hooks.left();
      return;
    }
    hooks.progressed();
    socket.write(part.value, writeNext);
  };
  writeNext();
}
