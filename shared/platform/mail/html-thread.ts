import { parentPort } from 'node:worker_threads';
import { htmlToText } from './html-to-text.ts';

/** A thread that converts one HTML document into text after the other, and ends with its process. */
parentPort?.on('message', (html: string) => parentPort?.postMessage(htmlToText(html)));
