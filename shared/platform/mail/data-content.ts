const CR = 0x0d;
const LF = 0x0a;
const DOT = 0x2e;
const END = Buffer.from('.\r\n', 'latin1');
/** A larger message is not copied once more for the sake of speed. */
const OCTETS_MAX = 256 * 1024;

/**
 * A message as it goes after DATA (RFC 5321 §4.5.2): a dot doubled at the start of each line, and the line that ends
 * it all. Undefined for a message that has to go the long way: a large one, one whose last line is open, and one in
 * which a CR or LF stands alone, which servers read differently and which could smuggle in a second message.
 */
export function toDataContent(raw: Buffer): Buffer | undefined {
  const { length } = raw;
  if (length > OCTETS_MAX || length < 2 || raw[length - 1] !== LF) return undefined;
  const dots: number[] = raw[0] === DOT ? [0] : [];
  for (let index = 0; index < length; index += 1) {
    const octet = raw[index];
    if (octet === LF) return undefined;
    if (octet !== CR) continue;
    if (raw[index + 1] !== LF) return undefined;
    if (raw[index + 2] === DOT) dots.push(index + 2);
    index += 1;
  }
  const content = Buffer.allocUnsafe(length + dots.length + END.length);
  let from = 0;
  let to = 0;
  for (const dot of dots) {
    to += raw.copy(content, to, from, dot);
    content[to] = DOT;
    to += 1;
    from = dot;
  }
  to += raw.copy(content, to, from);
  END.copy(content, to);
  return content;
}
