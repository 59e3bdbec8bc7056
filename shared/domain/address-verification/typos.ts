import { run } from '@zootools/email-spell-checker';

/** Typing errors that are not top-level domains themselves. */
const TOP_LEVEL_TYPOS: Readonly<Record<string, string>> = {
  ...{ con: 'com', cmo: 'com', ocm: 'com', vom: 'com', xom: 'com', comm: 'com', coom: 'com', cpm: 'com', cim: 'com' },
  ...{ nte: 'net', nett: 'net', ogr: 'org', orgg: 'org', rog: 'org' },
};
/** Short names are near each other without being meant: abc.com is not aol.com. */
const DISTINCT_LENGTH_MIN = 5;

/**
 * The domain that was probably meant. A domain that takes mail is believed unless it resembles the name of a large
 * provider: such names are registered by people who wait for the typing error.
 * @param domain in ASCII and lower case, none of `isProvider`
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
  const corrected = TOP_LEVEL_TYPOS[domain.slice(at + 1)];
  return corrected === undefined || takesMail ? undefined : `${domain.slice(0, at)}.${corrected}`;
}
