import { parentPort } from 'node:worker_threads';
import { htmlToText, htmlToTextQuickly } from './html-to-text.ts';

/** The thread converts one HTML document after the other, and ends with its process. */
parentPort?.on('message', ({ html, isQuick }: { html: string; isQuick: boolean }) =>
  parentPort?.postMessage(isQuick ? htmlToTextQuickly(html) : htmlToText(html)),
);
