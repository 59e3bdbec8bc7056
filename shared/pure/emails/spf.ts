/** The SPF records among the TXT records of a name. More than one is an error (RFC 7208 section 4.5). */
export interface SpfRecords {
  count: number;
  /** The terms of the first record, in lower case, to the first `all`: what follows it is ignored (section 5.1). */
  terms: string[];
}

/** Reads the SPF records among TXT records. */
export function readSpf(texts: readonly string[]): SpfRecords {
  const records = texts.filter((text) => /^v=spf1(?: |$)/i.test(text));
  const terms = records[0]?.toLowerCase().trim().split(/\s+/).slice(1) ?? [];
  const all = terms.findIndex((term) => /^[+?~-]?all$/.test(term));
  return { count: records.length, terms: all === -1 ? terms : terms.slice(0, all + 1) };
}
