import { parentPort } from 'node:worker_threads';
import { LIMITS } from '../../pure/limits.ts';
import { htmlToText, htmlToTextQuickly } from './html-to-text.ts';

/** Nobody reads a text of megabytes, and copies of it would take much memory. */
function leaveOutLong(text: string): string {
  return text.length > LIMITS.templateLength ? '' : text;
}

let pieces: string[] = [];

/** The thread converts one HTML document after the other, and ends with its process. It gets each one piece by piece. */
parentPort?.on('message', (message: string | { isQuick: boolean }) => {
  if (typeof message === 'string') {
    pieces.push(message);
    return;
  }
  const html = pieces.join('');
  pieces = [];
  parentPort?.postMessage(leaveOutLong(message.isQuick ? htmlToTextQuickly(html) : htmlToText(html)));
});
