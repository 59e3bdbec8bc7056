import { domainToASCII } from 'node:url';
import { domainOf } from '../../pure/emails/email-address.ts';
import { needsSubscription, type EmailType } from '../../pure/emails/email-types.ts';
import type { EmailTopic } from '../../pure/emails/email-topic.ts';
import type { EmailLinks } from './links.ts';

/** The facts about an email that its headers follow from. */
export interface HeaderSource {
  type: EmailType;
  source: 'campaign' | 'automation' | 'request';
  /** The id of the campaign, of the automation, or of the template of a request. */
  sourceId: string | null;
  projectId: string;
  /** The address in the header From. */
  from: string;
  /** The name of the list that mail programs show; null for none. A topic is a list of its own. */
  listName: string | null;
  topic: Pick<EmailTopic, 'id' | 'name'> | null;
}

type HeaderLinks = Pick<EmailLinks, 'unsubscribeUrl' | 'unsubscribeAddress' | 'instanceId'>;

/** RFC 2919 section 2. */
const LIST_ID_LENGTH_MAX = 255;

/**
 * The List-Id of a topic or else of a project, below the domain of the header From, after the quoted name of the list;
 * none if the domain is too long. It stays the same when the topic is renamed.
 */
function listHeaders({ projectId, from, listName, topic }: HeaderSource): [string, string][] {
  const id = `<${topic?.id ?? projectId}.${domainToASCII(domainOf(from))}>`;
  if (id.length > LIST_ID_LENGTH_MAX) return [];
  const name = topic?.name ?? listName;
  return [['List-Id', name === null ? id : `"${name.replace(/["\\]/g, '\\$&')}" ${id}`]];
}

/**
 * Creates the headers that mailbox providers require, for emails with one source.
 *
 * Feedback-ID (Gmail) names what complaints are counted by. MARKETING and HEADLESS email has a List-Id (RFC 2919) and a
 * Precedence that suppresses out-of-office replies. It has a link to unsubscribe (RFC 2369) that a mail program can
 * call with one click (RFC 8058), and with an inbound domain also an address. Other automatic email is marked as such
 * (RFC 3834); campaigns are not, because a person has sent them.
 */
export function createMessageHeaders(input: HeaderSource): (links: HeaderLinks) => [string, string][] {
  const { type, source, sourceId, projectId } = input;
  const feedback = `${sourceId ?? 'none'}:${projectId}:${type.toLowerCase()}`;
  const needsConsent = needsSubscription(type);
  const isAutomatic = source === 'automation' || (source === 'request' && !needsConsent);
  const fixed: [string, string][] = [];
  if (needsConsent) fixed.push(...listHeaders(input), ['Precedence', 'bulk']);
  if (isAutomatic) fixed.push(['Auto-Submitted', 'auto-generated']);
  return (links) => {
    const headers: [string, string][] = [['Feedback-ID', `${feedback}:${links.instanceId}`], ...fixed];
    if (!needsConsent) return headers;
    const { unsubscribeUrl, unsubscribeAddress } = links;
    const byMail = unsubscribeAddress === undefined ? '' : `, <mailto:${unsubscribeAddress}?subject=unsubscribe>`;
    headers.push(
      ['List-Unsubscribe', `<${unsubscribeUrl}>${byMail}`],
      ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
    );
    return headers;
  };
}
