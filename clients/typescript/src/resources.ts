import type { Everpost } from './client.ts';
import type { Operation, PathOf, Query, Schemas } from './operations.ts';

/** Methods for the usual endpoints; `Everpost.request` calls the others. */

type Caller = Pick<Everpost, 'request' | 'list'>;
type QueryOf<Path extends PathOf<'GET'>> = Query<Operation<'GET', Path>>;

export const contacts = (api: Caller) => ({
  list: (query: QueryOf<'/contacts'> = {}) => api.list('/contacts', { query }),
  get: (id: string) => api.request('GET', '/contacts/{id}', { params: { id } }),
  /** Creates the contact of an address, or changes it. */
  upsert: (body: Schemas['UpsertContactRequest']) => api.request('POST', '/contacts', { body }),
  update: (id: string, body: Schemas['UpdateContactRequest']) =>
    api.request('PATCH', '/contacts/{id}', { params: { id }, body }),
  delete: (id: string) => api.request('DELETE', '/contacts/{id}', { params: { id } }),
});

export const templates = (api: Caller) => ({
  list: (query: QueryOf<'/templates'> = {}) => api.list('/templates', { query }),
  get: (id: string) => api.request('GET', '/templates/{id}', { params: { id } }),
  create: (body: Schemas['CreateTemplateRequest']) => api.request('POST', '/templates', { body }),
  update: (id: string, body: Schemas['UpdateTemplateRequest']) =>
    api.request('PATCH', '/templates/{id}', { params: { id }, body }),
  delete: (id: string) => api.request('DELETE', '/templates/{id}', { params: { id } }),
});

export const campaigns = (api: Caller) => ({
  list: (query: QueryOf<'/campaigns'> = {}) => api.list('/campaigns', { query }),
  get: (id: string) => api.request('GET', '/campaigns/{id}', { params: { id } }),
  create: (body: Schemas['CreateCampaignRequest']) => api.request('POST', '/campaigns', { body }),
  replace: (id: string, body: Schemas['ReplaceCampaignRequest']) =>
    api.request('PUT', '/campaigns/{id}', { params: { id }, body }),
  delete: (id: string) => api.request('DELETE', '/campaigns/{id}', { params: { id } }),
  /** Says what would happen if the campaign were sent now. */
  check: (id: string) => api.request('POST', '/campaigns/{id}/check', { params: { id } }),
  /** Sends it now, or at `scheduledFor`. */
  send: (id: string, body: Schemas['SendCampaignRequest'] = {}) =>
    api.request('POST', '/campaigns/{id}/send', { params: { id }, body }),
  pause: (id: string) => api.request('POST', '/campaigns/{id}/pause', { params: { id } }),
  resume: (id: string) => api.request('POST', '/campaigns/{id}/resume', { params: { id } }),
  cancel: (id: string) => api.request('POST', '/campaigns/{id}/cancel', { params: { id } }),
  stats: (id: string) => api.request('GET', '/campaigns/{id}/stats', { params: { id } }),
  recipients: (id: string, query: QueryOf<'/campaigns/{id}/recipients'> = {}) =>
    api.list('/campaigns/{id}/recipients', { params: { id }, query }),
});

export const segments = (api: Caller) => ({
  list: () => api.list('/segments'),
  get: (id: string) => api.request('GET', '/segments/{id}', { params: { id } }),
  create: (body: Schemas['CreateSegmentRequest']) => api.request('POST', '/segments', { body }),
  update: (id: string, body: Schemas['UpdateSegmentRequest']) =>
    api.request('PATCH', '/segments/{id}', { params: { id }, body }),
  delete: (id: string) => api.request('DELETE', '/segments/{id}', { params: { id } }),
  contacts: (id: string) => api.list('/segments/{id}/contacts', { params: { id } }),
});

export const workflows = (api: Caller) => ({
  list: (query: QueryOf<'/workflows'> = {}) => api.list('/workflows', { query }),
  get: (id: string) => api.request('GET', '/workflows/{id}', { params: { id } }),
  create: (body: Schemas['CreateWorkflowRequest']) => api.request('POST', '/workflows', { body }),
  update: (id: string, body: Schemas['UpdateWorkflowRequest']) =>
    api.request('PATCH', '/workflows/{id}', { params: { id }, body }),
  delete: (id: string) => api.request('DELETE', '/workflows/{id}', { params: { id } }),
  addStep: (id: string, body: Schemas['AddWorkflowStepRequest']) =>
    api.request('POST', '/workflows/{id}/steps', { params: { id }, body }),
  start: (id: string, body: Schemas['StartWorkflowExecutionRequest']) =>
    api.request('POST', '/workflows/{id}/executions', { params: { id }, body }),
  executions: (id: string, query: QueryOf<'/workflows/{id}/executions'> = {}) =>
    api.list('/workflows/{id}/executions', { params: { id }, query }),
});

export const events = (api: Caller) => ({
  list: (query: QueryOf<'/events'> = {}) => api.list('/events', { query }),
  /** Like `Everpost.track`, but with the secret key, and not repeated when the connection breaks. */
  record: (body: Schemas['RecordEventRequest']) => api.request('POST', '/events/track', { body }),
});

export const emails = (api: Caller) => ({
  list: (query: QueryOf<'/emails'> = {}) => api.list('/emails', { query }),
  /** An email, and what happened to it. */
  get: (id: string) => api.request('GET', '/emails/{id}', { params: { id } }),
});

export const suppressions = (api: Caller) => ({
  list: (query: QueryOf<'/suppressions'> = {}) => api.list('/suppressions', { query }),
  add: (body: Schemas['AddSuppressionsRequest']) => api.request('POST', '/suppressions', { body }),
  remove: (address: string) => api.request('DELETE', '/suppressions/{address}', { params: { address } }),
});

export const domains = (api: Caller) => ({
  list: (projectId: string) => api.list('/domains/project/{projectId}', { params: { projectId } }),
  create: (body: Schemas['CreateDomainRequest']) => api.request('POST', '/domains', { body }),
  /** Checks its DNS records now. */
  verify: (id: string) => api.request('GET', '/domains/{id}/verify', { params: { id } }),
  delete: (id: string) => api.request('DELETE', '/domains/{id}', { params: { id } }),
});

export const webhooks = (api: Caller) => ({
  list: () => api.list('/webhooks'),
  get: (id: string) => api.request('GET', '/webhooks/{id}', { params: { id } }),
  /** The answer holds the secret of the endpoint; no later answer does. */
  create: (body: Schemas['CreateWebhookRequest']) => api.request('POST', '/webhooks', { body }),
  update: (id: string, body: Schemas['UpdateWebhookRequest']) =>
    api.request('PATCH', '/webhooks/{id}', { params: { id }, body }),
  delete: (id: string) => api.request('DELETE', '/webhooks/{id}', { params: { id } }),
  test: (id: string) => api.request('POST', '/webhooks/{id}/test', { params: { id } }),
  deliveries: (id: string, query: QueryOf<'/webhooks/{id}/deliveries'> = {}) =>
    api.list('/webhooks/{id}/deliveries', { params: { id }, query }),
});
