/** The length of names of templates and campaigns. */
export const NAME_LENGTH_MAX = 200;
const COPY_SUFFIX = ' (Copy)';

/** The name of a copy, "<name> (Copy)". A long name is cut, so that the result fits `NAME_LENGTH_MAX`. */
export function copyName(name: string): string {
  return `${name.slice(0, NAME_LENGTH_MAX - COPY_SUFFIX.length)}${COPY_SUFFIX}`;
}
