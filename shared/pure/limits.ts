/**
 * What one caller may store, send or have rendered, so that no caller slows down the others. The end of each name is
 * the unit: `Bytes` are octets in UTF-8, `Length` is in characters, anything else is a count. A request beyond a limit
 * gets a 422 that names the field, unless `docs/limits.md` says otherwise; a test compares that page with this file.
 */
export const LIMITS = {
  /** Custom data of one contact after a change. The trigger on the table has the same numbers. */
  contactDataKeys: 500,
  contactDataBytes: 65_536,
  contactDataKeyLength: 200,
  /** How far ahead a caller may pause the marketing of a contact. */
  pauseDays: 366,
  /** `data` of one request, including values that are not stored and keys that it deletes. */
  requestDataKeys: 1_000,
  requestDataBytes: 1_048_576,
  /** Data of one tracked event. */
  eventDataBytes: 65_536,
  /** Context of an execution: what it was started with, and the data of the events it waited for. */
  executionContextBytes: 65_536,
  /**
   * Automations in a chain in which each starts the next, and executions of one contact in one automation within an
   * hour. The database functions that start executions have the same numbers.
   */
  automationChain: 8,
  executionsPerContactAndHour: 100,
  /** Custom data of a campaign's recipients that a worker holds at once for one page. */
  campaignSliceBytes: 4_194_304,
  /** Keys of a project, and the domains that one of them may be limited to. */
  keysPerProject: 100,
  senderDomainsPerKey: 100,
  keyNameLength: 100,
  /** Recipients of one request of /v1/send. */
  recipients: 1_000,
  /** Recipients in Cc and Bcc of an email, together. */
  copies: 50,
  /** Tags of an email, and the length of each. */
  emailTags: 10,
  emailTagLength: 100,
  /** Days that one answer about deliverability covers. */
  deliverabilityDays: 90,
  /** Pairs of a source and a provider in such an answer. */
  deliverabilityResults: 100,
  /** How far ahead an email may be scheduled, and how many emails of a project wait for their moment. */
  scheduledDays: 180,
  scheduledEmailsPerProject: 10_000,
  /** Emails in a request to /v1/send/batch. */
  batchEmails: 100,
  attachments: 10,
  /** Header fields that a request of /v1/send may add to its emails. */
  customHeaders: 50,
  /** Names and values of all these headers together, both as written and as rendered. */
  customHeadersBytes: 32_768,
  customHeaderValueLength: 998,
  /** A stored template, subject or body. */
  templateLength: 2_000_000,
  /** A body from which a text part is derived. */
  textSourceLength: 4_000_000,
  /** The preview text of an email, both as written and as rendered. */
  preheaderLength: 500,
  /** Placeholders and blocks of one template, whether stored or in a request. */
  templateTags: 20_000,
  /** Names, texts and numbers in all its tags: `{{a ?? b}}` holds two. */
  templateOperands: 40_000,
  /** One tag: what stands between its braces, and the names, texts and numbers in it. */
  templateTagLength: 5_000,
  templateTagOperands: 50,
  templateBlockDepth: 20,
  /** Keys of one path; a longer one never resolves. */
  templatePathKeys: 32,
  /** One rendered part; of a body that is longer itself, twice that body. */
  renderedLength: 2_000_000,
  /** Rounds of all `#each` blocks of one part together. */
  renderRounds: 10_000,
  /** Work of rendering one email. A long body with many rounds would otherwise block the process. */
  renderSteps: 500_000,
  /** The same for the emails of one request of /v1/send. */
  renderStepsPerRequest: 20_000_000,
  /** The bodies of all emails of one request of /v1/send, as HTML with its values. */
  renderedBytesPerRequest: 67_108_864,
  /** Links of one email whose clicks are counted; later links stay as they are. */
  trackedLinks: 1_000,
  /** Memory for the compiled templates that a process keeps. */
  compiledTemplatesBytes: 67_108_864,
  /**
   * Keys of a path into custom data. Each dot may separate two keys or belong to one, and all readings are tried. A
   * longer path names one key.
   */
  fieldPathKeys: 20,
  filterDepth: 50,
  filterCount: 1_000,
  /** The cost of a condition's filters for each contact, in tenths of a microsecond; see `filterCost`. */
  filterCost: 1_000,
  /** The same, together with the conditions of the segments that are evaluated as part of the condition. */
  inlinedFilterCost: 1_500,
  filterValueBytes: 4_096,
  filterConditionBytes: 262_144,
  eventNameLength: 200,
  /** Segments in a chain in which each refers to the next. */
  segmentChain: 10,
  /** Segments that one condition reaches, directly or through others. */
  segmentsReached: 100,
  senderDomainsPerProject: 100,
  /**
   * Names of events and keys of custom data that a project has used and not deleted. The triggers have the same
   * numbers.
   */
  eventNamesPerProject: 5_000,
  contactFieldsPerProject: 5_000,
  templatesPerProject: 10_000,
  topicsPerProject: 100,
  campaignsPerProject: 20_000,
  /** SCHEDULED or SENDING. */
  activeCampaignsPerProject: 1_000,
  automationsPerProject: 2_000,
  /** Enabled automations that one event starts. The statement that records the event starts them all. */
  automationsPerEvent: 50,
  /** Imports, bulk operations and deletions of fields that wait or run. */
  openJobsPerProject: 200,
  stepsPerAutomation: 1_000,
  /** `GET /segments` answers all of them with their conditions. */
  segmentsPerProject: 1_000,
  segmentConditionsBytes: 4_194_304,
  /** The config of one step, as JSON. */
  stepConfigBytes: 1_048_576,
  /** The body of one webhook, with its values. */
  webhookBodyBytes: 1_048_576,
  /** Webhook endpoints. */
  webhooksPerProject: 50,
  webhookUrlLength: 2_000,
  /** Event patterns of one webhook endpoint. */
  webhookEvents: 100,
  /** Events of one request to a webhook endpoint. */
  webhookBatch: 100,
  /** What recipients see of a project. */
  displayNameLength: 100,
  postalAddressLength: 500,
  postalAddressLines: 8,
  logoUrlLength: 2_000,
  /** What a reader says after leaving; more is cut off. */
  feedbackLength: 500,
  /** Hosts that a project lets the form of a subscription lead to. */
  redirectHosts: 20,
  redirectHostLength: 260,
  /** Traffic rules of one project. */
  projectRules: 50,
  /** `data` of a request to /v1/subscribe. It waits for the confirmation. */
  subscribeDataKeys: 50,
  subscribeDataBytes: 16_384,
  /** The words beside the button of a form, which the record of consent keeps. */
  wordingLength: 2_000,
  /** Confirmations to an address in 24 hours, reminders included. */
  confirmationsPerAddressAndDay: 3,
  /** Requests to /v1/subscribe with the public key from one client in an hour, at one API process. */
  subscriptionsPerClientAndHour: 300,
  /** Members that one request adds to a segment, or removes. */
  membersPerRequest: 10_000,
  /** Contacts that one request writes. */
  contactsPerRequest: 1_000,
  /** Addresses that one request suppresses. */
  suppressionsPerRequest: 10_000,
  /** The configs of all steps of an automation, which are answered together. */
  stepConfigsBytes: 4_194_304,
  /** Texts and data in one page of a list. */
  pageBytes: 8_388_608,
  /** Exports of one project, and of all, that one API process answers at a time. */
  exportsPerProject: 4,
  exports: 40,
  /** Names in one list of events, of fields, or of the records that use one. */
  listedNames: 5_000,
} as const;
