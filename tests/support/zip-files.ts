import { crc32, deflateRawSync } from 'node:zlib';

/** A ZIP archive of texts, packed, and with a comment at its end. */
export function zipOf(files: Readonly<Record<string, string>>): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const packed = deflateRawSync(content);
    const sizes = Buffer.alloc(12);
    sizes.writeUInt32LE(crc32(content), 0);
    sizes.writeUInt32LE(packed.length, 4);
    sizes.writeUInt32LE(Buffer.byteLength(content), 8);
    const local = Buffer.concat([
      Buffer.from('504b03041400000008000000000000000000000000000000000000000000', 'hex'),
      Buffer.from(name),
    ]);
    const entry = Buffer.concat([Buffer.alloc(46), Buffer.from(name)]);
    for (const [header, at] of [
      [local, 14],
      [entry, 16],
    ] as const)
      sizes.copy(header, at);
    local.writeUInt16LE(name.length, 26);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, packed);
    entries.push(entry);
    offset += local.length + packed.length;
  }
  const list = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(7, 20);
  return Buffer.concat([...locals, list, end, Buffer.from('comment')]);
}
