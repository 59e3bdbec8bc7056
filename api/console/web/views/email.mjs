import { call, doing } from '../api.mjs';
import { inWords, Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Facts, Notice, PageHead, Section, Timeline } from '../parts/basics.mjs';
import { KeyText } from '../parts/code.mjs';
import { Action } from '../parts/dialog.mjs';
import { Load } from '../parts/load.mjs';
import { Pill, wordOf } from '../parts/pill.mjs';
import { linkTo } from '../route.mjs';
import { EmailContent } from './email-content.mjs';
import { Standing } from './standing.mjs';

/** @typedef {import('../api-types.ts').EmailStory} EmailStory */

const REASONS = {
  'project disabled': 'The project is disabled: it goes on when the operator enables it',
  'campaign paused': 'The campaign is paused: it goes on when somebody resumes it',
  complaints: 'The campaign is held, because too many recipients complain',
  'traffic rule': 'A traffic rule for its provider is used up',
  'warm-up': 'A source warms up, and what it may send today is used up',
  'no source': 'The pool of its stream has no source in use',
  'provider paused': 'Its provider or the mail server refuses emails or wants fewer',
  deferred: 'The server asked for another attempt later',
  throttled: 'The sending speed of the project holds it',
  'no relay': 'No mail server answered',
  scheduled: 'It was asked to be sent later',
  queued: 'No attempt was made yet',
};
/** @type {Record<string, string>} */
const HUES = {
  delivered: 'good',
  opened: 'good',
  clicked: 'good',
  accepted: 'good',
  replied: 'good',
  bounced: 'bad',
  complained: 'bad',
  failed: 'bad',
  refused: 'bad',
  suppressed: 'bad',
  deferred: 'wait',
};

/** What holds an email, or why it did not arrive. @param {EmailStory} email */
function Why({ waiting, error, status }) {
  if (!waiting && !error) return null;
  const words = inWords(waiting?.words ?? error);
  const isBad = !waiting && ['BOUNCED', 'FAILED', 'SUPPRESSED', 'COMPLAINED'].includes(status);
  return html`<${Notice} isBad=${isBad} icon=${waiting ? 'clock' : undefined}>
    ${waiting && `${REASONS[waiting.reason]}. `}${waiting?.until && html`Next attempt <${Time} at=${waiting.until} />. `}
    ${words && html`<q>${words}</q>`}
  <//>`;
}

/** @param {EmailStory['timeline'][number]} entry @param {number} n */
function entryOf({ at, type, server, words, rule, bounceType, nextAttemptAt, link, isMachine, machineReason }, n) {
  const details = [
    server && html`<p>${server}</p>`,
    words && html`<p><q>${words}</q></p>`,
    link && html`<p>${link}</p>`,
    nextAttemptAt && html`<p>Next attempt <${Time} at=${nextAttemptAt} /></p>`,
    (rule ?? machineReason) &&
      html`<p class="label">Judged by ${(rule ?? machineReason ?? '').replaceAll('_', ' ')}</p>`,
  ].filter(Boolean);
  const word = bounceType ? `${wordOf(bounceType)} bounce` : wordOf(type);
  return {
    key: `${at} ${type} ${n}`,
    at: html`<${Time} at=${at} />`,
    word: isMachine ? `${word} by a machine` : word,
    hue: isMachine ? 'quiet' : HUES[type],
    detail: details.length > 0 && details,
  };
}

/** @param {{ email: EmailStory }} props */
function EmailFacts({ email }) {
  const { to, type, contactId, campaignId, workflowId, executionId, templateId, opens, clicks, deferrals, id, tags } =
    email;
  const link = (/** @type {string} */ href, /** @type {string} */ word) => html`<a href=${href}>${word}</a>`;
  return html`<${Facts}
    rows=${[
      ['To', to === null ? 'Erased' : link(contactId ? linkTo('contacts', contactId) : linkTo('address', to), to)],
      ['Type', wordOf(type)],
      ['Queued', html`<${Time} at=${email.createdAt} isFull />`],
      ['Scheduled', email.scheduledAt && html`<${Time} at=${email.scheduledAt} isFull />`],
      ['Retries', deferrals > 0 && deferrals],
      ['Opens, clicks', opens + clicks > 0 && `${opens}, ${clicks}${email.humanOpenedAt ? '' : ', by machines'}`],
      ['Campaign', campaignId && link(linkTo('campaigns', campaignId), 'Open')],
      [
        'Automation',
        workflowId &&
          executionId &&
          link(linkTo('automations', workflowId, { execution: executionId }), 'Open the execution'),
      ],
      ['Template', templateId && link(linkTo('templates', templateId), 'Open')],
      ['Tags', tags.join(', ')],
      ['Id', html`<${KeyText} text=${id} />`],
    ]}
  />`;
}

/** @param {{ email: EmailStory, onChange: () => void }} props */
function EmailActions({ email: { id, to, templateId, campaignId, scheduledAt, status }, onChange }) {
  const send = async (/** @type {FormData} */ _given, /** @type {string} */ key) => {
    await call('POST', '/v1/send', { body: { to, template: templateId }, headers: { 'Idempotency-Key': key } });
    onChange();
    return 'It is on its way, as a new email';
  };
  if (scheduledAt && status === 'PENDING')
    return html`<${Action}
      needs="POST /emails/:id/cancel"
      label="Cancel"
      title="Cancel this email"
      kind="danger"
      text="It is never sent."
      run=${doing(['POST', `/emails/${id}/cancel`], 'Cancelled', onChange)}
    />`;
  if (!to || !templateId || campaignId) return null;
  const text = `${to} gets the template as it is now, filled with the stored data of the contact. Other values of the first request are not stored.`;
  return html`<${Action}
    needs="POST /v1/send"
    label="Send again"
    title="Send the template again"
    text=${text}
    run=${send}
  />`;
}

/** What became of it? @param {import('../main.mjs').ViewProps} props */
export function EmailView({ route: { id, query } }) {
  const isOnItsWay = (/** @type {EmailStory} */ { status }) => status === 'PENDING' || status === 'SENDING';
  return html`<${Load}
    path=${`/emails/${encodeURIComponent(id)}`}
    isPage
    every=${(/** @type {EmailStory} */ email) => (isOnItsWay(email) ? 3 : 0)}
  >
    ${(/** @type {EmailStory} */ email, /** @type {any} */ { reload }) => html`
      <${PageHead}
        title=${email.subject || 'No subject'}
        pill=${html`<${Pill} state=${email.status} />`}
        facts=${email.to === null ? 'To an erased address' : html`To <bdi>${email.to}</bdi>`}
        actions=${html`<${EmailActions} email=${email} onChange=${reload} />`}
      />
      <${Why} ...${email} />
      <div class="split">
        <${Section} title="What happened">
          <${Timeline} label="What happened, oldest first" entries=${email.timeline.map(entryOf)} />
        <//>
        <div>
          <${EmailFacts} email=${email} />
          ${email.to !== null && html`<${Standing} address=${email.to} onChange=${reload} />`}
        </div>
      </div>
      <${EmailContent} id=${email.id} tab=${query.get('tab') ?? 'preview'} />
    `}
  <//>`;
}
