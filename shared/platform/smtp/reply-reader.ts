const NON_ASCII = /[\x80-\xff]/;
const CONTINUATION = /^\d{3}-/;
const CR = 0x0d;

/** RFC 5321 section 4.5.3.1.5 needs 512 octets a line; what is longer than this, on all lines together, is no reply. */
const REPLY_OCTETS_MAX = 65_536;

/** Splits what a server sends into replies, which have one line or several (RFC 5321 section 4.2.1). */
export class ReplyReader {
  /** What has come and was not read yet. */
  #text = '';
  #at = 0;
  /** Lines of a reply whose last line is still to come. */
  #open = '';

  /**
   * Hands each reply that is complete to `take`, without the last line end, until `take` answers false.
   * @returns false when the server sends a reply without an end
   */
  push(chunk: Buffer, take: (reply: string) => boolean): boolean {
    const text = chunk.toString('latin1');
    this.#text = this.hasRest ? this.#text.slice(this.#at) + text : text;
    this.#at = 0;
    for (let end = this.#text.indexOf('\n'); end >= 0; end = this.#text.indexOf('\n', this.#at)) {
      const line = this.#text.slice(this.#at, this.#text.charCodeAt(end - 1) === CR ? end - 1 : end);
      this.#at = end + 1;
      if (!this.#takeLine(line, take)) return true;
      if (this.#open.length > REPLY_OCTETS_MAX) return false;
    }
    return this.#text.length - this.#at + this.#open.length <= REPLY_OCTETS_MAX;
  }

  /** Whether more has come than the replies that were handed on. */
  get hasRest(): boolean {
    return this.#at < this.#text.length || this.#open !== '';
  }

  #takeLine(line: string, take: (reply: string) => boolean): boolean {
    if (line === '') return true;
    if (CONTINUATION.test(line)) {
      this.#open += `${line}\n`;
      return true;
    }
    const reply = this.#open + line;
    this.#open = '';
    return take(NON_ASCII.test(reply) ? Buffer.from(reply, 'latin1').toString('utf8') : reply);
  }
}
