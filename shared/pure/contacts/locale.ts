/** The languages in which Everpost speaks to recipients; the first is spoken to everybody else. */
export const LOCALES = ['en', 'de', 'fr', 'es', 'nl', 'pt'] as const;
export type Locale = (typeof LOCALES)[number];

/** The language for a contact's `locale`, a language tag (RFC 5646) such as `de`, `de-AT` or `pt_BR`. */
export function localeOf(tag: unknown): Locale {
  if (typeof tag !== 'string') return LOCALES[0];
  const language = tag.trim().slice(0, 2).toLowerCase();
  const isTag = /^[a-z]{2}(?:[-_]|$)/i.test(tag.trim());
  return (isTag && LOCALES.find((locale) => locale === language)) || LOCALES[0];
}
