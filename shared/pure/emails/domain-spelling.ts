/** Letters, digits and hyphens: what could stand for another part of a URL is no domain. */
const DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u;

/** A domain in A-labels (RFC 5891), in lower case; undefined for a text that has none. */
export function asciiDomainOf(domain: string): string | undefined {
  if (!DOMAIN.test(domain) || !URL.canParse(`http://${domain}`)) return undefined;
  const { hostname } = new URL(`http://${domain}`);
  // Digits of another script make an IPv4 address of a name.
  return hostname.split('.').length === domain.split('.').length ? hostname : undefined;
}

/** The letters of an A-label without its `xn--` (RFC 3492 section 6); undefined when it is malformed. */
function decodedLabel(text: string): string | undefined {
  const letters = Array.from(text.slice(0, Math.max(0, text.lastIndexOf('-'))));
  let [code, index, bias] = [128, 0, 72];
  for (let at = text.lastIndexOf('-') + 1; at < text.length;) {
    const before = index;
    for (let weight = 1, base = 36; ; base += 36) {
      const digit = (Number.parseInt(text.charAt(at++), 36) + 26) % 36;
      index += digit * weight;
      if (!Number.isSafeInteger(index)) return undefined;
      const threshold = Math.min(26, Math.max(1, base - bias));
      if (digit < threshold) break;
      weight *= 36 - threshold;
    }
    const length = letters.length + 1;
    let delta = before === 0 ? Math.floor(index / 700) : (index - before) >> 1;
    delta += Math.floor(delta / length);
    for (bias = 0; delta > 455; bias += 36) delta = Math.floor(delta / 35);
    bias += Math.floor((36 * delta) / (delta + 38));
    code += Math.floor(index / length);
    index %= length;
    if (code > 0x10_ff_ff) return undefined;
    letters.splice(index++, 0, String.fromCodePoint(code));
  }
  return letters.join('');
}

/**
 * The one spelling of a domain: with the letters of its A-labels, because RFC 5890 section 2.3.2.4 calls both the same.
 * A label whose letters would not lead back to it stays, and so does a text that is no domain.
 * @param domain in lower case
 */
export function spelledDomain(domain: string): string {
  const ascii = asciiDomainOf(domain);
  if (ascii === undefined) return domain;
  const labels = ascii.split('.').map((label) => (label.startsWith('xn--') ? decodedLabel(label.slice(4)) : label));
  const spelled = labels.join('.').normalize();
  return asciiDomainOf(spelled) === ascii ? spelled : ascii;
}
