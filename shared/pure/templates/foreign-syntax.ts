import { syntaxErrorAt, type TemplateSyntaxError } from './template-language/errors.ts';

/** Forms of other template languages, which would go out as they are or print nothing, and what to write instead. */
const FOREIGN: readonly [form: RegExp, message: (found: string) => string][] = [
  [
    /\{%-?\s*[a-z]\w*[^%]{0,200}%\}/i,
    (found) => `${found} is not of this language; blocks are {{#if}}, {{#unless}} and {{#each}}`,
  ],
  [
    /\{\{\{?[^{}|]{1,200}\|[^{}]{0,200}\}\}/,
    (found) => `${found} has a filter, and there are none; {{name ?? "friend"}} gives a default`,
  ],
  [/\{\{\s*>[^{}]{0,200}\}\}/, (found) => `${found} includes another template, which is not possible`],
  [/<%[=-]?[^%]{0,200}%>/, (found) => `${found} is not of this language; write {{name}}`],
  [/\*\|[A-Z][A-Z0-9_:]{0,100}\|\*/, (found) => `${found} is not of this language; write {{name}}`],
];

/**
 * Finds what is written for another template language (Liquid, Handlebars, ERB, Mailchimp): a template that is saved with
 * it would not say what its author means. A `|` inside quotes is text.
 */
export function findForeignSyntax(source: string): TemplateSyntaxError | undefined {
  for (const [form, messageOf] of FOREIGN) {
    // Quoted texts may hold anything; blanks in their place keep the offsets.
    const found = form.exec(source.replaceAll(/\{\{[^{}]*\}\}/g, withoutQuotes));
    if (found)
      return syntaxErrorAt(source, found.index, messageOf(source.slice(found.index, found.index + found[0].length)));
  }
  return undefined;
}

function withoutQuotes(tag: string): string {
  return tag.replaceAll(/"[^"]*"|'[^']*'/g, (text) => ' '.repeat(text.length));
}
