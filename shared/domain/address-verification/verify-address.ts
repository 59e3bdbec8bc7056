import { LRUCache } from 'lru-cache';
import { toDomainName } from '../domains/domain-name.ts';
import { domainOf } from '../../pure/emails/email-address.ts';
import { isRecipientAddress, needsUtf8 } from '../../sending/transport/wire-address.ts';
import type { DnsResolver } from '../../platform/dns/resolver.ts';
import { lookUpMailDomain, takesMail, type MailDomain } from './mail-domain.ts';
import { createMailboxServices } from './mailbox-services.ts';
import { suggestDomain } from './typos.ts';

/** Verifies an address in the form of `emailAddressSchema`. Takes no longer than the queries of the resolver. */
export type AddressVerifier = (email: string) => Promise<ReturnType<typeof unverified> & { suggestedEmail?: string }>;

const CACHE_SIZE = 5_000;
const CACHE_MS = 60_000;

/** Looks domains up, and caches answers for a minute, because lists have many addresses of few domains. */
function createMailDomains(resolver: DnsResolver, now: () => number): (domain: string) => Promise<MailDomain> {
  const cache = new LRUCache<string, Promise<MailDomain>>({
    max: CACHE_SIZE,
    ttl: CACHE_MS,
    ttlResolution: 0,
    perf: { now },
  });
  return (name) => {
    const known = cache.get(name);
    if (known) return known;
    const lookUp = lookUpMailDomain(resolver, name);
    cache.set(name, lookUp);
    void lookUp.then((domain) => {
      // A result without an answer is not cached: the next query may get one.
      if (domain.isUnanswered && cache.peek(name) === lookUp) cache.delete(name);
    });
    return lookUp;
  };
}

function deliveryReason(domain: MailDomain): string | undefined {
  if (domain.isUnanswered) return 'The name servers of the domain did not answer in time; try again later';
  if (!domain.exists) return 'The domain does not exist';
  if (domain.mx === 'null') return 'The domain takes no mail: it has a null MX record';
  if (domain.mx === 'present') return undefined;
  return domain.hasWebsite
    ? 'The domain has no MX record; its mail goes to the host of its address record'
    : 'The domain takes no mail: it has neither MX nor address records';
}

/** The result for an address before its domain is looked up. */
function unverified(email: string) {
  return {
    email,
    /** Whether mail can be delivered to the address, as far as its domain tells. */
    valid: false,
    isDisposable: false,
    isAlias: false,
    isTypo: false,
    isPlusAddressed: localPartOf(email).includes('+'),
    isPersonalEmail: false,
    domainExists: false,
    hasWebsite: false,
    hasMxRecords: false,
    /** Sentences for people. */
    reasons: [] as string[],
  };
}

function localPartOf(email: string): string {
  return email.slice(0, email.lastIndexOf('@'));
}

/** Creates a verifier with its own cache. */
export function createAddressVerifier(resolver: DnsResolver, now: () => number = Date.now): AddressVerifier {
  const services = createMailboxServices();
  const mailDomainOf = createMailDomains(resolver, now);

  return async (email) => {
    const name = toDomainName(domainOf(email));
    if (name === undefined) {
      return { ...unverified(email), reasons: ['The format is wrong: what follows the @ is not a domain name'] };
    }

    const domain = await mailDomainOf(name);
    const isDisposable = services.isDisposable(name);
    const isAlias = services.isForwarding(name);
    const isPersonalEmail = services.isPersonal(name);
    const suggested =
      isPersonalEmail || isAlias
        ? undefined
        : suggestDomain(name, {
            takesMail: takesMail(domain) || domain.isUnanswered,
            isProvider: services.isPersonal,
          });
    const isMailable = isRecipientAddress(email);
    const reasons = [
      isMailable ? undefined : 'Everpost cannot send to this address',
      needsUtf8(email)
        ? 'The part before the @ has letters outside ASCII: only mail servers with SMTPUTF8 take it'
        : undefined,
      deliveryReason(domain),
      isDisposable ? 'The domain belongs to a service for disposable addresses' : undefined,
      isAlias ? 'The domain belongs to a service that forwards mail to another address' : undefined,
      suggested === undefined ? undefined : `Probably misspelt: did you mean ${suggested}?`,
    ].filter((reason) => reason !== undefined);
    return {
      ...unverified(email),
      valid: isMailable && takesMail(domain),
      isDisposable,
      isAlias,
      isTypo: suggested !== undefined,
      isPersonalEmail,
      domainExists: domain.exists,
      hasWebsite: domain.hasWebsite,
      hasMxRecords: domain.mx === 'present',
      ...(suggested !== undefined && { suggestedEmail: `${localPartOf(email)}@${suggested}` }),
      reasons: reasons.length > 0 ? reasons : ['The domain takes mail'],
    };
  };
}
