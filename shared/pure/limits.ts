/**
 * What one caller may store, send or have rendered, so that nobody costs the others. The unit is the end of each name:
 * `Bytes` are octets in UTF-8, `Length` is in characters, anything else is a count. Beyond a limit the answer is 422 and
 * names the field, unless `docs/limits.md` says otherwise; a test compares that page with this file.
 */
export const LIMITS = {
  /** Custom data of one contact, as it is after a change. The same numbers stand in the trigger on the table. */
  contactDataKeys: 500,
  contactDataBytes: 65_536,
  contactDataKeyLength: 200,
  /** `data` of one request, with what is not stored and with the keys it deletes. */
  requestDataKeys: 1_000,
  requestDataBytes: 1_048_576,
  /** Data of one tracked event. */
  eventDataBytes: 65_536,
  /** Context of an execution: what it was started with, and the data of the events it waited for. */
  executionContextBytes: 65_536,
  /** Custom data of a campaign's recipients that a worker holds at once for one page. */
  campaignSliceBytes: 4_194_304,
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
