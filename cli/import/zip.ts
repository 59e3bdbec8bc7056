import { stat } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { openPromise, type Entry } from 'yauzl';
import { badRequest } from '../../shared/pure/app-error.ts';

const ENTRIES_MAX = 10_000;
/** Texts of contacts become 5 to 20 times larger when they are unpacked. Archives that are made to do harm, a thousand times. */
const UNPACKED = { timesMax: 200, harmlessBytes: 64 * 1024 * 1024 } as const;
/** What macOS packs, or copies to other file systems, beside each file. */
export const COMPANION = /(?:^|\/)(?:__MACOSX\/|\._)/;

export interface ZipEntry {
  name: string;
  read: () => AsyncIterable<Buffer>;
}

/** The files in a ZIP archive, which are read one by one, whenever they are asked for. @throws AppError */
export async function readZip(path: string): Promise<ZipEntry[]> {
  const { size } = await stat(path);
  const zip = await openPromise(path, { autoClose: false }).catch((error: unknown) => fail(path, error));
  const entries: Entry[] = [];
  let unpacked = 0;
  try {
    if (zip.entryCount > ENTRIES_MAX) throw badRequest(`it has more than ${ENTRIES_MAX} files`);
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName.endsWith('/') || COMPANION.test(entry.fileName)) continue;
      if (entry.isEncrypted()) throw badRequest(`${entry.fileName} is encrypted`);
      if (!entry.canDecodeFileData())
        throw badRequest(`${entry.fileName} is packed by the method ${entry.compressionMethod}, which is not known`);
      unpacked += entry.uncompressedSize;
      if (unpacked > Math.max(UNPACKED.harmlessBytes, UNPACKED.timesMax * size))
        throw badRequest(`its files are more than ${UNPACKED.timesMax} times as large as the archive`);
      entries.push(entry);
    }
  } catch (error) {
    fail(path, error);
  } finally {
    zip.close();
  }
  return entries.map((entry) => ({ name: entry.fileName, read: () => contentOf(path, entry) }));
}

async function* contentOf(path: string, entry: Entry): AsyncGenerator<Buffer> {
  const zip = await openPromise(path, { autoClose: false });
  let sum = 0;
  try {
    for await (const octets of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
      sum = crc32(octets, sum);
      yield octets;
    }
    if (sum !== entry.crc32) throw badRequest(`the checksum of ${entry.fileName} does not fit`);
  } catch (error) {
    fail(path, error);
  } finally {
    zip.close();
  }
}

function fail(path: string, error: unknown): never {
  const reason = (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
  throw badRequest(`The ZIP archive ${path} cannot be read: ${reason}. Unpack it, and name the folder`);
}
