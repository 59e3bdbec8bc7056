import type { EmailType } from '../../pure/email-types.ts';
import { localeOf, type Locale } from '../../pure/locale.ts';
import { compileMessageTemplate, type RenderedMessage } from '../../pure/message-template.ts';
import { createRenderScope, type RenderScopeInput } from '../../pure/render-scope.ts';
import type { RenderScope } from '../../pure/template-language.ts';
import type { MailLinks } from '../links.ts';
import { footerHtml } from './footer.ts';
import { htmlToText } from './html-to-text.ts';
import { trackHtml } from './tracked-html.ts';

export interface MailSource {
  subject: string;
  /** HTML with placeholders. */
  html: string;
  type: EmailType;
  /** Whether opens and clicks are counted. */
  isTracked: boolean;
}

export interface MailRenderInput extends RenderScopeInput {
  urls: MailLinks;
}

/** A mail ready to be rendered for any number of recipients. */
export interface MailContent {
  /** @throws TemplateLimitError */
  render: (input: MailRenderInput) => RenderedMessage;
}

const UNSUBSCRIBE_PLACEHOLDER = /\{\{\{?\s*(?:unsubscribeUrl|manageUrl)\b/;

/** MARKETING mail always offers a way out; a body that has its own link is left as it is. */
function needsFooter({ html, type }: MailSource): boolean {
  return type === 'MARKETING' && !UNSUBSCRIBE_PLACEHOLDER.test(html);
}

function withFooter(html: string, locale: Locale): string {
  const end = html.toLowerCase().lastIndexOf('</body>');
  return end === -1 ? html + footerHtml(locale) : html.slice(0, end) + footerHtml(locale) + html.slice(end);
}

function withTrackingValues(scope: RenderScope, valueOf: (name: string) => string | undefined): RenderScope {
  return { get: (name) => (name.startsWith('@') ? (valueOf(name) ?? scope.get(name)) : scope.get(name)) };
}

/** The text/plain part keeps the addresses as they were written: there they are read, not only followed. */
function compileVariant(subject: string, html: string, isTracked: boolean): MailContent {
  const tracked = isTracked ? trackHtml(html) : undefined;
  const template = compileMessageTemplate({ subject, html, sentHtml: tracked?.html }, { htmlToText });
  if (!tracked) return { render: (input) => template.render(createRenderScope(input)) };
  return {
    render(input) {
      const { urls } = input;
      const scope = withTrackingValues(createRenderScope(input), (name) => tracked.valueOf(name, urls));
      const message = template.render(scope);
      return {
        subject: message.subject,
        html: tracked.finishHtml(message.html, urls),
        text: tracked.finishText(message.text, urls),
      };
    },
  };
}

/**
 * Compiles a mail, with a variant for each language of the footer that a recipient turns out to read: a recipient
 * costs no translation. @throws TemplateSyntaxError whose `part` names subject or html
 */
export function compileMail(source: MailSource): MailContent {
  const { subject, html, isTracked } = source;
  if (!needsFooter(source)) return compileVariant(subject, html, isTracked);
  const variants = new Map<Locale, MailContent>();
  const variantFor = (locale: Locale): MailContent => {
    const known = variants.get(locale) ?? compileVariant(subject, withFooter(html, locale), isTracked);
    variants.set(locale, known);
    return known;
  };
  variantFor('en');
  return {
    render: (input) =>
      variantFor(localeOf(input.requestData?.['locale'] ?? input.contact.data['locale'])).render(input),
  };
}

const CACHE_SIZE = 200;

/** Compiles each distinct mail once; a template that is sent a thousand times a minute is parsed once. */
export function createMailCompiler(): (source: MailSource) => MailContent {
  const cache = new Map<string, MailContent>();
  return (source) => {
    const key = `${source.type}\0${source.isTracked}\0${source.subject}\0${source.html}`;
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
