import { run } from '@zootools/email-spell-checker';

/** Typing errors in top-level domains that are not top-level domains themselves. */
const TOP_LEVEL_TYPOS = new Map(
  Object.entries({
    con: 'com',
    cmo: 'com',
    ocm: 'com',
    vom: 'com',
    xom: 'com',
    comm: 'com',
    coom: 'com',
    cpm: 'com',
    cim: 'com',
    nte: 'net',
    nett: 'net',
    ogr: 'org',
    orgg: 'org',
    rog: 'org',
  }),
);
/** A shorter name resembles another by chance: abc.com is not aol.com. */
const DISTINCT_LENGTH_MIN = 5;

/**
 * The domain that was probably meant; undefined when there is no suspicion. A domain that accepts mail is believed
 * unless it resembles the name of a large provider: such domains are registered to profit from typing errors.
 * @param domain in ASCII and lower case, for which `isProvider` is false
 */
export function suggestDomain(
  domain: string,
  { takesMail, isProvider }: { takesMail: boolean; isProvider: (domain: string) => boolean },
): string | undefined {
  const suggested = run({ email: `a@${domain}` })?.domain;
  if (suggested !== undefined && isProvider(suggested)) {
    const name = suggested.split('.')[0] ?? '';
    if (!takesMail || name.length >= DISTINCT_LENGTH_MIN) return suggested;
  }
  const at = domain.lastIndexOf('.');
  const corrected = TOP_LEVEL_TYPOS.get(domain.slice(at + 1));
  return corrected === undefined || takesMail ? undefined : `${domain.slice(0, at)}.${corrected}`;
}
