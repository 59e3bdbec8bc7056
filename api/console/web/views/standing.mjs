import { call, doing, withQuery } from '../api.mjs';
import { Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Section } from '../parts/basics.mjs';
import { Action } from '../parts/dialog.mjs';
import { LoadAll } from '../parts/load.mjs';
import { Pill } from '../parts/pill.mjs';
import { linkTo } from '../route.mjs';

/** @typedef {import('../api-types.ts').Contact} Contact */

/**
 * How an unsubscription came about, by the reason of the event.
 * @type {Record<string, string>}
 */
const CAUSES = {
  hard_bounce: 'by a bounce',
  complaint: 'by a complaint',
  link: 'on the page that an email links to',
  page: 'on the preference page',
  one_click: 'by the unsubscribe button of the mail program',
  email: 'by an email to the unsubscribe address',
  api: 'by the request',
  send: 'by a request to /v1/send',
  track: 'by a tracked event',
  import: 'by an import',
  bulk: 'by a bulk operation',
  workflow: 'by a step of an automation',
};

/** When and why a contact was unsubscribed. @param {{ change: any }} props an activity, if there is one */
export function Unsubscribed({ change }) {
  if (!change) return html`The contact has never been subscribed`;
  const { reason, emailId, endpoint, executionId, workflowId } = change.metadata;
  return html`Unsubscribed ${reason && CAUSES[reason]} ${endpoint}${' '}
    <${Time} at=${change.timestamp} isSentence />
    ${emailId && html` (<a href=${linkTo('emails', emailId)}>the email</a>)`}
    ${executionId && workflowId && html` (<a href=${linkTo('automations', workflowId, { execution: executionId })}>the execution</a>)`}`;
}

/** The state of a subscription. @param {{ contact: Contact }} props */
export function SubscriptionPill({ contact: { subscribed, pending, pausedUntil } }) {
  const state = pending ? 'UNCONFIRMED' : !subscribed ? 'UNSUBSCRIBED' : pausedUntil ? 'PAUSED' : 'SUBSCRIBED';
  return html`<${Pill} state=${state} />`;
}

/** Subscribes a contact again. @param {{ contact: Contact, onChange: () => void }} props */
export function Subscribe({ contact: { id, email, subscribed }, onChange }) {
  const set = async (/** @type {boolean} */ value) => {
    await call('PATCH', `/contacts/${id}`, { body: { subscribed: value } });
    onChange();
  };
  if (subscribed)
    return html`<${Action}
      needs="PATCH /contacts/:id"
      label="Unsubscribe"
      title=${`Unsubscribe ${email}`}
      text="No campaign reaches this contact from then on; transactional email still does."
      undo=${() => set(true)}
      run=${async () => (await set(false), 'Unsubscribed')}
    />`;
  return html`<${Action}
    needs="PATCH /contacts/:id"
    label="Subscribe"
    title=${`Subscribe ${email}`}
    text="Only somebody who asked for it may be subscribed. Has this person asked for it?"
    undo=${() => set(false)}
    run=${async () => (await set(true), 'Subscribed')}
  />`;
}

/** Ends the suppression of an address. @param {{ address: string, label?: string, onChange: () => void }} props */
export function Lift({ address, label = 'Lift', onChange }) {
  return html`<${Action}
    needs="POST /suppressions/remove"
    label=${label}
    title=${`Let ${address} have email again`}
    text="Do this when the reason is gone: another bounce harms how providers see you."
    run=${doing(['POST', '/suppressions/remove', { address }], `${address} may have email again`, onChange)}
  />`;
}

/** Why an address is suppressed. @param {{ suppression: any, address: string, onChange: () => void }} props */
export function Suppressed({ suppression, address, onChange }) {
  return html`<p>
      <${Pill} state=${suppression.reason} word="Suppressed" />${' '}
      ${suppression.reason.toLowerCase().replaceAll('_', ' ')}, <${Time} at=${suppression.createdAt} isSentence />. No
      email of any kind goes there.
    </p>
    ${suppression.words && html`<p class="muted"><q>${suppression.words}</q></p>`}
    ${suppression.emailId && html`<p><a href=${linkTo('emails', suppression.emailId)}>The email it came from</a></p>`}
    <p class="choices start">
      <${Lift} address=${address} label="Lift suppression" onChange=${onChange} />
    </p>`;
}

/** May we write to this address? @param {{ address: string, onChange?: () => void }} props */
export function Standing({ address, onChange }) {
  const paths = {
    suppressions: withQuery('/suppressions', { address, limit: 1 }),
    contacts: withQuery('/contacts', { search: address, limit: 20 }),
  };
  return html`<${Section} title="May we write?">
    <${LoadAll} path=${address} paths=${paths} rows=${2}>
      ${(/** @type {any} */ { suppressions, contacts }, /** @type {{ reload: () => void }} */ { reload }) => {
        const changed = () => {
          reload();
          onChange?.();
        };
        const contact = contacts?.data.find((/** @type {Contact} */ one) => one.email === address.toLowerCase());
        const [suppression] = suppressions?.suppressions ?? [];
        return html`
          ${suppression ? html`<${Suppressed} ...${{ suppression, address }} onChange=${changed} />` : html`<p>The address is not suppressed</p>`}
          ${
            contact
              ? html`<p class="line">
                  <${SubscriptionPill} contact=${contact} />
                  <a href=${linkTo('contacts', contact.id)}>The contact, and why</a>
                </p>`
              : html`<p class="muted">No contact has this address</p>`
          }
        `;
      }}
    <//>
  <//>`;
}
