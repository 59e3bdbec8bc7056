import { Worker } from 'node:worker_threads';
import { CONVERTED_AT_ONCE_MAX, htmlToText } from './html-to-text.ts';

interface Thread {
  worker: Worker;
  /** Ends the conversion under way: with its text, or with none when the thread is lost. */
  finish: (text: string | undefined) => void;
}

let thread: Thread | undefined;
/** Conversions are done one after the other. */
let last: Promise<unknown> = Promise.resolve();

function startThread(): Thread {
  const worker = new Worker(new URL('./html-thread.ts', import.meta.url), { name: 'html', execArgv: [] });
  const started: Thread = { worker, finish: () => undefined };
  const lose = (): void => {
    if (thread === started) thread = undefined;
    started.finish(undefined);
  };
  worker.on('message', (text: string) => started.finish(text));
  worker.on('error', lose);
  worker.on('exit', lose);
  return started;
}

/** @returns undefined when the document ends the thread, which may run out of memory */
async function convertInThread(html: string, { isQuick }: { isQuick: boolean }): Promise<string | undefined> {
  const current = (thread ??= startThread());
  current.worker.ref();
  const text = await new Promise<string | undefined>((resolve) => {
    current.finish = resolve;
    current.worker.postMessage({ html, isQuick });
  });
  current.worker.unref();
  return text;
}

/**
 * Turns HTML into text as `htmlToText` does; large documents in a thread, for it may take a good part of a second. One that
 * cannot be laid out is only stripped of its tags, and without text if that cannot be done either.
 */
export async function convertHtml(html: string): Promise<string> {
  if (html.length <= CONVERTED_AT_ONCE_MAX) return htmlToText(html);
  const conversion = last.then(
    async () =>
      (await convertInThread(html, { isQuick: false })) ?? (await convertInThread(html, { isQuick: true })) ?? '',
  );
  last = conversion;
  return conversion;
}
