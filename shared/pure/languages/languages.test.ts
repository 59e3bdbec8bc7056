import { describe, expect, it } from '@jest/globals';
import { chooseLanguage, languageOf, LANGUAGES, textsOf } from './languages.ts';

describe('languageOf', () => {
  it.each([
    ['de', 'de'],
    ['de-AT', 'de'],
    [' pt_BR ', 'pt'],
    ['AR', 'ar'],
    ['iw-IL', 'he'],
    ['deu', undefined],
    ['sv', undefined],
    ['', undefined],
    [5, undefined],
    [null, undefined],
    [{ de: 1 }, undefined],
  ])('reads %j as %s', (tag, language) => {
    expect(languageOf(tag)).toBe(language);
  });
});

describe('chooseLanguage', () => {
  const wishes = { locale: undefined, acceptLanguage: undefined, projectLanguage: null };

  it('prefers the contact, then the browser, then the project, then English', () => {
    expect(chooseLanguage({ locale: 'ja', acceptLanguage: 'de', projectLanguage: 'fr' })).toBe('ja');
    expect(chooseLanguage({ locale: 'sv', acceptLanguage: 'de', projectLanguage: 'fr' })).toBe('de');
    expect(chooseLanguage({ locale: 7, acceptLanguage: 'sv', projectLanguage: 'fr' })).toBe('fr');
    expect(chooseLanguage(wishes)).toBe('en');
  });

  it.each([
    ['sv, fr;q=0.5, de;q=0.8', 'de'],
    ['he-IL,he;q=0.9', 'he'],
    ['de;q=0, es;q=0.1', 'es'],
    ['de; q=0.5, es ;q=0.5', 'de'],
    ['*', 'en'],
    [';;;,,q=', 'en'],
    ['de;q=..', 'en'],
  ])('reads the header %j as %s', (acceptLanguage, language) => {
    expect(chooseLanguage({ ...wishes, acceptLanguage })).toBe(language);
  });

  it('ignores the end of a long header', () => {
    expect(chooseLanguage({ ...wishes, acceptLanguage: 'xx;q=0.1,'.repeat(2_000) + 'de' })).toBe('en');
  });
});

describe('the texts', () => {
  it.each(LANGUAGES)('of %s have the same placeholders as the English texts', (language) => {
    const flat = (of: typeof language) => {
      const { page, choices, footer, archive } = textsOf(of);
      const { reason, topic } = footer;
      const others = { reasons: '', reason, topicReason: topic.reason, archive: archive.title };
      return Object.entries({ ...page, ...choices, ...choices.reasons, ...others });
    };
    const placeholdersOf = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();
    const expected = flat('en').map(([key, text]) => [key, placeholdersOf(text)]);
    expect(flat(language).map(([key, text]) => [key, placeholdersOf(text)])).toEqual(expected);
  });
});
