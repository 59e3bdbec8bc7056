import { domainToASCII } from 'node:url';
import { domainOf } from '../../pure/emails/email-address.ts';

/** The Message-ID of an email, without angle brackets: the same at each attempt, at the domain of its author in ASCII. */
export function messageIdOf(emailId: string, fromAddress: string): string {
  const domain = domainOf(fromAddress);
  return `${emailId}@${domainToASCII(domain) || domain}`;
}
