/**
 * The URL of a WEBHOOK step in two parts. `head` decides which host is called: it is literal text, or one placeholder
 * that prints a URL. `tail` may hold placeholders, none of which can change the host.
 */
export interface WebhookUrl {
  head: string;
  tail: string;
}

/** A scheme and an authority, then the rest. The URL parser reads a backslash as a slash. */
const LITERAL_HEAD = /^(https?:\/\/[^/?#\\{}\s]+)((?:[/?#\\][^]*)?)$/i;
/** One placeholder that is not a block, then the rest. */
const PLACEHOLDER_HEAD = /^(\{\{\{?\s*[^#/{}\s][^{}]*\}\}\}?)([^]*)$/;

/** Splits the URL of a step; undefined when its host is neither literal nor printed by a placeholder at the start. */
export function splitWebhookUrl(source: string): WebhookUrl | undefined {
  const [, head = '', tail = ''] = LITERAL_HEAD.exec(source) ?? PLACEHOLDER_HEAD.exec(source) ?? [];
  if (head === '') return undefined;
  if (head.startsWith('{{')) return { head, tail };
  if (!URL.canParse(head)) return undefined;
  const { username, password } = new URL(head);
  return username === '' && password === '' ? { head, tail } : undefined;
}

/**
 * Says why a rendered URL must not be called; undefined when it may. The text quotes no part of the URL: it may hold
 * addresses.
 */
export function findUrlFault(source: WebhookUrl, rendered: WebhookUrl): string | undefined {
  const whole = rendered.head + rendered.tail;
  if (!URL.canParse(rendered.head)) return 'The placeholder at the start of the URL does not print a URL';
  if (!URL.canParse(whole)) return 'The URL is not valid once its placeholders are filled in';
  if (new URL(whole).origin !== new URL(rendered.head).origin) return 'A placeholder of the URL changes its host';
  if (hasDotSegment(rendered.tail) && !hasDotSegment(source.tail)) return 'A placeholder of the URL changes its path';
  return undefined;
}

/** Whether a path has the segment `.` or `..`, also written `%2e`, which the URL parser resolves. */
function hasDotSegment(tail: string): boolean {
  const [path = ''] = tail.split(/[?#]/, 1);
  return path.split(/[/\\]/).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}
