import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { EmailType } from '../../pure/emails/email-types.ts';
import type { EmailTopic } from '../../pure/emails/email-topic.ts';
import type { Brand } from '../../pure/brand.ts';
import { LIMITS } from '../../pure/limits.ts';
import { chooseLanguage, type Language } from '../../pure/languages/languages.ts';
import { compileMessageSteps, compileTextPart, type RenderedMessage } from '../../pure/templates/message-template.ts';
import { createRenderScope, type RenderScopeInput } from '../../pure/templates/render-scope.ts';
import { createRenderMeter, type RenderMeter, type RenderScope } from '../../pure/templates/template-language.ts';
import type { EmailLinks } from './links.ts';
import { createYields } from '../../platform/yielding.ts';
import { convertHtml } from './convert-html.ts';
import { createFooters } from './footer.ts';
import { htmlToTextQuickly } from './html-to-text.ts';
import { contentEndOf, contentStartOf, preheaderHtml } from './preheader.ts';
import { trackHtml } from './tracked-html.ts';

export interface EmailSource {
  subject: string;
  html: string;
  /** The text/plain part that the author wrote, with placeholders; without it the part is derived from the HTML. */
  text?: string | null;
  /** The text that mail programs show beside the subject, with placeholders. */
  preheader?: string | null;
  type: EmailType;
  /** Whether opens and clicks are recorded. */
  isTracked: boolean;
  /** Shown in the footer. */
  brand: Brand;
  /** Named in the footer; null without one. */
  topic: EmailTopic | null;
}

export interface EmailRenderInput extends RenderScopeInput {
  urls: EmailLinks;
  /** Measures the cost of rendering, if given. */
  meter?: RenderMeter;
}

/** An email ready to be rendered for any number of recipients. */
export interface CompiledEmail {
  /** @throws TemplateLimitError */
  render: (input: EmailRenderInput) => RenderedMessage;
}

const UNSUBSCRIBE_PLACEHOLDER = /\{\{\{?\s*(?:unsubscribeUrl|manageUrl)\b/;

/** Every MARKETING email lets its recipient unsubscribe. A part with its own link gets no footer. */
function needsFooter(type: EmailType, part: string): boolean {
  return type === 'MARKETING' && !UNSUBSCRIBE_PLACEHOLDER.test(part);
}

/** The placeholder of the footer, which is rendered in the language of the recipient. */
const FOOTER = '@footer';
/** The placeholder of the preheader. */
const PREHEADER = '@preheader';

function withFooter(html: string): string {
  const end = contentEndOf(html);
  return `${html.slice(0, end)}{{{${FOOTER}}}}${html.slice(end)}`;
}

function withPreheader(html: string): string {
  const start = contentStartOf(html);
  return `${html.slice(0, start)}{{{${PREHEADER}}}}${html.slice(start)}`;
}

/** Resolves names that begin with `@` to values of Everpost, and all others to values of the scope. */
function withOwnValues(scope: RenderScope, valueOf: (name: string) => string | undefined): RenderScope {
  return { get: (name) => (name.startsWith('@') ? (valueOf(name) ?? scope.get(name)) : scope.get(name)) };
}

async function compileWithYields(
  source: Pick<EmailSource, 'subject' | 'html' | 'text'> & { sentHtml?: string },
  yieldIfDue: () => Promise<void> | undefined,
) {
  const steps = compileMessageSteps(source, { htmlToText: htmlToTextQuickly });
  for (let step = steps.next(); ;) {
    if (step.done) return step.value;
    if (step.value !== 'pause') {
      step = steps.next(await convertHtml(step.value.convert));
      continue;
    }
    await yieldIfDue();
    step = steps.next('');
  }
}

function languageFor({ brand }: EmailSource, { requestData, contact }: EmailRenderInput): Language {
  const locale = requestData?.['locale'] ?? contact.data['locale'];
  return chooseLanguage({ locale, projectLanguage: brand.language });
}

/**
 * Compiles an email. The text/plain part keeps its URLs as written, because readers see them there. A body longer than
 * a template may be is not tracked.
 * @throws TemplateSyntaxError, TemplateLimitError, whose `part` names subject, html, text or preheader
 */
export async function compileEmail(source: EmailSource): Promise<CompiledEmail> {
  const { subject, html, text, type } = source;
  const yieldIfDue = createYields();
  const hasFooter = needsFooter(type, html);
  const hasTextFooter = needsFooter(type, text ?? html);
  const preheader = source.preheader ? compileTextPart('preheader', source.preheader) : undefined;
  let whole = hasFooter ? withFooter(html) : html;
  if (preheader) whole = withPreheader(whole);
  await yieldIfDue();
  const tracked = source.isTracked && html.length <= LIMITS.templateLength ? trackHtml(whole) : undefined;
  const sentHtml = tracked?.html ?? (whole === html ? undefined : whole);
  await yieldIfDue();
  const template = await compileWithYields({ subject, html, text, sentHtml }, yieldIfDue);
  const footerIn = createFooters(source.brand, source.topic);
  return {
    render({ meter = createRenderMeter(), ...input }) {
      const scope = createRenderScope(input);
      const footer = hasFooter || hasTextFooter ? footerIn(languageFor(source, input), input.urls) : undefined;
      const signer = tracked?.signerFor(input.urls);
      const valueOf = (name: string): string | undefined => {
        if (name === FOOTER) return footer?.html;
        if (name === PREHEADER && preheader) return preheaderHtml(preheader.render(scope, meter));
        return signer?.valueOf(name);
      };
      const message = template.render(sentHtml === undefined ? scope : withOwnValues(scope, valueOf), meter);
      const words = message.text.trimStart();
      return {
        subject: message.subject,
        html: signer?.finishHtml(message.html) ?? message.html,
        text: footer && hasTextFooter ? `${words}${words && '\n\n'}${footer.text}` : message.text,
      };
    },
  };
}

/**
 * The approximate memory of a compiled email: two copies of the text, and a node per tag in the trees of both parts.
 */
const BYTES_PER_CHARACTER = 4;
const BYTES_PER_TAG = 2_400;

function memoryOf({ subject, html, text, preheader }: EmailSource): number {
  let bytes = 1_000;
  for (const part of [subject, html, text ?? '', preheader ?? '']) {
    bytes += part.length * BYTES_PER_CHARACTER;
    for (let at = part.indexOf('{{'); at !== -1; at = part.indexOf('{{', at + 2)) bytes += BYTES_PER_TAG;
  }
  return bytes;
}

/** The cache key: equal for sources that compile to the same email. The length of `text` separates it from `html`. */
function keyOf({ type, isTracked, subject, html, text, preheader, brand, topic }: EmailSource): string {
  const shown = type === 'MARKETING' ? [brand, topic] : null;
  const head = JSON.stringify([type, isTracked, subject, preheader ?? null, shown, text?.length ?? null]);
  return hash('sha256', `${head}${text ?? ''}${html}`, 'base64url');
}

/** Compiles emails. Equal sources are compiled once. */
export type EmailCompiler = (source: EmailSource) => Promise<CompiledEmail>;

/** Creates a compiler with a cache, so that a template in frequent use is parsed once as long as the cache holds it. */
export function createEmailCompiler(): EmailCompiler {
  const cache = new LRUCache<string, CompiledEmail>({ maxSize: LIMITS.compiledTemplatesBytes });
  const underWay = new Map<string, Promise<CompiledEmail>>();
  return async (source) => {
    // Such a body hardly fits into the cache, and its key takes long to compute.
    if (source.html.length > LIMITS.templateLength) return compileEmail(source);
    const key = keyOf(source);
    const known = cache.get(key) ?? underWay.get(key);
    if (known) return known;
    const compiling = compileEmail(source);
    underWay.set(key, compiling);
    try {
      const content = await compiling;
      cache.set(key, content, { size: memoryOf(source) });
      return content;
    } finally {
      underWay.delete(key);
    }
  };
}
