import type { Route } from './operations.ts';

/**
 * The operations of each resource by the names of their methods. `LIST` reads a list page after page, and
 * `EXPORT` and `EXPORT_BY` a file of JSON lines row by row, with GET and with POST.
 */
export const ROUTES = {
  contacts: {
    list: 'LIST /contacts query',
    /** Like a page of `list`, without the search in the URL. */
    search: 'POST /contacts/search body',
    get: 'GET /contacts/{id}',
    /** Creates the contact of an address, or changes it. */
    upsert: 'POST /contacts body',
    /** As `upsert`, for up to 1,000 contacts; each has an outcome of its own. */
    upsertMany: 'POST /contacts/bulk body',
    update: 'PATCH /contacts/{id} body',
    /** Erases the contact, with the content of its emails. */
    delete: 'DELETE /contacts/{id}',
    /** All topics as they hold for the contact. */
    topics: 'GET /contacts/{id}/topics',
    /** Changes which topics the contact has; those that are left out stay as they are. */
    setTopics: 'PUT /contacts/{id}/topics body',
    /** What the contact has consented to, and what changed it. */
    consents: 'LIST /contacts/{id}/consents query',
    /** All contacts, or those of filters, row by row. */
    exportAll: 'EXPORT /contacts/export query',
    /** Like `exportAll`, with the filters in the body, which has room for a condition. */
    exportMatching: 'EXPORT_BY /contacts/export body',
    /** Everything that is stored about the contact. */
    export: 'GET /contacts/{id}/export',
    /** Says which of up to 500 addresses are known. */
    lookup: 'POST /contacts/lookup body',
    /** Imports a CSV file, in a job. */
    import: 'POST /contacts/import file query',
    importJob: 'GET /contacts/import/{jobId}',
    bulkSubscribe: 'POST /contacts/bulk-subscribe body',
    bulkUnsubscribe: 'POST /contacts/bulk-unsubscribe body',
    bulkDelete: 'POST /contacts/bulk-delete body',
    bulkJob: 'GET /contacts/bulk/{jobId}',
    fields: 'GET /contacts/fields',
    fieldValues: 'GET /contacts/fields/{field}/values query',
    fieldUsage: 'GET /contacts/fields/{field}/usage',
    /** Deletes a field of the data of all contacts. */
    deleteField: 'DELETE /contacts/fields/{field}',
  },
  /** What contacts may join and leave. */
  topics: {
    list: 'LIST /topics query',
    get: 'GET /topics/{id}',
    create: 'POST /topics body',
    update: 'PATCH /topics/{id} body',
    delete: 'DELETE /topics/{id}',
    usage: 'GET /topics/{id}/usage',
  },

  templates: {
    list: 'LIST /templates query',
    get: 'GET /templates/{id}',
    create: 'POST /templates body',
    update: 'PATCH /templates/{id} body',
    delete: 'DELETE /templates/{id}',
    duplicate: 'POST /templates/{id}/duplicate',
    usage: 'GET /templates/{id}/usage',
    /** Renders it for a recipient with this data; nothing is sent. */
    preview: 'POST /templates/{id}/preview body',
  },
  campaigns: {
    list: 'LIST /campaigns query',
    get: 'GET /campaigns/{id}',
    create: 'POST /campaigns body',
    replace: 'PUT /campaigns/{id} body',
    delete: 'DELETE /campaigns/{id}',
    duplicate: 'POST /campaigns/{id}/duplicate',
    /** Sends one email to one address. */
    test: 'POST /campaigns/{id}/test body',
    /** Says what would happen if the campaign were sent now. */
    check: 'POST /campaigns/{id}/check',
    /** Sends it now, or at `scheduledFor`. */
    send: 'POST /campaigns/{id}/send body',
    pause: 'POST /campaigns/{id}/pause',
    resume: 'POST /campaigns/{id}/resume',
    /** Goes on although the campaign is held because of complaints. */
    continue: 'POST /campaigns/{id}/continue',
    /** Stops it for good. */
    cancel: 'POST /campaigns/{id}/cancel',
    /** Shows it in the archive of the project. */
    publish: 'POST /campaigns/{id}/publish',
    unpublish: 'POST /campaigns/{id}/unpublish',
    /** Sends an ended campaign once more, to the recipients in some states. */
    resend: 'POST /campaigns/{id}/resend body',
    stats: 'GET /campaigns/{id}/stats',
    /** Says how many would get it if it were sent once more. */
    checkResend: 'POST /campaigns/{id}/resend/check body',
    recipients: 'LIST /campaigns/{id}/recipients query',
    /** Why it did not reach some, with counts. */
    unreached: 'GET /campaigns/{id}/unreached',
    /** Which links were clicked. */
    links: 'GET /campaigns/{id}/links',
    /** Who sent, paused, resumed, resent or cancelled it. */
    history: 'GET /campaigns/{id}/history',
  },
  segments: {
    list: 'LIST /segments',
    get: 'GET /segments/{id}',
    create: 'POST /segments body',
    update: 'PATCH /segments/{id} body',
    delete: 'DELETE /segments/{id}',
    contacts: 'LIST /segments/{id}/contacts query',
    /** Adds members to a static segment. */
    addMembers: 'POST /segments/{id}/members body',
    removeMembers: 'DELETE /segments/{id}/members body',
    /** Updates the stored members of a tracked segment now. */
    compute: 'POST /segments/{id}/compute',
    /** Counts the members now. */
    refresh: 'POST /segments/{id}/refresh',
  },
  workflows: {
    list: 'LIST /workflows query',
    get: 'GET /workflows/{id}',
    create: 'POST /workflows body',
    /** Changes it, or enables it. */
    update: 'PATCH /workflows/{id} body',
    delete: 'DELETE /workflows/{id}',
    /** The fields that a CONDITION can use. */
    fields: 'GET /workflows/fields',
    addStep: 'POST /workflows/{id}/steps body',
    updateStep: 'PATCH /workflows/{id}/steps/{stepId} body',
    removeStep: 'DELETE /workflows/{id}/steps/{stepId} query',
    /** Connects two steps. */
    addTransition: 'POST /workflows/{id}/transitions body',
    removeTransition: 'DELETE /workflows/{id}/transitions/{transitionId}',
    /** Starts an execution for a contact. */
    start: 'POST /workflows/{id}/executions body',
    executions: 'LIST /workflows/{id}/executions query',
    /** How many executions run, wait or have failed at each step. */
    executionCounts: 'GET /workflows/{id}/executions/counts',
    /** An execution, and what each of its steps did. */
    execution: 'GET /workflows/{id}/executions/{executionId}',
    cancelExecution: 'DELETE /workflows/{id}/executions/{executionId}',
    cancelAllExecutions: 'POST /workflows/{id}/executions/cancel-all',
    /** Goes on at the step that failed. */
    retryExecution: 'POST /workflows/{id}/executions/{executionId}/retry',
    retryFailedExecutions: 'POST /workflows/{id}/executions/retry-failed body',
  },
  events: {
    list: 'LIST /events query',
    /** Like `Everpost.track`, but with the secret key, and not repeated when the connection breaks. */
    record: 'POST /events/track body',
    names: 'GET /events/names',
    stats: 'GET /events/stats query',
    usage: 'GET /events/{eventName}/usage',
    ofContact: 'LIST /events/contact/{contactId} query',
    /** All events, or those of filters, row by row, newest first. */
    export: 'EXPORT /events/export query',
    /** Deletes all events of a name. */
    delete: 'DELETE /events/{eventName}',
  },
  emails: {
    list: 'LIST /emails query',
    /** Like a page of `list`, without the address in the URL. */
    search: 'POST /emails/search body',
    /** All emails, or those of filters, row by row, newest first. */
    export: 'EXPORT /emails/export query',
    /** An email, and what happened to it. */
    get: 'GET /emails/{id}',
    /** What it says: HTML, text, headers and source. */
    content: 'GET /emails/{id}/content',
    /** The requests that told webhooks about it. */
    deliveries: 'GET /emails/{id}/deliveries',
    /** Sends up to 100 different emails, each with an outcome of its own. */
    sendBatch: 'POST /v1/send/batch body',
    /** Gives a scheduled email another moment. */
    reschedule: 'PATCH /emails/{id} body',
    /** Cancels a scheduled email for good. */
    cancel: 'POST /emails/{id}/cancel',
  },
  suppressions: {
    list: 'LIST /suppressions query',
    add: 'POST /suppressions body',
    /** Like a page of `list`, without the address in the URL. */
    search: 'POST /suppressions/search body',
    remove: 'DELETE /suppressions/{address}',
    /** Like `remove`, without the address in the URL. */
    removeByBody: 'POST /suppressions/remove body',
    /** Imports a CSV file. */
    import: 'POST /suppressions/import file query',
    /** Gives back what wrong hard bounces took. */
    undo: 'POST /suppressions/undo body',
  },
  domains: {
    list: 'LIST /domains/project/{projectId}',
    create: 'POST /domains body',
    /** Checks its DNS records now. */
    verify: 'GET /domains/{id}/verify',
    delete: 'DELETE /domains/{id}',
  },
  activity: {
    list: 'LIST /activity query',
    stats: 'GET /activity/stats query',
    /** What waits in the project, and for how long. */
    queue: 'GET /activity/queue',
    /** What providers make of our mail. */
    deliverability: 'GET /deliverability query',
    /** Finds records by id, by name, or by part of an address. */
    find: 'POST /find body',
  },
  webhooks: {
    list: 'LIST /webhooks',
    get: 'GET /webhooks/{id}',
    /** The answer holds the secret of the endpoint; no later answer does. */
    create: 'POST /webhooks body',
    update: 'PATCH /webhooks/{id} body',
    delete: 'DELETE /webhooks/{id}',
    rotateSecret: 'POST /webhooks/{id}/rotate-secret body',
    test: 'POST /webhooks/{id}/test',
    /** Delivers events of the past once more. */
    replay: 'POST /webhooks/{id}/replay body',
    deliveries: 'LIST /webhooks/{id}/deliveries query',
    delivery: 'GET /webhooks/{id}/deliveries/{deliveryId}',
  },
  projects: {
    list: 'LIST /users/@me/projects',
    update: 'PATCH /users/@me/projects/{id} body',
    /** Replaces the two keys that come with the project. The old ones are refused from then on. */
    regenerateKeys: 'POST /users/@me/projects/{id}/regenerate-keys',
  },
  keys: {
    list: 'LIST /keys',
    get: 'GET /keys/{id}',
    /** The answer holds the key itself; no later answer does. */
    create: 'POST /keys body',
    update: 'PATCH /keys/{id} body',
    /** Ends it: it is refused from then on. */
    end: 'DELETE /keys/{id}',
  },
  audit: {
    /** Who did what, newest first. */
    list: 'LIST /audit query',
  },
} as const satisfies Record<string, Record<string, Route>>;
