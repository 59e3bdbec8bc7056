import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { EmailType } from '../../pure/emails/email-types.ts';
import { LIMITS } from '../../pure/limits.ts';
import { localeOf, type Locale } from '../../pure/contacts/locale.ts';
import {
  compileMessageSteps,
  compileMessageTemplate,
  type CompiledMessageTemplate,
  type RenderedMessage,
} from '../../pure/templates/message-template.ts';
import { createRenderScope, type RenderScopeInput } from '../../pure/templates/render-scope.ts';
import type { RenderMeter, RenderScope } from '../../pure/templates/template-language.ts';
import type { EmailLinks } from '../links.ts';
import { pause } from '../turns.ts';
import { convertHtml } from './convert-html.ts';
import { footerHtml } from './footer.ts';
import { htmlToText, htmlToTextQuickly } from './html-to-text.ts';
import { trackHtml } from './tracked-html.ts';

export interface EmailSource {
  subject: string;
  /** HTML with placeholders. */
  html: string;
  type: EmailType;
  /** Whether opens and clicks are counted. */
  isTracked: boolean;
}

export interface EmailRenderInput extends RenderScopeInput {
  urls: EmailLinks;
  /** Counts the cost of rendering, if given. */
  meter?: RenderMeter;
}

/** A mail ready to be rendered for any number of recipients. */
export interface CompiledEmail {
  /** @throws TemplateLimitError */
  render: (input: EmailRenderInput) => RenderedMessage;
}

const UNSUBSCRIBE_PLACEHOLDER = /\{\{\{?\s*(?:unsubscribeUrl|manageUrl)\b/;

/** MARKETING mail always offers a way out; a body that has its own link is left as it is. */
function needsFooter({ html, type }: EmailSource): boolean {
  return type === 'MARKETING' && !UNSUBSCRIBE_PLACEHOLDER.test(html);
}

/** Printed at the end of a MARKETING mail, in the language its recipient turns out to read. */
const FOOTER = '@footer';

function withFooter(html: string): string {
  const end = html.toLowerCase().lastIndexOf('</body>');
  return end === -1 ? `${html}{{{${FOOTER}}}}` : `${html.slice(0, end)}{{{${FOOTER}}}}${html.slice(end)}`;
}

const footers = new Map<Locale, CompiledMessageTemplate>();

function footerOf(locale: Locale): CompiledMessageTemplate {
  const known = footers.get(locale);
  if (known) return known;
  const footer = compileMessageTemplate({ subject: '', html: footerHtml(locale) }, { htmlToText });
  footers.set(locale, footer);
  return footer;
}

/** Names beginning with `@` are Everpost's own; everything else is the scope's. */
function withOwnValues(scope: RenderScope, valueOf: (name: string) => string | undefined): RenderScope {
  return { get: (name) => (name.startsWith('@') ? (valueOf(name) ?? scope.get(name)) : scope.get(name)) };
}

/** Shorter ones are compiled before anybody else would have had a turn. */
const PAUSED_LENGTH_MIN = 50_000;

async function compileWithPauses(source: { subject: string; html: string; sentHtml?: string }) {
  const steps = compileMessageSteps(source, { htmlToText: htmlToTextQuickly });
  for (let step = steps.next(); ;) {
    if (step.done) return step.value;
    if (step.value !== 'pause') {
      step = steps.next(await convertHtml(step.value.convert));
      continue;
    }
    if (source.html.length >= PAUSED_LENGTH_MIN) await pause();
    step = steps.next('');
  }
}

/**
 * Compiles a mail. The text/plain part keeps the addresses as they were written: there they are read, not only followed.
 * A body longer than a template may be is not tracked. @throws TemplateSyntaxError, TemplateLimitError, whose `part`
 * names subject or html
 */
export async function compileEmail(source: EmailSource): Promise<CompiledEmail> {
  const { subject, html } = source;
  const hasFooter = needsFooter(source);
  const whole = hasFooter ? withFooter(html) : html;
  const tracked = source.isTracked && html.length <= LIMITS.templateLength ? trackHtml(whole) : undefined;
  const sentHtml = tracked?.html ?? (hasFooter ? whole : undefined);
  const template = await compileWithPauses({ subject, html, sentHtml });
  if (sentHtml === undefined) {
    return { render: ({ meter, ...input }) => template.render(createRenderScope(input), meter) };
  }
  return {
    render({ meter, ...input }) {
      const scope = createRenderScope(input);
      const locale = localeOf(input.requestData?.['locale'] ?? input.contact.data['locale']);
      const footer = hasFooter ? footerOf(locale).render(scope) : undefined;
      const signer = tracked?.signerFor(input.urls);
      const valueOf = (name: string) => (name === FOOTER ? footer?.html : signer?.valueOf(name));
      const message = template.render(withOwnValues(scope, valueOf), meter);
      return {
        subject: message.subject,
        html: signer?.finishHtml(message.html) ?? message.html,
        text: footer ? `${message.text}\n\n${footer.text}`.trimStart() : message.text,
      };
    },
  };
}

/** Compiled, about: text in two forms, and a tag in the trees of both parts. */
const BYTES_PER_CHARACTER = 4;
const BYTES_PER_TAG = 2_400;

function weigh({ subject, html }: EmailSource): number {
  let tagCount = 0;
  for (let at = html.indexOf('{{'); at !== -1; at = html.indexOf('{{', at + 2)) tagCount += 1;
  return 1_000 + (subject.length + html.length) * BYTES_PER_CHARACTER + tagCount * BYTES_PER_TAG;
}

/** Compiles mails, each distinct one once. */
export type EmailCompiler = (source: EmailSource) => Promise<CompiledEmail>;

/** A template that is sent a thousand times a minute is parsed once, as long as there is room for it. */
export function createEmailCompiler(): EmailCompiler {
  const cache = new LRUCache<string, CompiledEmail>({ maxSize: LIMITS.compiledTemplatesBytes });
  const underWay = new Map<string, Promise<CompiledEmail>>();
  return async (source) => {
    const { type, isTracked, subject, html } = source;
    const key = hash('sha256', JSON.stringify([type, isTracked, subject]) + html, 'base64url');
    const known = cache.get(key) ?? underWay.get(key);
    if (known) return known;
    const compiling = compileEmail(source);
    underWay.set(key, compiling);
    try {
      const content = await compiling;
      cache.set(key, content, { size: weigh(source) });
      return content;
    } finally {
      underWay.delete(key);
    }
  };
}
