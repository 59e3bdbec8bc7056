import type { RenderScope } from './template-language.ts';

/** The links every message may carry. A getter is called only when the template asks for that link. */
export interface RecipientUrls {
  readonly unsubscribeUrl: string;
  readonly subscribeUrl: string;
  readonly manageUrl: string;
}

export interface RenderScopeInput {
  contact: { id: string; email: string; subscribed: boolean; data: Readonly<Record<string, unknown>> };
  /** Plain values of this request or event, kept or not; each wins over the stored value of the same key. */
  requestData?: Readonly<Record<string, unknown>>;
  urls: RecipientUrls;
  /** The context of an execution. */
  event?: unknown;
}

/**
 * What a template sees for one contact: every key of its data, at top level and under `data`; `id`, `email` and
 * `subscribed`, also as `svc_id` and `svc_email`; the three links; and `event` where there is one. These names win over
 * keys of data with the same name. Reads its input in place and copies nothing unless a template asks for `data` as a whole.
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
      return Object.hasOwn(contact.data, name) ? contact.data[name] : undefined;
    },
  };
}

/** Without a prototype, because assigning a key `__proto__` that came out of JSON would otherwise set one. */
function mergeData(
  stored: Readonly<Record<string, unknown>>,
  request: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.assign(Object.create(null) as Record<string, unknown>, stored, request);
}
