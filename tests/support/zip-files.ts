import { crc32, deflateRawSync } from 'node:zlib';

/** A file of an archive, with what is odd about it. */
export interface ZipPart {
  content: string | Buffer;
  /** General purpose flags (APPNOTE 4.4.4): 1 encrypted, 8 sizes after the data, 0x800 names in UTF-8. */
  flags?: number;
  /** 0 stored, 8 deflated, which is what is done when left out; others are only said. */
  method?: number;
  crc?: number;
  /** The size that the list of files says. */
  size?: number;
  isZip64?: boolean;
}

const MAX_16 = 0xffff;
const MAX_32 = 0xffffffff;
/** How many octets a number takes, and the number. */
type Field = [octets: number, value: number];

function numbers(...fields: Field[]): Buffer {
  const buffers = fields.map(([octets, value]) => {
    const buffer = Buffer.alloc(octets);
    if (octets === 8) buffer.writeBigUInt64LE(BigInt(value));
    else buffer.writeUIntLE(value, 0, octets);
    return buffer;
  });
  return Buffer.concat(buffers);
}

/** The header of a file before its data, its data, and its line in the list of files. */
function piecesOf(name: string, part: ZipPart, offset: number) {
  const content = Buffer.from(part.content);
  const { flags = 0, method = 8, crc = crc32(content), size = content.length, isZip64 = false } = part;
  const data = method === 8 ? deflateRawSync(content) : content;
  const octets = Buffer.from(name);
  const sizes: Field[] = [
    [4, crc],
    [4, data.length],
    [4, size],
  ];
  const isLate = (flags & 8) !== 0;
  const headerOf = (shown: Field[], extra: number) =>
    numbers([2, 45], [2, flags], [2, method], [4, 0], ...shown, [2, octets.length], [2, extra]);
  const local = Buffer.concat([
    numbers([4, 0x04034b50]),
    headerOf(isLate ? sizes.map(() => [4, 0]) : sizes, 0),
    octets,
    data,
    ...(isLate ? [numbers([4, 0x08074b50], ...sizes)] : []),
  ]);
  const extra = isZip64 ? numbers([2, 1], [2, 24], [8, size], [8, data.length], [8, offset]) : Buffer.alloc(0);
  const listed = Buffer.concat([
    numbers([4, 0x02014b50], [2, 45]),
    headerOf(
      isZip64
        ? [
            [4, crc],
            [4, MAX_32],
            [4, MAX_32],
          ]
        : sizes,
      extra.length,
    ),
    numbers([2, 0], [2, 0], [2, 0], [4, 0], [4, isZip64 ? MAX_32 : offset]),
    octets,
    extra,
  ]);
  return { local, listed, isZip64 };
}

/** A ZIP archive with a comment at its end. A text is a file that is packed. */
export function zipOf(files: Readonly<Record<string, string | ZipPart>>): Buffer {
  const locals: Buffer[] = [];
  const list: Buffer[] = [];
  let offset = 0;
  let hasLarge = false;
  for (const [name, file] of Object.entries(files)) {
    const { local, listed, isZip64 } = piecesOf(name, typeof file === 'string' ? { content: file } : file, offset);
    locals.push(local);
    list.push(listed);
    offset += local.length;
    hasLarge ||= isZip64;
  }
  const listed = Buffer.concat(list);
  const [count, bytes] = [list.length, listed.length];
  const large = numbers(
    ...([
      [4, 0x06064b50],
      [8, 44],
      [2, 45],
      [2, 45],
      [4, 0],
      [4, 0],
      [8, count],
      [8, count],
    ] satisfies Field[]),
    ...([
      [8, bytes],
      [8, offset],
      [4, 0x07064b50],
      [4, 0],
      [8, offset + bytes],
      [4, 1],
    ] satisfies Field[]),
  );
  const counts: Field[] = hasLarge
    ? [
        [2, MAX_16],
        [2, MAX_16],
        [4, MAX_32],
        [4, MAX_32],
      ]
    : [
        [2, count],
        [2, count],
        [4, bytes],
        [4, offset],
      ];
  const end = numbers([4, 0x06054b50], [2, 0], [2, 0], ...counts, [2, 7]);
  return Buffer.concat([...locals, listed, ...(hasLarge ? [large] : []), end, Buffer.from('comment')]);
}
