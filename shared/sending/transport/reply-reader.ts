const NON_ASCII = /[\x80-\xff]/;
const CONTINUATION = /^\d{3}-/;
const CR = 0x0d;

/** RFC 5321 section 4.5.3.1.5 allows 512 octets per line. Anything longer than this, over all lines, is not a reply. */
const REPLY_OCTETS_MAX = 65_536;

/** Splits the output of a server into replies of one or several lines (RFC 5321 section 4.2.1). */
export class ReplyReader {
  /** Received text that has not been read yet, from `#at` on. */
  #text = '';
  #at = 0;
  /** The lines of a reply that is not complete yet. */
  #open = '';
  /** Empty lines since the last reply. They are passed over. */
  #emptyLines = 0;

  /**
   * Passes each complete reply, without its last line end, to `take`, until `take` returns false.
   * @returns false when a reply is too long
   */
  push(chunk: Buffer, take: (reply: string) => boolean): boolean {
    const text = chunk.toString('latin1');
    this.#text = this.hasRest ? this.#text.slice(this.#at) + text : text;
    this.#at = 0;
    for (let end = this.#text.indexOf('\n'); end >= 0; end = this.#text.indexOf('\n', this.#at)) {
      const line = this.#text.slice(this.#at, this.#text.charCodeAt(end - 1) === CR ? end - 1 : end);
      this.#at = end + 1;
      if (!this.#takeLine(line, take)) return true;
      if (this.#open.length + this.#emptyLines > REPLY_OCTETS_MAX) return false;
    }
    return this.#text.length - this.#at + this.#open.length <= REPLY_OCTETS_MAX;
  }

  /** Whether text was received beyond the replies passed to `take`. */
  get hasRest(): boolean {
    return this.#at < this.#text.length || this.#open !== '';
  }

  #takeLine(line: string, take: (reply: string) => boolean): boolean {
    if (line === '') {
      this.#emptyLines += 1;
      return true;
    }
    if (CONTINUATION.test(line)) {
      this.#open += `${line}\n`;
      return true;
    }
    const reply = this.#open + line;
    this.#open = '';
    this.#emptyLines = 0;
    return take(NON_ASCII.test(reply) ? Buffer.from(reply, 'latin1').toString('utf8') : reply);
  }
}
