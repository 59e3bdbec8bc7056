import { ar } from './texts/ar.ts';
import { de } from './texts/de.ts';
import { en, type LanguageTexts } from './texts/en.ts';
import { es } from './texts/es.ts';
import { fr } from './texts/fr.ts';
import { he } from './texts/he.ts';
import { it } from './texts/it.ts';
import { ja } from './texts/ja.ts';
import { nl } from './texts/nl.ts';
import { pt } from './texts/pt.ts';

/** The languages for recipients, by their codes (ISO 639-1). A new language needs a file and an entry here. */
const TEXTS = { en, de, fr, es, it, nl, pt, ar, he, ja } satisfies Record<string, LanguageTexts>;

export type Language = keyof typeof TEXTS;

export const LANGUAGES = Object.keys(TEXTS) as [Language, ...Language[]];

/** For recipients whose language is unknown. */
const DEFAULT_LANGUAGE: Language = 'en';

/** Codes that older programs use. */
const OLD_CODES: Readonly<Record<string, string>> = { iw: 'he' };

/** The end of a longer header is ignored. Browsers send some twenty languages at most. */
const ACCEPT_LANGUAGE_LENGTH_MAX = 500;

/** The texts in a language. */
export function textsOf(language: Language): LanguageTexts {
  return TEXTS[language];
}

/**
 * The language of a tag (RFC 5646) such as `de`, `de-AT` or `pt_BR`; undefined for an unknown language or another
 * value.
 */
export function languageOf(tag: unknown): Language | undefined {
  const code = typeof tag === 'string' ? /^\s*([a-z]{2})(?:[-_]|\s*$)/i.exec(tag)?.[1]?.toLowerCase() : undefined;
  if (code === undefined) return undefined;
  const known = OLD_CODES[code] ?? code;
  return LANGUAGES.find((language) => language === known);
}

/** The language that a browser prefers among `LANGUAGES` (Accept-Language, RFC 9110 section 12.5.4). */
function languageAccepted(header: string | undefined): Language | undefined {
  if (header === undefined) return undefined;
  const ranges = header.slice(0, ACCEPT_LANGUAGE_LENGTH_MAX).split(',');
  const wishes = ranges.map((range) => {
    const [tag = '', ...parameters] = range.split(';');
    const quality = parameters.map((parameter) => /^\s*q=([\d.]+)\s*$/i.exec(parameter)?.[1]).find(Boolean);
    return { language: languageOf(tag), quality: quality === undefined ? 1 : Number(quality) };
  });
  // The sort is stable, so the first of several languages with the same quality is chosen.
  return wishes
    .filter(({ language, quality }) => language !== undefined && quality > 0)
    .sort((left, right) => right.quality - left.quality)[0]?.language;
}

/**
 * The language for a recipient: the first of the contact's `locale`, the browser's languages and the project's language
 * that is in `LANGUAGES`, or else English.
 */
export function chooseLanguage(wishes: {
  locale: unknown;
  acceptLanguage?: string;
  projectLanguage?: string | null;
}): Language {
  return (
    languageOf(wishes.locale) ??
    languageAccepted(wishes.acceptLanguage) ??
    languageOf(wishes.projectLanguage) ??
    DEFAULT_LANGUAGE
  );
}
