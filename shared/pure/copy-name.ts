/** The length of names of templates and campaigns. */
export const NAME_LENGTH_MAX = 200;
const COPY_SUFFIX = ' (Copy)';

/** The name of a copy, "<name> (Copy)"; a long name loses its end, so that the copy can be saved like any other. */
export function copyName(name: string): string {
  return `${name.slice(0, NAME_LENGTH_MAX - COPY_SUFFIX.length)}${COPY_SUFFIX}`;
}
