import { parentPort } from 'node:worker_threads';
import { htmlToText, htmlToTextQuickly } from './html-to-text.ts';

let pieces: string[] = [];

/** The thread converts one HTML document after the other, and ends with its process. It gets each one piece by piece. */
parentPort?.on('message', (message: string | { isQuick: boolean }) => {
  if (typeof message === 'string') {
    pieces.push(message);
    return;
  }
  const html = pieces.join('');
  pieces = [];
  parentPort?.postMessage(message.isQuick ? htmlToTextQuickly(html) : htmlToText(html));
});
