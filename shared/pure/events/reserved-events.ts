/** Whether an event name is reserved for Everpost, so that callers may not track it. Names are case-sensitive. */
export function isReservedEventName(name: string): boolean {
  if (name === 'contact.subscribed' || name === 'contact.unsubscribed' || name.startsWith('email.')) return true;
  return name.startsWith('segment.') && (name.endsWith('.entry') || name.endsWith('.exit'));
}
