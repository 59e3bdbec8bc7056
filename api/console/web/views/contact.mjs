import { call, doing, withQuery } from '../api.mjs';
import { Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Empty, Facts, PageHead, Tabs, Timeline } from '../parts/basics.mjs';
import { KeyText } from '../parts/code.mjs';
import { Action, Menu } from '../parts/dialog.mjs';
import { Load } from '../parts/load.mjs';
import { Pill, wordOf } from '../parts/pill.mjs';
import { goTo, linkTo } from '../route.mjs';
import { toast } from '../parts/toast.mjs';
import { ContactTimeline } from './contact-timeline.mjs';
import { nameOf } from './contacts.mjs';
import { EmailList } from './emails.mjs';
import { Subscribe, SubscriptionPill, Suppressed, Unsubscribed } from './standing.mjs';

/** @typedef {import('../api-types.ts').Contact} Contact */
/** @typedef {import('../api-types.ts').ConsentPage} ConsentPage */

const TABS = { timeline: 'Timeline', emails: 'Emails', consent: 'Consent' };

/** @param {unknown} value */
const shown = (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** @param {{ contact: Contact, onChange: () => void }} props */
function ContactActions({ contact, onChange }) {
  const { id, email } = contact;
  const save = async () => {
    const stored = await call('GET', `/contacts/${id}/export`);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([JSON.stringify(stored, null, 2)], { type: 'application/json' }));
    link.download = `contact-${id}.json`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return html`<${Subscribe} contact=${contact} onChange=${onChange} />
    <${Menu} label="More">
      <button type="button" onClick=${() => void save().catch((error) => toast(error.message))}>
        Export all that is stored
      </button>
      <${Action}
        needs="DELETE /contacts/:id"
        label="Erase"
        kind="danger"
        title=${`Erase ${email}`}
        text="The contact, its data, events and addresses are gone for good. Figures of campaigns stay."
        run=${doing(['DELETE', `/contacts/${id}`], 'Erased', () => goTo('contacts'))}
      />
    <//>`;
}

/** One change of what the contact consents to. @param {ConsentPage['data'][number]} consent */
function consentEntry({ id, at, state, topic, cause, pausedUntil, feedback, clientAddress, wording }) {
  const { reason, endpoint, emailId, workflowId, executionId } = cause;
  const details = [
    html`<p>${wordOf(reason)}${endpoint && `, ${endpoint}`}${clientAddress && `, from ${clientAddress}`}</p>`,
    pausedUntil && html`<p>until <${Time} at=${pausedUntil} isFull /></p>`,
    feedback && html`<p><q>${feedback.text ?? wordOf(feedback.reason ?? '')}</q></p>`,
    emailId && html`<p><a href=${linkTo('emails', emailId)}>The email</a></p>`,
    workflowId &&
      executionId &&
      html`<p><a href=${linkTo('automations', workflowId, { execution: executionId })}>The execution</a></p>`,
    wording &&
      html`<details>
        <summary>The words that were shown</summary>
        <pre class="wraps">${wording.text}</pre>
      </details>`,
  ];
  return {
    key: id,
    at: html`<${Time} at=${at} />`,
    word: topic ? html`${wordOf(state)}: topic <bdi>${topic.key ?? 'deleted'}</bdi>` : wordOf(state),
    hue: /^(un|paus|refus|den|left)/i.test(state) ? 'wait' : 'good',
    detail: details.filter(Boolean),
  };
}

/** What did she consent to? @param {{ contact: Contact }} props */
function Consent({ contact: { id } }) {
  return html`<${Load} path=${`/contacts/${id}/consents?limit=100`}>
    ${(/** @type {ConsentPage} */ { data }) => html`
      ${
        data.length === 0
          ? html`<${Empty}
              title="No consent is recorded"
              text="Nobody has subscribed or unsubscribed this contact"
              icon="hand-raised"
              guide="guides/consent"
            />`
          : html`<${Timeline} label="Consents, newest first" entries=${data.map(consentEntry)} />`
      }
    `}
  <//>`;
}

/** The side of the page: what is known. @param {{ contact: Contact, onChange: () => void }} props */
function Known({ contact, onChange }) {
  const { id, email, data, subscribed, pausedUntil, trackingAllowed } = contact;
  const why = withQuery('/activity', { contactId: id, types: 'contact.unsubscribed', limit: 1 });
  return html`<${Facts}
      rows=${[
        ['Subscription', html`<${SubscriptionPill} contact=${contact} />`],
        ['Paused until', pausedUntil && html`<${Time} at=${pausedUntil} isFull />`],
        ['Tracking', trackingAllowed === undefined ? '' : trackingAllowed ? 'Allowed' : 'Refused'],
        ['Created', html`<${Time} at=${contact.createdAt} isFull />`],
        ['Id', html`<${KeyText} text=${id} />`],
      ]}
    />
    ${
      !subscribed &&
      html`<${Load} path=${why} rows=${1}>
        ${(/** @type {any} */ { data: [change] }) => html`<p class="muted"><${Unsubscribed} change=${change} />: no campaign reaches it</p>`}
      <//>`
    }
    <${Load} path=${withQuery('/suppressions', { address: email, limit: 1 })} rows=${1}>
      ${(/** @type {any} */ { suppressions: [suppression] }, /** @type {any} */ { reload }) =>
        suppression &&
        html`<${Suppressed} suppression=${suppression} address=${email} onChange=${() => (reload(), onChange())} />`}
    <//>
    <${Load} path=${`/contacts/${id}/topics`} rows=${1}>
      ${(/** @type {import('../api-types.ts').ContactTopics} */ { topics }) =>
        topics.length > 0 &&
        html`<h2 class="minor">Topics</h2>
          <${Facts}
            rows=${topics.map(({ name, subscribed: has, isChosen, changedAt }) => [
              name,
              html`<${Pill} state=${has ? 'SUBSCRIBED' : 'NOT_SUBSCRIBED'} />${' '}
                ${isChosen && changedAt ? html`chosen <${Time} at=${changedAt} />` : 'by default'}`,
            ])}
          />`}
    <//>
    <h2 class="minor">Data</h2>
    ${
      Object.keys(data).length === 0
        ? html`<p class="muted">None</p>`
        : html`<${Facts} rows=${Object.entries(data).map(([key, value]) => [key, html`<bdi>${shown(value)}</bdi>`])} />`
    }`;
}

/** Who is she, what did we send, and may we? @param {import('../main.mjs').ViewProps} props */
export function ContactView({ route: { id, query } }) {
  const tab = query.get('tab') ?? 'timeline';
  const tabs = Object.entries(TABS).map(([key, label]) => ({ key, label, href: linkTo('contacts', id, { tab: key }) }));
  return html`<${Load} path=${`/contacts/${encodeURIComponent(id)}`} isPage>
    ${(/** @type {Contact} */ contact, /** @type {any} */ { reload }) => html`
      <${PageHead}
        title=${contact.email}
        pill=${html`<${SubscriptionPill} contact=${contact} />`}
        facts=${nameOf(contact.data)}
        actions=${html`<${ContactActions} contact=${contact} onChange=${reload} />`}
      />
      <div class="split">
        <section aria-label="What happened">
          <${Tabs} label="Of this contact" tabs=${tabs} current=${tab} />
          ${tab === 'emails' && html`<${EmailList} values=${{ contactId: id }} />`}
          ${tab === 'consent' && html`<${Consent} contact=${contact} />`}
          ${tab === 'timeline' && html`<${ContactTimeline} contactId=${id} />`}
        </section>
        <aside aria-label="What is known"><${Known} contact=${contact} onChange=${reload} /></aside>
      </div>
    `}
  <//>`;
}
