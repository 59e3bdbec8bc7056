import type { ToolName } from './tools.ts';

/** A text in Everpost's language, and what could not be translated, with its line. */
export interface Translation {
  text: string;
  problems: { line: number; found: string }[];
}

/** The blocks that are open at a tag, outermost first. */
type Blocks = string[];

/** What a tag becomes; undefined when this language has nothing like it. */
type Translate = (tag: string, blocks: Blocks) => string | undefined;

const NAME = String.raw`[\p{L}_][\p{L}\p{N}_-]*(?:\.[\p{L}\p{N}_-]+)*`;
const PATH = new RegExp(`^${NAME}$`, 'u');

function open(blocks: Blocks, kind: 'if' | 'unless' | 'each', path: string): string {
  blocks.push(kind);
  return `{{#${kind} ${path}}}`;
}

function close(blocks: Blocks): string | undefined {
  const kind = blocks.pop();
  return kind && `{{/${kind}}}`;
}

/** The path of a value in a template of Go; undefined for functions and expressions. */
function goPath(text: string, blocks: Blocks): string | undefined {
  const path = /^[.$](?:Subscriber\.Attribs|Tx\.Data|Subscriber)\.(.+)$/.exec(text);
  if (path?.[1] !== undefined && PATH.test(path[1])) {
    if (!text.includes('.Subscriber.') || text.includes('.Attribs.')) return path[1];
    return { Email: 'email', Name: 'name' }[path[1]];
  }
  if (!blocks.includes('each')) return undefined;
  if (text === '.') return 'this';
  return text.startsWith('.') && PATH.test(text.slice(1)) ? `this.${text.slice(1)}` : undefined;
}

function fromListmonk(tag: string, blocks: Blocks): string | undefined {
  const words = tag.slice(2, -2).replaceAll(/^-?\s*|\s*-?$/g, '');
  const link = /^(UnsubscribeURL|ManageURL)(?:\s+\.)?$/.exec(words)?.[1];
  if (link) return link === 'ManageURL' ? '{{manageUrl}}' : '{{unsubscribeUrl}}';
  // Everpost tracks opens and links by itself.
  if (/^TrackView(?:\s+\.)?$/.test(words)) return '';
  const tracked = /^TrackLink\s+"([^"]+)"(?:\s+\.)?$/.exec(words)?.[1];
  if (tracked !== undefined) return tracked;
  if (words === 'else') return blocks.length > 0 ? '{{else}}' : undefined;
  if (words === 'end') return close(blocks);
  const [, kind, value] = /^(if|range)\s+(\S+)$/.exec(words) ?? [];
  const path = goPath(value ?? words, blocks);
  if (path === undefined) return undefined;
  return kind === undefined ? `{{${path}}}` : open(blocks, kind === 'if' ? 'if' : 'each', path);
}

const MAILCHIMP_NAMES = new Map(
  Object.entries({
    FNAME: 'firstName',
    LNAME: 'lastName',
    EMAIL: 'email',
    UNSUB: 'unsubscribeUrl',
    UPDATE_PROFILE: 'manageUrl',
  }),
);

function fromMailchimp(tag: string, blocks: Blocks): string | undefined {
  const words = tag.slice(2, -2).trim();
  const name = MAILCHIMP_NAMES.get(words);
  if (name !== undefined) return `{{${name}}}`;
  const [, kind, value = ''] = /^(IF|IFNOT):(\w+)$/.exec(words) ?? [];
  const tested = MAILCHIMP_NAMES.get(value);
  if (kind !== undefined && tested !== undefined) return open(blocks, kind === 'IF' ? 'if' : 'unless', tested);
  if (words === 'ELSE:' || words === 'ELSE') return blocks.length > 0 ? '{{else}}' : undefined;
  return /^END:IF(?:NOT)?$/.test(words) ? close(blocks) : undefined;
}

const RESEND_NAMES = new Map(
  Object.entries({
    FIRST_NAME: 'firstName',
    LAST_NAME: 'lastName',
    EMAIL: 'email',
    RESEND_UNSUBSCRIBE_URL: 'unsubscribeUrl',
    'contact.first_name': 'firstName',
    'contact.last_name': 'lastName',
    'contact.email': 'email',
  }),
);

function fromResend(tag: string): string | undefined {
  const [, name = '', fallback] = /^\{\{\{\s*([\w.]+)\s*(?:\|([^|"{}]*))?\}\}\}$/.exec(tag) ?? [];
  if (!PATH.test(name)) return undefined;
  const own = RESEND_NAMES.get(name) ?? name.replace(/^contact\./, '');
  const value = fallback === undefined ? own : `${own} ?? "${fallback.trim()}"`;
  // Links and names need escaping no less than here; only a variable of the sender may hold HTML.
  return RESEND_NAMES.get(name) === undefined ? `{{{${value}}}}` : `{{${value}}}`;
}

const SENDGRID_NAMES = new Map(
  Object.entries({
    unsubscribe: 'unsubscribeUrl',
    unsubscribe_preferences: 'manageUrl',
    first_name: 'firstName',
    last_name: 'lastName',
    '<%asm_group_unsubscribe_raw_url%>': 'unsubscribeUrl',
    '<%asm_global_unsubscribe_raw_url%>': 'unsubscribeUrl',
    '<%asm_preferences_raw_url%>': 'manageUrl',
  }),
);

function fromSendGrid(tag: string): string | undefined {
  if (tag.startsWith('<%')) return SENDGRID_NAMES.get(tag) && `{{${SENDGRID_NAMES.get(tag)}}}`;
  const words = tag.replaceAll(/^\{+\s*|\s*\}+$/g, '');
  const [, inserted, fallback] = /^insert\s+(\S+)(?:\s+"default=([^"]*)")?$/.exec(words) ?? [];
  const path = SENDGRID_NAMES.get(inserted ?? words) ?? inserted;
  if (path === undefined) return tag;
  return fallback === undefined ? `{{${path}}}` : `{{${path} ?? "${fallback}"}}`;
}

/** How a tool writes tags, and what becomes of them. Other text stays as it is. */
const LANGUAGES: Readonly<Record<ToolName, readonly [tag: RegExp, translate: Translate]>> = {
  plunk: [/(?!)/g, (tag) => tag],
  listmonk: [/\{\{[^{}]*\}\}/g, fromListmonk],
  mailchimp: [/\*\|[^|\n]{1,200}\|\*/g, fromMailchimp],
  resend: [/\{\{\{[^{}]*\}\}\}/g, fromResend],
  sendgrid: [/\{\{\{?[^{}]*\}?\}\}|<%[^%]{1,200}%>/g, fromSendGrid],
};

/**
 * Translates a template of another tool. What cannot be translated stays as it is, and is named: such a text is for
 * people to finish, not to be sent.
 */
export function translateTemplate(tool: ToolName, source: string): Translation {
  const [form, translate] = LANGUAGES[tool];
  const blocks: Blocks = [];
  const problems: Translation['problems'] = [];
  const lineAt = (at: number): number => source.slice(0, at).split('\n').length;
  const text = source.replaceAll(form, (tag: string, ...rest: unknown[]) => {
    const translated = translate(tag, blocks);
    if (translated === undefined)
      problems.push({ line: lineAt(Number(rest.find((part) => typeof part === 'number'))), found: tag });
    return translated ?? tag;
  });
  for (const kind of blocks) problems.push({ line: lineAt(source.length), found: `the block ${kind} has no end` });
  return { text, problems };
}
