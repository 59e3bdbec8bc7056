/**
 * What one caller may store, send or have rendered, so that no caller slows down the others. The end of each name is
 * the unit: `Bytes` are octets in UTF-8, `Length` is in characters, anything else is a count. A request beyond a limit
 * gets a 422 that names the field, unless `docs/limits.md` says otherwise. That page says what each limit bounds; a test
 * compares it with this file.
 */
export const LIMITS = {
  /** Custom data of one contact after a change. The trigger on the table has the same numbers. */
  contactDataKeys: 500,
  contactDataBytes: 65_536,
  contactDataKeyLength: 200,
  pauseDays: 366,
  requestDataKeys: 1_000,
  requestDataBytes: 1_048_576,
  eventDataBytes: 65_536,
  executionContextBytes: 65_536,
  /**
   * Automations in a chain in which each starts the next, and executions of one contact in one automation within an
   * hour. The database functions that start executions have the same numbers.
   */
  automationChain: 8,
  executionsPerContactAndHour: 100,
  campaignSliceBytes: 4_194_304,
  keysPerProject: 100,
  senderDomainsPerKey: 100,
  keyNameLength: 100,
  recipients: 1_000,
  copies: 50,
  emailTags: 10,
  emailTagLength: 100,
  deliverabilityDays: 90,
  deliverabilityResults: 100,
  scheduledDays: 180,
  scheduledEmailsPerProject: 10_000,
  batchEmails: 100,
  attachments: 10,
  customHeaders: 50,
  customHeadersBytes: 32_768,
  customHeaderValueLength: 998,
  templateLength: 2_000_000,
  textSourceLength: 4_000_000,
  preheaderLength: 500,
  templateTags: 20_000,
  /** Names, texts and numbers in all its tags: `{{a ?? b}}` holds two. */
  templateOperands: 40_000,
  templateTagLength: 5_000,
  templateTagOperands: 50,
  templateBlockDepth: 20,
  /** Keys of one path; a longer one never resolves. */
  templatePathKeys: 32,
  /** One rendered part; of a body that is longer itself, twice that body. */
  renderedLength: 2_000_000,
  renderRounds: 10_000,
  /** Work of rendering one email. A long body with many rounds would otherwise block the process. */
  renderSteps: 500_000,
  renderStepsPerRequest: 20_000_000,
  renderedBytesPerRequest: 67_108_864,
  trackedLinks: 1_000,
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
  segmentChain: 10,
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
  activeCampaignsPerProject: 1_000,
  automationsPerProject: 2_000,
  /** Enabled automations that one event starts. The statement that records the event starts them all. */
  automationsPerEvent: 50,
  openJobsPerProject: 200,
  stepsPerAutomation: 1_000,
  /** `GET /segments` answers all of them with their conditions. */
  segmentsPerProject: 1_000,
  segmentConditionsBytes: 4_194_304,
  stepConfigBytes: 1_048_576,
  webhookBodyBytes: 1_048_576,
  webhooksPerProject: 50,
  webhookUrlLength: 2_000,
  webhookEvents: 100,
  webhookBatch: 100,
  displayNameLength: 100,
  postalAddressLength: 500,
  postalAddressLines: 8,
  logoUrlLength: 2_000,
  feedbackLength: 500,
  redirectHosts: 20,
  redirectHostLength: 260,
  projectRules: 50,
  subscribeDataKeys: 50,
  subscribeDataBytes: 16_384,
  wordingLength: 2_000,
  confirmationsPerAddressAndDay: 3,
  subscriptionsPerClientAndHour: 300,
  membersPerRequest: 10_000,
  contactsPerRequest: 1_000,
  suppressionsPerRequest: 10_000,
  /** The configs of all steps of an automation, which are answered together. */
  stepConfigsBytes: 4_194_304,
  pageBytes: 8_388_608,
  exportsPerProject: 4,
  exports: 40,
  listedNames: 5_000,
} as const;
