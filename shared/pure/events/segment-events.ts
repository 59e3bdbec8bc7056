/**
 * The part of an event's name that names a segment: the segment's name in lower case, where each run of characters
 * other than `a-z`, `0-9` and `_` becomes one `-`, and none at the ends. If nothing is left, it is the segment's id.
 */
function segmentSlug(segment: { id: string; name: string }): string {
  const slug = segment.name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return slug === '' ? segment.id : slug;
}

/**
 * The name of the event that is recorded when a contact enters or leaves a segment. `segment.name` is its present name.
 */
export function segmentEventName(segment: { id: string; name: string }, change: 'entry' | 'exit'): string {
  return `segment.${segmentSlug(segment)}.${change}`;
}
