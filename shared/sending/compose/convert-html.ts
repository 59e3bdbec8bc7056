import { Worker } from 'node:worker_threads';
import { CONVERTED_AT_ONCE_MAX, htmlToText } from './html-to-text.ts';

interface Thread {
  worker: Worker;
  /** Ends the conversion under way with its text, or with undefined when the thread is lost. */
  finish: (text: string | undefined) => void;
}

let thread: Thread | undefined;
/** The last conversion. The next one waits for it. */
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

/** @returns undefined when the document ended the thread, for example because memory ran out */
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
 * Converts HTML into text as `htmlToText` does. A large document is converted in a thread, because that may take much
 * of a second. If its layout fails, only its tags are stripped; if that fails too, the text is empty.
 */
export async function convertHtml(html: string): Promise<string> {
  if (html.length <= CONVERTED_AT_ONCE_MAX) return htmlToText(html);
  const conversion = last.then(async () => {
    const text = await convertInThread(html, { isQuick: false });
    return text ?? (await convertInThread(html, { isQuick: true })) ?? '';
  });
  last = conversion;
  return conversion;
}
