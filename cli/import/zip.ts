import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInflateRaw } from 'node:zlib';
import { badRequest } from '../../shared/pure/app-error.ts';

/** The end of the list of files, with the longest comment that may follow it. */
const END = { signature: 0x06054b50, bytes: 22, commentMax: 65_535 } as const;
const ENTRY = { signature: 0x02014b50, bytes: 46 } as const;
const LOCAL_BYTES = 30;
const DEFLATED = 8;
/** In place of a number that needs the fields of ZIP64. */
const ZIP64 = 0xffffffff;

export interface ZipEntry {
  name: string;
  read: () => AsyncIterable<Buffer>;
}

/** The files in a ZIP archive (APPNOTE 6.3), which are read one by one. @throws AppError for what is no such archive */
export async function readZip(path: string): Promise<ZipEntry[]> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const part = async (position: number, length: number): Promise<Buffer> => {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position });
      if (bytesRead < length) throw badRequest(`${path} is not a complete ZIP archive`);
      return buffer;
    };
    const tail = await part(Math.max(0, size - END.bytes - END.commentMax), Math.min(size, END.bytes + END.commentMax));
    const mark = Buffer.alloc(4);
    mark.writeUInt32LE(END.signature);
    const at = tail.lastIndexOf(mark);
    if (at < 0 || at + END.bytes > tail.length) throw badRequest(`${path} is not a ZIP archive`);
    const [length, start] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)];
    if (length === ZIP64 || start === ZIP64)
      throw badRequest(`${path} is a ZIP64 archive: unpack it, and name the folder`);
    const list = await part(start, length);
    const entries: ZipEntry[] = [];
    for (let offset = 0; offset + ENTRY.bytes <= list.length && list.readUInt32LE(offset) === ENTRY.signature;) {
      const nameLength = list.readUInt16LE(offset + 28);
      const name = list.toString('utf8', offset + ENTRY.bytes, offset + ENTRY.bytes + nameLength);
      const [flags, method] = [list.readUInt16LE(offset + 8), list.readUInt16LE(offset + 10)];
      const [compressed, local] = [list.readUInt32LE(offset + 20), list.readUInt32LE(offset + 42)];
      if ((flags & 1) === 1 || ![0, DEFLATED].includes(method) || compressed === ZIP64) {
        throw badRequest(`${name} in ${path} is packed in a way that is not known: unpack it, and name the folder`);
      }
      const header = await part(local, LOCAL_BYTES);
      const from = local + LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
      entries.push({ name, read: () => contentOf(path, from, compressed, method) });
      offset += ENTRY.bytes + nameLength + list.readUInt16LE(offset + 30) + list.readUInt16LE(offset + 32);
    }
    return entries.filter(({ name }) => !name.endsWith('/'));
  } finally {
    await file.close();
  }
}

async function* contentOf(path: string, from: number, length: number, method: number): AsyncGenerator<Buffer> {
  if (length === 0) return;
  const packed = createReadStream(path, { start: from, end: from + length - 1 });
  const inflate = createInflateRaw();
  packed.on('error', (error) => inflate.destroy(error));
  yield* (method === DEFLATED ? packed.pipe(inflate) : packed) as AsyncIterable<Buffer>;
}
