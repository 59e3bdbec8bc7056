/**
 * The part of an event's name that stands for a segment: its name in lower case, `a-z`, `0-9` and `_` kept, runs of
 * anything else as one `-`, edges trimmed. A name with nothing to keep is stood for by the id.
 */
function segmentSlug(segment: { id: string; name: string }): string {
  const slug = segment.name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return slug === '' ? segment.id : slug;
}

/** The name of the event that a contact's joining or leaving emits; taken from the name the segment has at that time. */
export function segmentEventName(segment: { id: string; name: string }, change: 'entry' | 'exit'): string {
  return `segment.${segmentSlug(segment)}.${change}`;
}
