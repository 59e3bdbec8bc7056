import type { EmailType } from '../../pure/email-types.ts';
import { compileMessageTemplate, type RenderedMessage } from '../../pure/message-template.ts';
import { createRenderScope, type RenderScopeInput } from '../../pure/render-scope.ts';
import { htmlToText } from './html-to-text.ts';

export interface MailSource {
  subject: string;
  /** HTML with placeholders. */
  html: string;
  type: EmailType;
}

/** A mail ready to be rendered for any number of recipients. */
export interface MailContent {
  /** @throws TemplateLimitError */
  render: (input: RenderScopeInput) => RenderedMessage;
}

const UNSUBSCRIBE_PLACEHOLDER = /\{\{\{?\s*(?:unsubscribeUrl|manageUrl)\b/;

const FOOTER = `
<div style="margin-top:32px;padding-top:16px;border-top:1px solid #d9d9d9;font:12px/1.5 sans-serif;color:#666666;text-align:center">
<a href="{{unsubscribeUrl}}" style="color:#666666">Unsubscribe</a>
</div>
`;

/** MARKETING mail always offers a way out; a body that has its own link is left as it is. */
function withFooter({ html, type }: MailSource): string {
  if (type !== 'MARKETING' || UNSUBSCRIBE_PLACEHOLDER.test(html)) return html;
  const end = html.toLowerCase().lastIndexOf('</body>');
  return end === -1 ? html + FOOTER : html.slice(0, end) + FOOTER + html.slice(end);
}

/** Compiles a mail. @throws TemplateSyntaxError whose `part` names subject or html */
export function compileMail(source: MailSource): MailContent {
  const template = compileMessageTemplate({ subject: source.subject, html: withFooter(source) }, { htmlToText });
  return { render: (input) => template.render(createRenderScope(input)) };
}

const CACHE_SIZE = 200;

/** Compiles each distinct mail once; a template that is sent a thousand times a minute is parsed once. */
export function createMailCompiler(): (source: MailSource) => MailContent {
  const cache = new Map<string, MailContent>();
  return (source) => {
    const key = `${source.type}\0${source.subject}\0${source.html}`;
    const known = cache.get(key);
    const content = known ?? compileMail(source);
    cache.delete(key);
    cache.set(key, content);
    if (cache.size > CACHE_SIZE) {
      const [oldest] = cache.keys();
      if (oldest !== undefined) cache.delete(oldest);
    }
    return content;
  };
}

/**
 * Headers that bulk mail carries: the unsubscribe link (RFC 2369) that a mail program can press itself (RFC 8058), and
 * the mark that keeps out-of-office replies away.
 */
export function bulkHeaders(type: EmailType, unsubscribeUrl: string): [string, string][] {
  if (type !== 'MARKETING') return [];
  return [
    ['List-Unsubscribe', `<${unsubscribeUrl}>`],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
    ['Precedence', 'bulk'],
  ];
}
