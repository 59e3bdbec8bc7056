import type { Brand } from '../../pure/brand.ts';
import { textsOf, type Language } from '../../pure/languages/languages.ts';
import { topicNameIn, type EmailTopic } from '../../pure/emails/email-topic.ts';
import type { RecipientUrls } from '../../pure/templates/render-scope.ts';
import { escapeHtml } from '../../pure/templates/template-language.ts';

/** The footer of a MARKETING email for both parts. */
export interface Footer {
  html: string;
  text: string;
}

const BOX_STYLE =
  'margin-top:32px;padding-top:16px;border-top:1px solid #d9d9d9;' +
  'font:12px/1.5 sans-serif;color:#595959;text-align:center';
const LINE_STYLE = 'margin:0 0 8px';
const LINK_STYLE = 'color:#595959';
/** Mail programs treat the lines after it as a signature (RFC 3676 section 4.3). */
const TEXT_RULE = '-- ';

/** The parts of the footer that all recipients with one language share: before, between and after the two links. */
interface FooterFrame {
  html: readonly [string, string, string];
  text: readonly [string, string];
}

function frameOf(language: Language, brand: Brand, topic: EmailTopic | null): FooterFrame {
  const { direction, footer } = textsOf(language);
  const { reason: reasonText, unsubscribe, manage } = topic ? footer.topic : footer;
  const names: Readonly<Record<string, string>> = {
    name: brand.name,
    topic: topic ? topicNameIn(topic, language) : '',
  };
  const reason = reasonText.replace(/\{(name|topic)\}/g, (_placeholder, key: string) => names[key] ?? '');
  const addressLines = brand.postalAddress?.split('\n') ?? [];
  const logo =
    brand.logoUrl === null
      ? ''
      : `<img src="${escapeHtml(brand.logoUrl)}" alt="" height="32" style="height:32px;max-width:200px;border:0">`;
  const htmlLines = [logo, escapeHtml(reason), addressLines.map(escapeHtml).join('<br>')].filter(Boolean);
  const linkEnd = (label: string) => `" style="${LINK_STYLE}">${label}</a>`;
  const start = `
<div lang="${language}" dir="${direction}" style="${BOX_STYLE}">
${htmlLines.map((line) => `<p style="${LINE_STYLE}">${line}</p>`).join('\n')}
<p style="margin:0"><a href="`;
  return {
    html: [start, `${linkEnd(unsubscribe)} &middot; <a href="`, `${linkEnd(manage)}</p>\n</div>\n`],
    text: [[TEXT_RULE, reason, ...addressLines, '', `${unsubscribe}: `].join('\n'), `\n${manage}: `],
  };
}

/**
 * Creates the footers of a brand. A footer is in the language of the recipient. It contains the sender, the reason for
 * the email, the postal address, and links to unsubscribe and to manage the subscription. For an email with a topic,
 * the reason is the topic, and the first link is there to leave it.
 */
export function createFooters(
  brand: Brand,
  topic: EmailTopic | null,
): (language: Language, links: Pick<RecipientUrls, 'unsubscribeUrl' | 'manageUrl'>) => Footer {
  const frames = new Map<Language, FooterFrame>();
  return (language, { unsubscribeUrl, manageUrl }) => {
    let frame = frames.get(language);
    if (!frame) {
      frame = frameOf(language, brand, topic);
      frames.set(language, frame);
    }
    const { html, text } = frame;
    return {
      html: html[0] + escapeHtml(unsubscribeUrl) + html[1] + escapeHtml(manageUrl) + html[2],
      text: text[0] + unsubscribeUrl + text[1] + manageUrl,
    };
  };
}
