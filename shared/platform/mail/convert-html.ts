import { Worker } from 'node:worker_threads';
import { createTurns } from '../turns.ts';
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

/**
 * The pieces go to the thread with pauses in between.
 * @returns undefined when the document ended the thread, for example because memory ran out
 */
async function convertInThread(
  pieces: readonly string[],
  { isQuick }: { isQuick: boolean },
): Promise<string | undefined> {
  const current = (thread ??= startThread());
  current.worker.ref();
  const turn = createTurns();
  const finished = new Promise<string | undefined>((resolve) => {
    current.finish = resolve;
  });
  for (const piece of pieces) {
    current.worker.postMessage(piece);
    await turn();
  }
  current.worker.postMessage({ isQuick });
  const text = await finished;
  current.worker.unref();
  return text;
}

/**
 * Converts HTML into text as `htmlToText` does. A large document is converted in a thread, because that may take much
 * of a second. If its layout fails, only its tags are stripped; if that fails too, the text is empty.
 * @param pieces the document, in its order
 */
export async function convertHtml(pieces: readonly string[]): Promise<string> {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (length <= CONVERTED_AT_ONCE_MAX) return htmlToText(pieces.join(''));
  const conversion = last.then(async () => {
    const text = await convertInThread(pieces, { isQuick: false });
    return text ?? (await convertInThread(pieces, { isQuick: true })) ?? '';
  });
  last = conversion;
  return conversion;
}
