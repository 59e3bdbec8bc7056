import { dnsDomainOf } from '../../pure/emails/email-address.ts';
import type { DnsResolver } from '../../platform/dns/resolver.ts';
import { isProviderGroup, recipientProviderOf } from './recipient-provider.ts';

/** Providers whose mail servers have other names than their domain: the ends of these names, by provider. */
const SERVER_NAMES: Readonly<Record<string, readonly string[]>> = {
  'gmail.com': ['google.com', 'googlemail.com'],
  'outlook.com': ['olc.protection.outlook.com'],
  // Microsoft 365: domains of organizations, on other servers than the mailboxes of Outlook.
  'onmicrosoft.com': ['mail.protection.outlook.com', 'mx.microsoft'],
  'yahoo.com': ['yahoodns.net'],
  'icloud.com': ['mail.icloud.com'],
  'gmx.net': ['gmx.net', 'web.de'],
  'fastmail.com': ['messagingengine.com'],
  'proton.me': ['protonmail.ch'],
  '163.com': ['netease.com'],
  'orange.fr': ['orange.fr', 'wanadoo.fr'],
  'mimecast.com': ['mimecast.com', 'mimecast.co.za'],
  'proofpoint.com': ['pphosted.com', 'ppe-hosted.com'],
};
const NAMED: ReadonlySet<string> = new Set(Object.keys(SERVER_NAMES));
const BY_SERVER_NAME = Object.entries(SERVER_NAMES).flatMap(([provider, names]) =>
  names.map((name) => [name, provider] as const),
);

const DOMAINS_MAX = 100_000;
const FOUND_MS = 3_600_000;
/** A domain whose look-up failed counts as its own provider until the next one. */
const FAILED_MS = 60_000;
const WAIT_MS = 1_000;
const SAME_MS = 20;
/** After so many look-ups in a row without an answer, mail does not wait for look-ups until one is answered. */
const UNANSWERED_MAX = 3;

/** Labels below a country that belong to nobody, as in example.co.uk. */
const SECOND_LEVEL =
  /^(?:ac|asso|co|com|edu|firm|gen|go|gob|gouv|gov|govt|gv|id|ind|ltd|me|mil|ne|net|nhs|nic|nom|or|org|plc|sch|web)$/;

/** The organization that a server belongs to, by its name: the last two labels, or three as in example.co.uk. */
function organizationOf(server: string): string {
  const labels = server.split('.');
  const [top = '', second = ''] = labels.toReversed();
  return labels.slice(top.length === 2 && SECOND_LEVEL.test(second) ? -3 : -2).join('.');
}

/** The provider behind a mail server. */
export function providerOfServer(name: string): string {
  const server = name.toLowerCase().replace(/\.$/, '');
  const known = BY_SERVER_NAME.find(([end]) => server === end || server.endsWith(`.${end}`));
  return known?.[1] ?? organizationOf(server);
}

/** Whether a provider is one of those known by name, whose number is bounded. */
export function isNamedProvider(provider: string): boolean {
  return isProviderGroup(provider) || NAMED.has(provider);
}

/** Finds the provider of an address: all domains behind one provider's MX hosts are one. */
export type ProviderFinder = (address: string) => string | Promise<string>;

/**
 * Creates the finder. Answers are kept for an hour. Mail waits a second at most for a look-up, and not at all while DNS
 * does not answer: then a domain is a provider of its own.
 * @param isNamed whether a rule names a domain; such a domain is its own provider
 */
export function createProviderFinder(
  { mx }: Pick<DnsResolver, 'mx'>,
  isNamed: (domain: string) => boolean,
): ProviderFinder {
  const known = new Map<string, { provider: string; untilMs: number }>();
  const running = new Map<string, Promise<string>>();
  let unanswered = 0;
  let waits = { sinceMs: -Infinity, end: Promise.resolve() };

  async function lookUp(domain: string): Promise<string> {
    const answer = await mx(domain);
    running.delete(domain);
    unanswered = answer.kind === 'failed' ? unanswered + 1 : 0;
    const hosts = answer.kind === 'found' ? answer.records.toSorted((a, b) => a.priority - b.priority) : [];
    const [best] = hosts.filter(({ exchange }) => exchange !== '' && exchange !== '.');
    const provider = best ? providerOfServer(best.exchange) : domain;
    const [oldest = ''] = known.size < DOMAINS_MAX ? [] : known.keys();
    known.delete(oldest);
    known.set(domain, { provider, untilMs: performance.now() + (answer.kind === 'failed' ? FAILED_MS : FOUND_MS) });
    return provider;
  }

  /** Resolves when mail waits no longer for a look-up that begins now. Those of one moment have one timer. */
  function end(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - waits.sinceMs > SAME_MS) {
      waits = { sinceMs: nowMs, end: new Promise((resolve) => void setTimeout(resolve, WAIT_MS).unref()) };
    }
    return waits.end;
  }

  return (address) => {
    const domain = dnsDomainOf(address);
    const found = known.get(domain);
    if (found && found.untilMs > performance.now()) return found.provider;
    const provider = recipientProviderOf(domain);
    if (isProviderGroup(provider) || isNamed(domain)) return isNamed(domain) ? domain : provider;
    const looking = running.get(domain) ?? lookUp(domain);
    running.set(domain, looking);
    return unanswered >= UNANSWERED_MAX ? domain : Promise.race([looking, end().then(() => domain)]);
  };
}
