import { EverpostError } from './errors.ts';

/**
 * The rows of a file of JSON lines, as they arrive. The connection is closed when the caller takes no more of them.
 * @throws EverpostError CONNECTION_FAILED when the connection ends before the file
 */
export async function* rowsOf(file: ReadableStream<Uint8Array>): AsyncGenerator {
  const reader = file.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new EverpostError('The connection failed before the end of the file', {
          code: 'CONNECTION_FAILED',
          cause,
        });
      });
      const lines = (rest + decoder.decode(value, { stream: !done })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line) as unknown;
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
