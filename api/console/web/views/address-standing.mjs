import { Action } from '../action.mjs';
import { call, withQuery } from '../api.mjs';
import { Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Load } from '../load.mjs';
import { linkTo } from '../route.mjs';
import { Table } from '../table.mjs';

/** @typedef {import('../api-types.ts').ActivityPage} ActivityPage */
/** @typedef {import('../api-types.ts').ContactList} ContactList */
/** @typedef {import('../api-types.ts').ContactTopics} ContactTopics */
/** @typedef {import('../api-types.ts').Email} Email */
/** @typedef {import('../api-types.ts').SuppressionList} SuppressionList */

/**
 * The ends of the sentence "unsubscribed …", by the reason of the event.
 * @type {Record<string, string>}
 */
const ENDINGS = {
  hard_bounce: 'by the bounce of',
  complaint: 'by the complaint about',
  link: 'by the page that is linked in',
  page: 'by the preference page that is linked in',
  one_click: 'by the unsubscribe button of the mail program, in',
  email: 'by an email to the unsubscribe address of',
  api: 'by the request',
  send: 'by a request to /v1/send',
  track: 'by a tracked event',
  import: 'by an import',
  bulk: 'by a bulk operation',
  workflow: 'by a step of',
};

/**
 * When and why a contact was unsubscribed.
 * @param {{ contactId: string }} props
 */
function Unsubscribed({ contactId }) {
  const path = withQuery('/activity', { contactId, types: 'contact.unsubscribed', limit: 1 });
  return html`<${Load} path=${path}>
    ${(/** @type {ActivityPage} */ { data: [change] }) => {
      if (!change) return html`<p>The contact has never been subscribed: no campaign reaches it.</p>`;
      const { reason, emailId, endpoint, executionId, workflowId } = /** @type {Record<string, string>} */ (
        change.metadata
      );
      return html`<p>
        The contact was unsubscribed ${reason && ENDINGS[reason]} ${endpoint}
        ${emailId && html`<a href=${linkTo('emails', emailId)}>an email</a>`}
        ${executionId && workflowId && html`<a href=${linkTo('workflows', workflowId, { execution: executionId })}>a workflow</a>`},${' '}
        <${Time} at=${change.timestamp} />: no campaign reaches it.
      </p>`;
    }}
  <//>`;
}

/**
 * The contact of an address.
 * @param {{ address: string, contact: import('../api-types.ts').Contact, onChange: () => void }} props
 */
function Subscription({ address, contact, onChange }) {
  if (contact.subscribed && contact.pausedUntil) {
    return html`<p>The contact is subscribed, and gets no marketing before <${Time} at=${contact.pausedUntil} />.</p>`;
  }
  if (contact.subscribed) return html`<p>The contact is subscribed.</p>`;
  const subscribe = async () => {
    await call('PATCH', `/contacts/${contact.id}`, { body: { subscribed: true } });
    onChange();
    return 'Subscribed.';
  };
  return html`<${Unsubscribed} contactId=${contact.id} />
    <p>
      <${Action}
        label="Subscribe again"
        question=${`Only somebody who asked for it may be subscribed again. Has ${address} asked for it?`}
        run=${subscribe}
      />
    </p>`;
}

/**
 * The topics of a contact.
 * @param {{ contactId: string }} props
 */
function Topics({ contactId }) {
  return html`<${Load} path=${`/contacts/${contactId}/topics`}>
    ${(/** @type {ContactTopics} */ { topics }) => {
      const rows = topics.map(({ name, subscribed, isChosen, changedAt }) => [
        name,
        subscribed ? 'has it' : 'does not have it',
        isChosen && changedAt ? html`chosen <${Time} at=${changedAt} />` : 'by default',
      ]);
      const columns = ['Topic', 'The contact', 'Why'];
      return (
        rows.length > 0 && html`<${Table} caption="Topics of the contact" columns=${columns} rows=${rows} empty="" />`
      );
    }}
  <//>`;
}

/**
 * Whether an address is suppressed, and the action that ends that.
 * @param {{ address: string, onChange: () => void }} props
 */
function SuppressionState({ address, onChange }) {
  const unsuppress = async () => {
    await call('POST', '/suppressions/remove', { body: { address } });
    onChange();
    return 'It may have email again.';
  };
  return html`<${Load} path=${withQuery('/suppressions', { address, limit: 1 })}>
    ${(/** @type {SuppressionList} */ { suppressions: [suppression] }, /** @type {any} */ { reload }) =>
      suppression
        ? html`<p>
            <strong>Suppressed</strong> as ${suppression.reason.toLowerCase().replaceAll('_', ' ')},${' '}
            <${Time} at=${suppression.createdAt} />: it gets no email of any kind.
            ${suppression.words && html` <q>${suppression.words}</q>`}${' '}
            <${Action}
              label="Let it have email again"
              question=${`${address} will get email again. Do this when the reason is gone.`}
              run=${() => unsuppress().finally(reload)}
            />
          </p>`
        : html`<p>The address is not suppressed.</p>`}
  <//>`;
}

/**
 * Sends the template of an email to its address once more.
 * @param {{ address: string, email: Email, onChange: () => void }} props
 */
function SendAgain({ address, email: { templateId, campaignId }, onChange }) {
  if (campaignId) return html`<p>The page of the campaign sends again to all whom it did not reach.</p>`;
  if (!templateId) return html`<p>Only the program that sent it can send it again: it had no template.</p>`;
  const send = async (/** @type {string} */ key) => {
    const headers = { 'Idempotency-Key': key };
    await call('POST', '/v1/send', { body: { to: address, template: templateId }, headers });
    onChange();
    return 'On its way, as a new email.';
  };
  return html`<p>
    <${Action}
      label="Send the template again"
      question=${`${address} will get the template as it is now, filled with the stored data of the contact. Other values of the first request are not stored.`}
      run=${send}
    />
  </p>`;
}

/**
 * Whether an address may get email, and actions that allow it again.
 * @param {{ address: string, email?: Email, onChange: () => void }} props
 */
export function AddressStanding({ address, email, onChange }) {
  return html`<section class="card" aria-label="May this address have email?">
    <h2>May this address have email?</h2>
    <${SuppressionState} address=${address} onChange=${onChange} />
    <${Load} path=${withQuery('/contacts', { search: address, limit: 20 })}>
      ${(/** @type {ContactList} */ { data }, /** @type {any} */ { reload }) => {
        const contact = data.find((one) => one.email === address.toLowerCase());
        return contact
          ? html`<${Subscription} address=${address} contact=${contact} onChange=${reload} />
              <${Topics} contactId=${contact.id} />`
          : html`<p>There is no contact with this address.</p>`;
      }}
    <//>
    ${email && html`<${SendAgain} address=${address} email=${email} onChange=${onChange} />`}
  </section>`;
}
