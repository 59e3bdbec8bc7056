const NAME = String.raw`\s{0,5}[a-z_][\w.-]{0,60}\s{0,5}`;

/** `${name}`, `#{name}`, `{$name}`, `{name}`, `%%name%%`, `[[name]]` and `%recipient.name%`. */
const LOOK_ALIKE = new RegExp(
  String.raw`[$#]\{${NAME}\}|(?<!\{)\{\$?${NAME}\}(?!\})|%%${NAME}%%|\[\[${NAME}\]\]|%recipient\.\w{1,60}%`,
  'gi',
);

/**
 * Finds placeholders of other template languages. In a template of Everpost they are plain text, which is sometimes
 * meant.
 * @param text without styles and scripts, in which such forms are common
 * @returns the first `max` different placeholders
 */
export function findLookAlikes(text: string, max: number): string[] {
  const found = new Set<string>();
  for (const [placeholder] of text.matchAll(LOOK_ALIKE)) {
    if (found.size >= max) break;
    found.add(placeholder);
  }
  return [...found];
}
