// Generated from the migrations by `npm run schema`. Do not edit.

/** Columns of each table, camel-cased as statements alias them. Code with a renamed column no longer compiles. */
export interface Tables {
  address_hash_key: {
    isOnly: boolean;
    innerPad: Buffer;
    outerPad: Buffer;
  };
  attachment: {
    setId: string;
    position: number;
    filename: string;
    contentType: string;
    contentId: string | null;
    disposition: string;
    content: Buffer;
    createdAt: Date;
  };
  automation: {
    id: string;
    projectId: string;
    name: string;
    description: string | null;
    enabled: boolean;
    triggerType: string;
    triggerEvent: string;
    allowReentry: boolean;
    graphId: string | null;
    createdAt: Date;
    updatedAt: Date;
  };
  automation_execution: {
    id: string;
    projectId: string;
    automationId: string;
    graphId: string;
    contactId: string;
    status: string;
    isFirst: boolean;
    stepNumber: number;
    currentStepId: string | null;
    resumeAt: Date | null;
    exitReason: string | null;
    context: unknown;
    temporalRunId: string | null;
    startedAt: Date;
    completedAt: Date | null;
    createdAt: Date;
    updatedAt: Date;
    depth: number;
    isStripped: boolean;
  };
  automation_graph: {
    id: string;
    automationId: string;
    graph: unknown;
    createdAt: Date;
  };
  automation_refusal: {
    id: string;
    projectId: string;
    automationId: string;
    contactId: string;
    reason: string;
    hour: Date;
    count: number;
    eventId: string;
    createdAt: Date;
    updatedAt: Date;
  };
  automation_step: {
    id: string;
    automationId: string;
    type: string;
    name: string;
    positionX: number;
    positionY: number;
    config: unknown;
    templateId: string | null;
    createdAt: Date;
    updatedAt: Date;
  };
  automation_transition: {
    id: string;
    automationId: string;
    fromStepId: string;
    toStepId: string;
    branch: string | null;
    createdAt: Date;
    updatedAt: Date;
  };
  blocked_link: {
    subject: string;
    createdAt: Date;
  };
  campaign: {
    id: string;
    projectId: string;
    name: string;
    description: string | null;
    subject: string;
    body: string;
    fromAddress: string;
    fromName: string | null;
    replyTo: string | null;
    type: string;
    status: string;
    audienceType: string;
    audienceCondition: unknown;
    segmentId: string | null;
    scheduledFor: Date | null;
    totalRecipients: number;
    sentCount: number;
    failedCount: number;
    skippedCount: number;
    deliveredCount: number;
    openedCount: number;
    clickedCount: number;
    bouncedCount: number;
    complainedCount: number;
    unsubscribedCount: number;
    sentAt: Date | null;
    audienceAsOf: Date | null;
    audienceCursor: string | null;
    audienceFrozen: boolean;
    createdAt: Date;
    updatedAt: Date;
    suppressedCount: number;
    scheduledAt: Date | null;
    error: string | null;
    waiting: unknown;
    complaintsAccepted: boolean;
    pausedAt: Date | null;
    resendStates: string[] | null;
    resendAsOf: Date | null;
    resendAfterSeq: number;
    preheader: string | null;
    bodyText: string | null;
  };
  campaign_page: {
    campaignId: string;
    firstSeq: number;
    claimToken: string;
  };
  contact: {
    id: string;
    projectId: string;
    email: string;
    subscribed: boolean;
    optedOutAt: Date | null;
    data: unknown;
    createdAt: Date;
    updatedAt: Date;
    changedDepth: number | null;
    changedDepthAt: Date | null;
    bouncedEmailId: string | null;
  };
  contact_field: {
    projectId: string;
    key: string;
    type: string;
    createdAt: Date;
  };
  email: {
    id: string;
    projectId: string;
    contactId: string | null;
    campaignId: string | null;
    campaignSeq: number | null;
    templateId: string | null;
    toAddress: string | null;
    subject: string | null;
    status: string;
    deferrals: number;
    claimToken: string | null;
    error: string | null;
    createdAt: Date;
    sentAt: Date | null;
    deliveredAt: Date | null;
    openedAt: Date | null;
    clickedAt: Date | null;
    bouncedAt: Date | null;
    complainedAt: Date | null;
    automationId: string | null;
    executionId: string | null;
    opens: number;
    clicks: number;
    unsubscribedAt: Date | null;
    deliveryId: string | null;
    deliveryDueAt: Date | null;
    uncertainAttempts: number;
    retryAt: Date | null;
    erasedContactId: string | null;
    refusal: unknown;
    heldAt: Date | null;
    attempts: unknown;
    trouble: string | null;
  };
  email_content: {
    emailId: string;
    fromAddress: string;
    fromName: string | null;
    toName: string | null;
    replyTo: string | null;
    html: string;
    bodyText: string;
    headers: unknown;
    attachmentSetId: string | null;
    createdAt: Date;
  };
  ended_execution_count: {
    id: string;
    automationId: string;
    status: string;
    count: number;
  };
  erased_contact: {
    contactId: string;
    projectId: string;
    addressHash: Buffer;
    address: string | null;
    successorId: string | null;
    erasedAt: Date;
    beganAt: Date | null;
    dueAt: Date | null;
  };
  event: {
    id: string;
    projectId: string;
    contactId: string | null;
    emailId: string | null;
    name: string;
    data: unknown;
    createdAt: Date;
    recordedAt: Date;
  };
  event_name: {
    projectId: string;
    name: string;
  };
  event_wait: {
    executionId: string;
    projectId: string;
    contactId: string;
    eventName: string;
    eventId: string | null;
    eventData: unknown;
    resolvedAt: Date | null;
  };
  former_address: {
    contactId: string;
    projectId: string;
    addressHash: Buffer;
    addressKey: number;
  };
  former_failure: {
    executionId: string;
    lastNo: number;
    completedAt: Date;
    exitReason: string | null;
  };
  idempotency_claim: {
    projectId: string;
    key: string;
    request: string;
    statusCode: number | null;
    createdAt: Date;
    token: string | null;
    owner: string | null;
  };
  job: {
    id: string;
    projectId: string;
    kind: string;
    state: string;
    input: unknown;
    position: number;
    total: number | null;
    counts: unknown;
    errors: unknown;
    failedReason: string | null;
    createdAt: Date;
    updatedAt: Date;
  };
  job_file: {
    jobId: string;
    content: Buffer;
  };
  known_namespace: {
    isOnly: boolean;
    namespaceId: string;
    name: string;
    address: string;
    adoptedAt: Date;
  };
  known_secret: {
    secretId: string;
    createdAt: Date;
  };
  outbox: {
    id: string;
    projectId: string;
    kind: string;
    subjectId: string;
    batchId: string | null;
    attempts: number;
    availableAt: Date;
    lastError: string | null;
    isRestart: boolean;
  };
  project: {
    id: string;
    name: string;
    publicKey: string;
    secretKeyHash: string;
    disabled: boolean;
    tracking: string;
    emailsPerSecond: number | null;
    createdAt: Date;
    updatedAt: Date;
    webhookSecret: string;
    trackAcceptsSecretKey: boolean;
    displayName: string | null;
    postalAddress: string | null;
    logoUrl: string | null;
    language: string | null;
    publicKeyRules: unknown;
  };
  provider_day: {
    projectId: string;
    provider: string;
    day: unknown;
    sent: number;
    complained: number;
  };
  provider_health: {
    relay: string;
    provider: string;
    state: unknown;
  };
  rate_window: {
    projectId: string;
    windowStart: Date;
    used: number;
    publicUsed: number;
  };
  reply_address: {
    address: string;
    projectId: string;
    createdAt: Date;
  };
  segment: {
    id: string;
    projectId: string;
    name: string;
    description: string | null;
    type: string;
    condition: unknown;
    trackMembership: boolean;
    memberCount: number;
    createdAt: Date;
    updatedAt: Date;
    computedAt: Date | null;
    computeError: string | null;
    computeErrorAt: Date | null;
    computeFailures: number;
    retryAt: Date | null;
    refreshedAt: Date | null;
  };
  segment_member: {
    segmentId: string;
    contactId: string;
    createdAt: Date;
  };
  send_budget: {
    projectId: string;
    nextFreeAt: Date;
    urgentFreeAt: Date | null;
  };
  sender_domain: {
    id: string;
    projectId: string;
    domain: string;
    verified: boolean;
    verifiedAt: Date | null;
    lastCheckedAt: Date | null;
    createdAt: Date;
    updatedAt: Date;
    trusted: boolean;
    dnsVerified: boolean;
    returnPath: boolean;
    failedChecks: number;
    unansweredChecks: number;
    nextCheckAt: Date;
    recordsFound: string[];
    dkimSelector: string | null;
    dkimPublicKey: string | null;
    dkimPrivateKey: Buffer | null;
  };
  step_execution: {
    id: string;
    executionId: string;
    stepNumber: number;
    stepId: string;
    status: string;
    output: unknown;
    error: string | null;
    startedAt: Date;
    completedAt: Date | null;
  };
  suppression: {
    projectId: string;
    email: string | null;
    reason: string;
    emailId: string | null;
    createdAt: Date;
    addressHash: Buffer;
    words: string | null;
  };
  template: {
    id: string;
    projectId: string;
    name: string;
    description: string | null;
    subject: string;
    body: string;
    fromAddress: string;
    fromName: string | null;
    replyTo: string | null;
    type: string;
    createdAt: Date;
    updatedAt: Date;
    preheader: string | null;
    bodyText: string | null;
  };
  text_piece: {
    textId: string;
    position: number;
    piece: string;
  };
  trace_context: {
    subjectId: string;
    traceParent: string;
    createdAt: Date;
  };
  webhook_delivery: {
    id: string;
    endpointId: string;
    eventAt: Date;
    source: number;
    eventId: string;
    eventName: string;
    eventCount: number;
    contactId: string | null;
    status: string;
    attempts: number;
    statusCode: number | null;
    error: string | null;
    durationMs: number | null;
    retryAt: Date | null;
    createdAt: Date;
    updatedAt: Date;
    no: number | null;
  };
  webhook_endpoint: {
    id: string;
    projectId: string;
    url: string;
    events: string[];
    description: string | null;
    enabled: boolean;
    batchSize: number;
    secret: string;
    previousSecret: string | null;
    previousSecretUntil: Date | null;
    failures: number;
    failingSince: Date | null;
    retryAt: Date | null;
    disabledAt: Date | null;
    disabledReason: string | null;
    wakeAt: Date;
    createdAt: Date;
    updatedAt: Date;
    cursorNo: number;
    newsNo: number;
    parkedAt: Date | null;
  };
  webhook_feed: {
    no: number;
    projectId: string;
    source: number;
    id: string;
    at: Date;
  };
  webhook_horizon: {
    isOnly: boolean;
    settledNo: number;
    markedNo: number | null;
    writers: string[];
  };
}

/** Some columns of a table: `Row<'contact', 'id' | 'email'>`. */
export type Row<Table extends keyof Tables, Column extends keyof Tables[Table]> = Pick<Tables[Table], Column>;
