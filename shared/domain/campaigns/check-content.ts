import { linksOf } from '../../sending/compose/tracked-html.ts';
import { convertHtml } from '../../sending/compose/convert-html.ts';
import { compileEmail, type EmailRenderInput } from '../../sending/compose/compiled-email.ts';
import { createYields, runWithYields, yieldNow } from '../../platform/yielding.ts';
import type { EmailTopic } from '../../pure/emails/email-topic.ts';
import type { Brand } from '../../pure/brand.ts';
import { isEmailTracked, type TrackingMode } from '../../pure/project.ts';
import { findLookAlikes } from '../../pure/templates/look-alikes.ts';
import { placeholderSteps, type Placeholder } from '../../pure/templates/placeholders.ts';
import { TemplateLimitError, TemplateSyntaxError } from '../../pure/templates/template-language.ts';
import type { Campaign } from './campaign.entity.ts';

interface BadLink {
  href: string;
  reason: string;
}

const PLACEHOLDERS_MAX = 50;
const BAD_LINKS_MAX = 50;
const HREF_SHOWN_MAX = 200;
const LOOK_ALIKES_MAX = 5;
const SCHEME = /^([a-z][a-z\d+.-]*):/i;
const SCHEMES: ReadonlySet<string> = new Set(['mailto', 'tel', 'sms', 'cid', 'webcal']);

function faultOfLink(href: string): string | undefined {
  if (href === '' || href === '#') return 'It leads nowhere.';
  if (href.startsWith('#')) return undefined;
  const scheme = SCHEME.exec(href)?.[1]?.toLowerCase();
  if (scheme === undefined) return 'It has no scheme such as https://, so it leads nowhere from an email.';
  if (SCHEMES.has(scheme)) return undefined;
  if (scheme !== 'http' && scheme !== 'https') return `Mail programs do not follow ${scheme}: links.`;
  const rest = href.slice(scheme.length + 1);
  if (!rest.startsWith('//') || /\s/.test(href) || !URL.canParse(href)) return 'It is not a well-formed address.';
  const { hostname } = new URL(href);
  return hostname.includes('.') || hostname.startsWith('[') ? undefined : 'Its host is not known to others.';
}

async function findBadLinks(html: string, isOwnLink: (url: string) => boolean): Promise<BadLink[]> {
  const yieldIfDue = createYields();
  const found = new Map<string, BadLink>();
  for (const href of linksOf(html)) {
    const reason = isOwnLink(href) ? undefined : faultOfLink(href);
    if (reason !== undefined) found.set(href, { href: href.slice(0, HREF_SHOWN_MAX), reason });
    if (found.size === BAD_LINKS_MAX) break;
    await yieldIfDue();
  }
  return [...found.values()];
}

async function findAllPlaceholders(sources: (string | null | undefined)[]): Promise<Placeholder[]> {
  const found: Placeholder[] = [];
  for (const source of sources) found.push(...(await runWithYields(placeholderSteps(source ?? '', PLACEHOLDERS_MAX))));
  return found;
}

/** Renders a campaign for one contact, as it would be sent, and checks the result. */
export async function checkContent(
  campaign: Campaign,
  topic: EmailTopic | null,
  { tracking, brand }: { tracking: TrackingMode; brand: Brand },
  scope: EmailRenderInput,
) {
  const { subject, body: html, text, preheader, type } = campaign;
  const content = { subject, html, text, brand, topic };
  try {
    const email = await compileEmail({ ...content, preheader, type, isTracked: isEmailTracked(tracking, type, true) });
    // Without footer and tracking, this is the author's HTML.
    const own = (await compileEmail({ ...content, type: 'TRANSACTIONAL', isTracked: false })).render(scope);
    await yieldNow();
    const sent = email.render(scope);
    await yieldNow();
    const shown = text ? `${own.text}\n${await convertHtml(own.html)}` : own.text;
    return {
      fault: null,
      htmlBytes: Buffer.byteLength(sent.html),
      textBytes: Buffer.byteLength(sent.text),
      /** Whether the author's HTML has text for mail programs that show no HTML. */
      hasPlainText: own.text.trim() !== '',
      badLinks: await findBadLinks(own.html, scope.urls.isOwnLink),
      placeholders: await findAllPlaceholders([subject, html, text, preheader]),
      /** Texts such as `${name}` that are sent as they are, although they look like placeholders. */
      lookAlikes: findLookAlikes([own.subject, preheader ?? '', shown].join('\n'), LOOK_ALIKES_MAX),
    };
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError || error instanceof TemplateLimitError)) throw error;
    const nothing = { badLinks: [], placeholders: [], lookAlikes: [] };
    return { fault: error.message, htmlBytes: 0, textBytes: 0, hasPlainText: true, ...nothing };
  }
}
