import { inWords, State, Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Load } from '../load.mjs';
import { linkTo } from '../route.mjs';
import { Facts } from '../table.mjs';
import { AddressStanding } from './address-standing.mjs';

/** @typedef {import('../api-types.ts').EmailStory} EmailStory */

const REASONS = {
  'project disabled': 'The project is disabled. It goes on when the operator enables it',
  'campaign paused': 'The campaign is paused. It goes on when somebody resumes it',
  complaints: 'The campaign is held, because too many recipients complain',
  'provider paused': 'It is held, because its provider or the mail server refuses emails or wants fewer',
  deferred: 'The server asked for another attempt later',
  throttled: 'The sending speed of the project holds it',
  'no relay': 'An attempt found no mail server that answers',
  scheduled: 'It was asked to be sent later',
  queued: 'No attempt was made yet',
};

/** The current state of an email. @param {EmailStory} email */
function Now({ status, waiting, error }) {
  return html`<p class="now">
    <${State} state=${status} />
    ${waiting && html` ${REASONS[waiting.reason]}.`}
    ${waiting?.until && html` Next attempt: <${Time} at=${waiting.until} />.`}
    ${(waiting?.words ?? error) && html` <q>${inWords(waiting?.words ?? error)}</q>`}
  </p>`;
}

/** @param {EmailStory['timeline'][number]} entry */
function Entry({ at, type, server, words, rule, bounceType, nextAttemptAt, link, isMachine, machineReason }) {
  return html`<li>
    <strong>${bounceType ? `${bounceType} bounce` : type}${isMachine && ' by a machine'}</strong> <${Time} at=${at} />
    ${machineReason && html`<p class="quiet">Told by: ${machineReason.replaceAll('_', ' ')}</p>`}
    ${server && html`<p>Server: ${server}</p>`} ${words && html`<p><q>${words}</q></p>`}
    ${rule && html`<p class="quiet">Judged by the rule ${rule}</p>`}
    ${nextAttemptAt && html`<p>Next attempt: <${Time} at=${nextAttemptAt} /></p>`} ${link && html`<p>Link: ${link}</p>`}
  </li>`;
}

/** What a person did first. @param {EmailStory} email */
function byPerson({ humanOpenedAt, humanClickedAt }) {
  if (!humanOpenedAt) return 'nothing';
  return html`opened
    <${Time} at=${humanOpenedAt} />${humanClickedAt && html`, clicked <${Time} at=${humanClickedAt} />`}`;
}

/** @param {EmailStory} email */
function facts(email) {
  const { to, type, campaignId, workflowId, executionId, templateId, opens, clicks, deferrals, createdAt, id } = email;
  /** @type {[string, any][]} */
  const rows = [
    ['To', to === null ? 'erased' : html`<a href=${linkTo('address', to)}>${to}</a>`],
    ['Type', type.toLowerCase()],
    ['Queued', html`<${Time} at=${createdAt} />`],
    ['Attempts put off', deferrals],
    ['Opens, clicks', `${opens}, ${clicks}`],
    ['By a person', byPerson(email)],
    ['Id', html`<code>${id}</code>`],
  ];
  if (campaignId) rows.push(['Campaign', html`<a href=${linkTo('campaigns', campaignId)}>its campaign</a>`]);
  if (workflowId && executionId)
    rows.push([
      'Workflow',
      html`<a href=${linkTo('workflows', workflowId, { execution: executionId })}>its execution</a>`,
    ]);
  if (templateId) rows.push(['Template', html`<code>${templateId}</code>`]);
  return rows;
}

const isOnItsWay = (/** @type {EmailStory} */ { status }) => status === 'PENDING' || status === 'SENDING';

/**
 * One email: its state, what happened to it, and whether its address may get email.
 * @param {import('../main.mjs').ViewProps} props
 */
export function EmailView({ route: { id } }) {
  return html`<${Load}
    path=${`/emails/${encodeURIComponent(id)}`}
    isPage
    every=${(/** @type {EmailStory} */ it) => (isOnItsWay(it) ? 3 : 0)}
  >
    ${(/** @type {EmailStory} */ email, /** @type {any} */ { reload }) => html`
      <h1>${email.subject || 'No subject'}</h1>
      <${Now} ...${email} />
      <${Facts} rows=${facts(email)} />
      ${email.to !== null && html`<${AddressStanding} address=${email.to} email=${email} onChange=${reload} />`}
      <h2>What happened</h2>
      <ol class="timeline">
        ${email.timeline.map((entry) => html`<${Entry} ...${entry} />`)}
      </ol>
    `}
  <//>`;
}
