import { createRequire } from 'node:module';
import { escapeHtml } from '../../../shared/pure/templates/template-language.ts';

/** The part of highlight.js that is used. Its own types would bring those of browsers into every file. */
interface Highlighter {
  registerLanguage: (name: string, language: unknown) => void;
  getLanguage: (name: string) => unknown;
  highlight: (code: string, options: { language: string; ignoreIllegals: boolean }) => { value: string };
}

const require = createRequire(import.meta.url);
const highlighter = require('highlight.js/lib/core') as Highlighter;
for (const name of ['bash', 'ini', 'json', 'nginx', 'python', 'typescript', 'yaml']) {
  highlighter.registerLanguage(name, require(`highlight.js/lib/languages/${name}`));
}

/** Longer texts are shown without colours. */
const LENGTH_MAX = 20_000;

/** Code as HTML, with classes for its colours where the language is known. */
export function highlight(code: string, language: string): string {
  if (!highlighter.getLanguage(language) || code.length > LENGTH_MAX) return escapeHtml(code);
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
}
