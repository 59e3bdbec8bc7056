import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { zipOf, type ZipPart } from '../../tests/support/zip-files.ts';
import { assertReadable, openFiles, type SourceFile } from './sources.ts';
import { readZip, type ZipEntry } from './zip.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'zip-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function contentsOf(archive: Buffer): Promise<Record<string, string>> {
  const file = path.join(folder, 'a.zip');
  await writeFile(file, archive);
  const contents: Record<string, string> = {};
  for (const { name, read } of await readZip(file)) contents[name] = await text(read());
  return contents;
}

const one = (part: ZipPart, name = 'a.csv') => zipOf({ [name]: part });
const TEXT = `email\n${'ada@x.test\n'.repeat(500)}`;

describe('a ZIP archive', () => {
  it.each<[string, Partial<ZipPart>]>([
    ['packed', {}],
    ['stored', { method: 0 }],
    ['with sizes that follow the data', { flags: 8 }],
    ['in ZIP64', { isZip64: true }],
    ['in ZIP64 with sizes that follow the data', { isZip64: true, flags: 8 }],
  ])('is read %s', async (_how, part) => {
    expect(await contentsOf(one({ content: TEXT, ...part }))).toEqual({ 'a.csv': TEXT });
  });

  it('gives files of folders, in any writing, and nothing that macOS adds', async () => {
    const files = { 'x/': '', 'x/b.csv': 'b', '': 'no name', '__MACOSX/x/._b.csv': '\0', 'x/._c.csv': '\0' };
    const archive = zipOf({ ...files, 'ä.csv': { content: 'u', flags: 0x800 }, 'w\\d.csv': 'd', 'empty.csv': '' });
    expect(await contentsOf(archive)).toEqual({
      'x/b.csv': 'b',
      '': 'no name',
      'ä.csv': 'u',
      'w/d.csv': 'd',
      'empty.csv': '',
    });
    expect(await contentsOf(zipOf({}))).toEqual({});
  });

  it('is read twice, and can be left in the middle', async () => {
    const file = path.join(folder, 'twice.zip');
    await writeFile(file, zipOf({ 'a.csv': TEXT.repeat(1_000) }));
    const [entry] = (await readZip(file)) as [ZipEntry];
    for await (const octets of entry.read()) {
      expect(octets.length).toBeGreaterThan(0);
      break;
    }
    expect((await text(entry.read())).length).toBe(TEXT.length * 1_000);
  });

  const zeros = Buffer.alloc(70 * 1024 * 1024);
  it.each<[string, () => Buffer, RegExp]>([
    ['is none', () => Buffer.from('email\n'), /End of central directory/],
    ['is cut', () => one({ content: TEXT }).subarray(0, 60), /End of central directory/],
    ['is encrypted', () => one({ content: TEXT, flags: 1 }), /a.csv is encrypted/],
    ['is encrypted strongly', () => one({ content: TEXT, flags: 0x41 }), /strong encryption/],
    ['is packed in another way', () => one({ content: TEXT, method: 14 }), /by the method 14/],
    ['leaves its folder', () => one({ content: TEXT }, '../../etc/a.csv'), /relative path: \.\.\/\.\.\/etc/],
    ['names an absolute path', () => one({ content: TEXT }, '/etc/a.csv'), /absolute path: \/etc/],
    ['names a drive', () => one({ content: TEXT }, 'C:\\a.csv'), /absolute path: C:/],
    ['has a wrong checksum', () => one({ content: TEXT, crc: 7 }), /checksum of a.csv does not fit/],
    ['has more than it says', () => one({ content: TEXT, size: 10 }), /too many bytes/],
    ['has less than it says', () => one({ content: TEXT, size: 100_000 }), /not enough bytes/],
    ['is a bomb', () => one({ content: zeros }), /more than 200 times as large/],
    ['is a bomb that lies', () => one({ content: zeros, size: 9 }), /too many bytes/],
    [
      'is a bomb of many files',
      () =>
        zipOf(
          Object.fromEntries(
            Array.from({ length: 10 }, (_, n) => [`${n}.csv`, { content: zeros.subarray(0, 8 * 1024 * 1024) }]),
          ),
        ),
      /more than 200 times/,
    ],
    [
      'has very many files',
      () => zipOf(Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [`${n}.csv`, '']))),
      /more than 10000 files/,
    ],
    [
      'has damaged data',
      () => {
        const archive = one({ content: TEXT });
        return archive.fill(0xff, 40, 60);
      },
      /cannot be read/,
    ],
  ])('that %s is refused, with a way out', async (_fault, archive, message) => {
    const refused = contentsOf(archive());
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toThrow(
      /^The ZIP archive .*a\.zip cannot be read: .*[^.]\. Unpack it, and name the folder$/,
    );
  });
});

describe('files of an export', () => {
  const placed = async (name: string, content: string | Buffer) => {
    const file = path.join(folder, name);
    await writeFile(file, content);
    return file;
  };

  it('are unpacked, and say which one is cut', async () => {
    const [whole, cut] = (await openFiles([
      await placed('whole.csv.gzip', gzipSync(TEXT)),
      await placed('cut.csv.gz', gzipSync(TEXT).subarray(0, 20)),
    ])) as [SourceFile, SourceFile];
    expect([whole.name, await text(whole.read())]).toEqual([path.join(folder, 'whole.csv'), TEXT]);
    await expect(text(cut.read())).rejects.toThrow('cut.csv.gz cannot be unpacked');
  });

  it('may lie among others, which are not named', async () => {
    const only = await mkdtemp(path.join(folder, 'only-'));
    await writeFile(path.join(only, 'notes.txt'), TEXT);
    const check = async (...paths: string[]) => assertReadable(await openFiles(paths), paths);
    await expect(check(only)).rejects.toThrow('There is no file that can be read');
    await writeFile(path.join(only, 'a.csv'), TEXT);
    await check(only);
    await expect(check(only, path.join(only, 'notes.txt'))).rejects.toThrow('notes.txt cannot be read');
  });
});
