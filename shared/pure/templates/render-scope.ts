import type { RenderScope } from './template-language.ts';

/** The links that every message may contain. A getter is called only when the template has that link. */
export interface RecipientUrls {
  readonly unsubscribeUrl: string;
  readonly subscribeUrl: string;
  readonly manageUrl: string;
  /** The email in a browser. */
  readonly viewUrl: string;
}

export interface RenderScopeInput {
  contact: { id: string; email: string; subscribed: boolean; data: Readonly<Record<string, unknown>> };
  /** Values of this request or event, stored or not. Each takes precedence over the stored value of the same key. */
  requestData?: Readonly<Record<string, unknown>>;
  urls: RecipientUrls;
  /** The context of an execution. */
  event?: unknown;
}

/**
 * The names that a template can read for one contact: every key of its data, at top level and under `data`; `id` and
 * `svc_id`, `email` and `svc_email`, `subscribed`; the three links of the subscription; and `event` where there is one.
 * These names take precedence over keys of data with the same name. `viewUrl` does not, because data of that name is
 * older. Data is copied only when a template reads `data`.
 */
export function createRenderScope(input: RenderScopeInput): RenderScope {
  const { contact, requestData, urls, event } = input;
  let mergedData: Readonly<Record<string, unknown>> | undefined;
  return {
    get(name) {
      switch (name) {
        case 'email':
        case 'svc_email':
          return contact.email;
        case 'id':
        case 'svc_id':
          return contact.id;
        case 'subscribed':
          return contact.subscribed;
        case 'unsubscribeUrl':
          return urls.unsubscribeUrl;
        case 'subscribeUrl':
          return urls.subscribeUrl;
        case 'manageUrl':
          return urls.manageUrl;
        case 'data':
          return (mergedData ??= requestData ? mergeData(contact.data, requestData) : contact.data);
      }
      if (name === 'event' && event !== undefined) return event;
      if (requestData && Object.hasOwn(requestData, name)) return requestData[name];
      if (Object.hasOwn(contact.data, name)) return contact.data[name];
      return name === 'viewUrl' ? urls.viewUrl : undefined;
    },
  };
}

/** The result has no prototype: otherwise a key `__proto__` from JSON would set one. */
function mergeData(
  stored: Readonly<Record<string, unknown>>,
  request: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.assign(Object.create(null) as Record<string, unknown>, stored, request);
}
