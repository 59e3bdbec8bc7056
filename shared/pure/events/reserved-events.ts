/** Whether an event name belongs to Everpost, so that callers may not track it. Case counts. */
export function isReservedEventName(name: string): boolean {
  if (name === 'contact.subscribed' || name === 'contact.unsubscribed' || name.startsWith('email.')) return true;
  return name.startsWith('segment.') && (name.endsWith('.entry') || name.endsWith('.exit'));
}
