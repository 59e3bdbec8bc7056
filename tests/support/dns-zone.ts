import type { Answer, TlsaData } from 'dns-packet';

/** The records of a name: one TXT record per text, MX as `[preference, exchange]`, where `''` is the root. */
export interface DnsRecords {
  A?: string[];
  AAAA?: string[];
  NS?: string[];
  TXT?: string[];
  CNAME?: string;
  PTR?: string[];
  MX?: (readonly [preference: number, exchange: string])[];
  TLSA?: TlsaData[];
}

/** How the server answers for a name and all names below it. */
export interface DnsBehaviour {
  /** Answers after so many milliseconds. */
  delayMs?: number;
  /** Never answers. */
  drop?: boolean;
  /** Answers with this code and no record. */
  rcode?: 'SERVFAIL' | 'REFUSED' | 'NXDOMAIN';
  /** Answers over UDP with a truncated reply, so that the client has to ask over TCP. */
  truncate?: boolean;
  /** Sets the AD bit, as a resolver does that has validated the answer. */
  isAuthentic?: boolean;
}

/** Names with their records and behaviours. */
export interface DnsZone {
  /** Sets all records of a name; other names keep theirs. */
  set: (name: string, records: DnsRecords) => void;
  /** Forgets a name. */
  remove: (name: string) => void;
  /** Sets the behaviour of a name and the names below it; undefined makes it normal again. */
  behave: (name: string, behaviour: DnsBehaviour | undefined) => void;
  behaviourOf: (name: string) => DnsBehaviour;
  /** The records of a type, with the aliases that lead to them; undefined when the name does not exist. */
  answersTo: (name: string, type: string) => Answer[] | undefined;
  clear: () => void;
}

const TTL_SECONDS = 1;
/** A character-string has at most 255 octets (RFC 1035 section 3.3). */
const STRING_LENGTH_MAX = 255;
const CNAME_DEPTH_MAX = 8;

function keyOf(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function stringsOf(text: string): string[] {
  const strings: string[] = [];
  for (let start = 0; start === 0 || start < text.length; start += STRING_LENGTH_MAX) {
    strings.push(text.slice(start, start + STRING_LENGTH_MAX));
  }
  return strings;
}

function recordsOf(name: string, type: string, records: DnsRecords): Answer[] {
  const base = { name, ttl: TTL_SECONDS };
  switch (type) {
    case 'A':
      return (records.A ?? []).map((data) => ({ ...base, type: 'A', data }));
    case 'AAAA':
      return (records.AAAA ?? []).map((data) => ({ ...base, type: 'AAAA', data }));
    case 'NS':
      return (records.NS ?? []).map((data) => ({ ...base, type: 'NS', data }));
    case 'PTR':
      return (records.PTR ?? []).map((data) => ({ ...base, type: 'PTR', data }));
    case 'TXT':
      return (records.TXT ?? []).map((text) => ({ ...base, type: 'TXT', data: stringsOf(text) }));
    case 'TLSA':
      return (records.TLSA ?? []).map((data) => ({ ...base, type: 'TLSA', data }));
    case 'MX':
      return (records.MX ?? []).map(([preference, exchange]) => ({
        ...base,
        type: 'MX',
        data: { preference, exchange: exchange === '' ? '.' : exchange },
      }));
    default:
      return [];
  }
}

export function createDnsZone(): DnsZone {
  const names = new Map<string, DnsRecords>();
  const behaviours = new Map<string, DnsBehaviour>();

  function answersTo(name: string, type: string, depth = 0): Answer[] | undefined {
    const records = names.get(keyOf(name));
    if (!records) {
      // A name with names below it exists (RFC 8020).
      return [...names.keys()].some((known) => known.endsWith(`.${keyOf(name)}`)) ? [] : undefined;
    }
    if (records.CNAME === undefined || type === 'CNAME') return recordsOf(name, type, records);
    const alias: Answer = { name, ttl: TTL_SECONDS, type: 'CNAME', data: records.CNAME };
    return depth === CNAME_DEPTH_MAX ? [alias] : [alias, ...(answersTo(records.CNAME, type, depth + 1) ?? [])];
  }

  return {
    set: (name, records) => void names.set(keyOf(name), records),
    remove: (name) => void names.delete(keyOf(name)),
    behave(name, behaviour) {
      if (behaviour) behaviours.set(keyOf(name), behaviour);
      else behaviours.delete(keyOf(name));
    },
    behaviourOf(name) {
      const labels = keyOf(name).split('.');
      for (let start = 0; start < labels.length; start++) {
        const found = behaviours.get(labels.slice(start).join('.'));
        if (found) return found;
      }
      return {};
    },
    answersTo: (name, type) => answersTo(name, type),
    clear() {
      names.clear();
      behaviours.clear();
    },
  };
}
