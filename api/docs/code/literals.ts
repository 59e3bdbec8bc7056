import { MARKS } from './shell.ts';

/** How a language writes values. */
export interface Style {
  /** The name of a variable of the shell. */
  variable: (name: string) => string;
  /** A text with values of variables in it. */
  template: (text: string) => string;
  key: (name: string) => string;
  words: { true: string; false: string; null: string };
}

const WIDTH = 60;
const lower = (name: string): string => name.toLowerCase();

/** `PROJECT_ID` as `projectId`. */
const camelCase = (name: string): string =>
  lower(name).replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

export const TYPESCRIPT: Style = {
  variable: camelCase,
  template: (text) =>
    `\`${text.replaceAll(/[\\`]|\$\{/g, String.raw`\$&`).replaceAll(MARKS, (_, name: string) => `\${${camelCase(name)}}`)}\``,
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)),
  words: { true: 'true', false: 'false', null: 'null' },
};

export const PYTHON: Style = {
  variable: lower,
  template: (text) =>
    `f${JSON.stringify(text.replaceAll(/[{}]/g, '$&$&')).replaceAll(MARKS, (_, name: string) => `{${lower(name)}}`)}`,
  key: (name) => JSON.stringify(name),
  words: { true: 'True', false: 'False', null: 'None' },
};

/** A text, where marks stand for variables. */
export function textLiteral(text: string, style: Style): string {
  const [mark] = text.matchAll(MARKS);
  if (!mark) return JSON.stringify(text);
  return mark[0] === text ? style.variable(mark[1] ?? '') : style.template(text);
}

/** A JSON value as a literal, over several lines where it is long. @param indent that of the line it begins on */
export function literal(value: unknown, style: Style, indent = ''): string {
  if (typeof value === 'string') return textLiteral(value, style);
  if (typeof value !== 'object' || value === null) {
    const word = String(value);
    return word in style.words ? style.words[word as 'null'] : word;
  }
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const items = Array.isArray(value)
    ? value.map((item) => literal(item, style, inner))
    : Object.entries(value).map(([key, item]) => `${style.key(key)}: ${literal(item, style, inner)}`);
  if (items.length === 0) return `${open}${close}`;
  const gap = Array.isArray(value) || style === PYTHON ? '' : ' ';
  const line = `${open}${gap}${items.join(', ')}${gap}${close}`;
  if (indent.length + line.length <= WIDTH && !line.includes('\n')) return line;
  return `${open}\n${items.map((item) => `${inner}${item},\n`).join('')}${indent}${close}`;
}
