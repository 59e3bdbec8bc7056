/**
 * What one caller may store, send or have rendered, so that nobody costs the others. The unit is the end of each name:
 * `Bytes` are octets in UTF-8, `Length` is in characters, anything else is a count. Beyond a limit the answer is 422 and
 * names the field, unless `docs/limits.md` says otherwise; a test compares that page with this file.
 */
export const LIMITS = {
  /** Recipients of one request of /v1/send. */
  recipients: 1_000,
  attachments: 10,
  /** Header fields that a request of /v1/send may add to its emails. */
  customHeaders: 50,
  /** All of them, names and values, as they are written and as they are rendered. */
  customHeadersBytes: 32_768,
  customHeaderValueLength: 998,
  senderDomainsPerProject: 100,
} as const;
