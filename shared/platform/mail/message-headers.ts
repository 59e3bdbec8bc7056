import { domainToASCII } from 'node:url';
import { domainOf } from '../../pure/emails/email-address.ts';
import { needsSubscription, type EmailType } from '../../pure/emails/email-types.ts';
import type { EmailLinks } from '../links.ts';

/** The input for the headers of an email. */
export interface MailStream {
  type: EmailType;
  source: 'campaign' | 'automation' | 'request';
  /** The campaign, the automation, or the template of a request. */
  sourceId: string | null;
  projectId: string;
  /** The address of the sender. */
  from: string;
}

type HeaderLinks = Pick<EmailLinks, 'unsubscribeUrl' | 'unsubscribeAddress' | 'instanceId'>;

/** RFC 2919 section 2. */
const LIST_ID_LENGTH_MAX = 255;

/** The list of a project, below the domain it sends from; none where the domain is too long. */
function listHeaders({ projectId, from }: MailStream): [string, string][] {
  const id = `<${projectId}.${domainToASCII(domainOf(from))}>`;
  return id.length <= LIST_ID_LENGTH_MAX ? [['List-Id', id]] : [];
}

/**
 * Headers that providers ask for, of the emails of one stream. Feedback-ID (Gmail) names what complaints are counted
 * by. Mail that needs consent carries its list (RFC 2919), the link out (RFC 2369) that a mail program can press itself
 * (RFC 8058) or write to, and the mark that keeps out-of-office replies away. Other mail that a program sends for one
 * person says so (RFC 3834); campaigns do not, since a person has sent them.
 */
export function createMessageHeaders(stream: MailStream): (links: HeaderLinks) => [string, string][] {
  const { type, source, sourceId, projectId } = stream;
  const feedback = `${sourceId ?? 'none'}:${projectId}:${type.toLowerCase()}`;
  const isBulk = needsSubscription(type);
  const isAutomatic = source === 'automation' || (source === 'request' && !isBulk);
  const fixed: [string, string][] = [
    ...(isBulk ? [...listHeaders(stream), ['Precedence', 'bulk'] satisfies [string, string]] : []),
    ...(isAutomatic ? [['Auto-Submitted', 'auto-generated'] satisfies [string, string]] : []),
  ];
  return (links) => {
    const headers: [string, string][] = [['Feedback-ID', `${feedback}:${links.instanceId}`], ...fixed];
    if (!isBulk) return headers;
    const { unsubscribeUrl, unsubscribeAddress } = links;
    const byMail = unsubscribeAddress === undefined ? '' : `, <mailto:${unsubscribeAddress}?subject=unsubscribe>`;
    headers.push(
      ['List-Unsubscribe', `<${unsubscribeUrl}>${byMail}`],
      ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
    );
    return headers;
  };
}
