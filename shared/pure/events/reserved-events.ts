/** The events of what readers choose. A project may have others whose names begin with `contact.` or `topic.`. */
const CHOICE_EVENTS: ReadonlySet<string> = new Set([
  'contact.subscribed',
  'contact.unsubscribed',
  'contact.paused',
  'contact.resumed',
  'topic.subscribed',
  'topic.unsubscribed',
]);

/** Whether an event name is reserved for Everpost, so that callers may not track it. Names are case-sensitive. */
export function isReservedEventName(name: string): boolean {
  if (CHOICE_EVENTS.has(name) || name.startsWith('email.')) return true;
  return name.startsWith('segment.') && (name.endsWith('.entry') || name.endsWith('.exit'));
}
