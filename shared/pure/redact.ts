/** A longer text is cut before it is searched, which bounds the time of the search. */
const TEXT_LENGTH_MAX = 1_000;

/** A URL keeps its scheme and host: the user, the path and the query may name persons or be secret. */
const URLS = /\b([a-z][a-z\d+.-]{0,20}:\/\/)(?:[^\s/@"'<>]{0,300}@)?([^\s/?#"'<>@]{1,300})(?:[/?#][^\s"'<>]*)?/gi;
/**
 * An email address; its @ may be written `%40`, as in a query. RFC 5321 section 4.5.3.1 bounds both parts. `=` ends what
 * stands before an address, as in `to=a@b.test`, but return paths hold the address of a recipient in the local part:
 * `list+ada=example.com@relay.test` (VERP), or `srs0=…=example.com=ada@relay.test`.
 */
const ADDRESSES =
  /(?:(?:[^\s@<>"'(),;:=+[\]]{0,64}\+|\bsrs[01][=+-])[^\s@<>"'(),;:[\]]{1,128}|[^\s@<>"'(),;:=[\]]{1,128})(?:@|%40)[^\s@<>"'(),;:[\]]{1,255}/gi;
const KEYS = /\b(?:sk|pk|whsec)_[\w+/=-]+/g;
/** A text of this length that is not a UUID is a token or a hash. */
const TOKENS = /\b[\w-]{40,}\b/g;

/**
 * Removes addresses, keys and tokens from a text that Everpost did not write (an SMTP reply, a message of PostgreSQL, a
 * URL), for logs and for Temporal. Ids stay.
 */
export function redactText(text: string): string {
  const cut = text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX)}…` : text;
  return cut
    .replaceAll(URLS, '$1$2')
    .replaceAll(ADDRESSES, '[address]')
    .replaceAll(KEYS, '[key]')
    .replaceAll(TOKENS, '[token]');
}
