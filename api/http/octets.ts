/** Smaller pieces are joined, so that a body that comes octet by octet takes no more memory than another. */
const GATHERED_BELOW = 16 * 1024;
const BLOCK_BYTES = 64 * 1024;
const EMPTY = Buffer.alloc(0);

/**
 * Octets in the order of their arrival. They are kept in pieces, so nothing large is copied as a whole. It is a class because
 * V8 takes the getter of an object for one that lives long, and keeps the octets until it collects the old generation.
 */
export class Octets {
  readonly #blocks: Buffer[] = [];
  readonly #starts: number[] = [];
  #length = 0;
  /** The block in which small pieces are gathered, always the last one. */
  #gathering = EMPTY;
  #gatheredBytes = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds octets at the end. */
  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    // The first piece is not copied, because most bodies have only one.
    if (this.#length === 0 || chunk.length >= GATHERED_BELOW) {
      this.#gathering = EMPTY;
      this.#append(chunk);
    } else this.#gather(chunk);
  }

  /** The octets from `start` up to, not including, `end`. */
  slice(start: number, end: number): Buffer {
    const pieces: Buffer[] = [];
    for (let index = this.#blockAt(start), position = start; position < end; index++) {
      const block = this.#blocks[index] ?? EMPTY;
      const offset = this.#starts[index] ?? 0;
      pieces.push(block.subarray(position - offset, end - offset));
      position = offset + block.length;
    }
    return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
  }

  #append(block: Buffer): void {
    this.#starts.push(this.#length);
    this.#blocks.push(block);
    this.#length += block.length;
  }

  #gather(chunk: Buffer): void {
    if (this.#gatheredBytes + chunk.length <= this.#gathering.length) {
      chunk.copy(this.#gathering, this.#gatheredBytes);
      this.#gatheredBytes += chunk.length;
      this.#blocks[this.#blocks.length - 1] = this.#gathering.subarray(0, this.#gatheredBytes);
      this.#length += chunk.length;
      return;
    }
    this.#gathering = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    chunk.copy(this.#gathering);
    this.#gatheredBytes = chunk.length;
    this.#append(this.#gathering.subarray(0, this.#gatheredBytes));
  }

  /** The number of the block that holds the octet at `position`. */
  #blockAt(position: number): number {
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
