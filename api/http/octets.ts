/** Smaller pieces are joined, so that a body that comes octet by octet takes no more memory than another. */
const GATHERED_BELOW = 16 * 1024;
const BLOCK_BYTES = 64 * 1024;
const EMPTY = Buffer.alloc(0);

/** Creates an empty sequence of octets. */
export function createOctets() {
  const blocks: Buffer[] = [];
  const starts: number[] = [];
  let length = 0;
  /** The block in which small pieces are gathered, always the last one. */
  let gathering = EMPTY;
  let gatheredBytes = 0;

  function append(block: Buffer): void {
    starts.push(length);
    blocks.push(block);
    length += block.length;
  }

  function gather(chunk: Buffer): void {
    if (gatheredBytes + chunk.length <= gathering.length) {
      chunk.copy(gathering, gatheredBytes);
      gatheredBytes += chunk.length;
      blocks[blocks.length - 1] = gathering.subarray(0, gatheredBytes);
      length += chunk.length;
      return;
    }
    gathering = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    chunk.copy(gathering);
    gatheredBytes = chunk.length;
    append(gathering.subarray(0, gatheredBytes));
  }

  /** The number of the block that holds the octet at `position`. */
  function blockAt(position: number): number {
    let low = 0;
    let high = blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  return {
    get length() {
      return length;
    },
    push(chunk: Buffer) {
      if (chunk.length === 0) return;
      // The first piece is not copied, because most bodies have only one.
      if (length === 0 || chunk.length >= GATHERED_BELOW) {
        gathering = EMPTY;
        append(chunk);
      } else gather(chunk);
    },
    /** The octets from `start` up to, not including, `end`. */
    slice(start: number, end: number): Buffer {
      const pieces: Buffer[] = [];
      for (let index = blockAt(start), position = start; position < end; index++) {
        const block = blocks[index] ?? EMPTY;
        const offset = starts[index] ?? 0;
        pieces.push(block.subarray(position - offset, end - offset));
        position = offset + block.length;
      }
      return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
    },
  };
}

/** Octets in the order of their arrival. They are kept in pieces, so nothing large is copied as a whole. */
export type Octets = ReturnType<typeof createOctets>;
