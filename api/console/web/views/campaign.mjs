import { count, percent, State, Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Load } from '../load.mjs';
import { Facts } from '../table.mjs';
import { CampaignHistory } from './audit.mjs';
import { CampaignActions, stateOf } from './campaign-actions.mjs';
import { Check } from './campaign-check.mjs';
import { Progress } from './progress.mjs';
import { Recipients } from './recipients.mjs';

/** @typedef {import('./campaign-actions.mjs').Campaign} Campaign */
/** @typedef {import('../api-types.ts').CampaignStats} CampaignStats */

const POLL_SECONDS = 3;

/** @param {Campaign} campaign */
const isUnderWay = ({ status }) => status === 'SENDING' || status === 'SCHEDULED';

/** @param {CampaignStats} stats @returns {[string, any][]} */
const figures = (stats) => [
  ['Recipients', count(stats.totalRecipients)],
  ['Sent', count(stats.sentCount)],
  ['Delivered', `${count(stats.deliveredCount)} (${percent(stats.deliveryRate)})`],
  ['Opened', `${count(stats.openedCount)} (${percent(stats.openRate)})`],
  ['Clicked', `${count(stats.clickedCount)} (${percent(stats.clickRate)})`],
  ['Opened by people', `${count(stats.humanOpenedCount)} (${percent(stats.humanOpenRate)})`],
  ['Clicked by people', `${count(stats.humanClickedCount)} (${percent(stats.humanClickRate)})`],
  ['Bounced', `${count(stats.bouncedCount)} (${percent(stats.bounceRate)})`],
  ['Complaints', count(stats.complainedCount)],
  ['Unsubscribed', count(stats.unsubscribedCount)],
];

/** Why it is not being sent, or failed. @param {Campaign} campaign */
function Troubles({ error, waiting, scheduledFor, status, pausedAt }) {
  return html`${error && html`<p class="trouble">${error}</p>`}
  ${pausedAt && html`<p class="now">Paused since <${Time} at=${pausedAt} />.</p>`}
  ${
    waiting &&
    html`<p class="now">
      Waits for the provider ${waiting.provider}: ${waiting.reason}. Next attempt: <${Time} at=${waiting.until} />.
    </p>`
  }
  ${status === 'SCHEDULED' && scheduledFor && html`<p class="now">Goes out <${Time} at=${scheduledFor} />.</p>`}`;
}

/** What it is about: only those who have this topic get it. @param {{ id: string }} props */
function Topic({ id }) {
  return html`<${Load} path=${`/topics/${id}`}>
    ${(/** @type {{ name: string }} */ { name }) => html`<p class="now">Only to those who have the topic “${name}”.</p>`}
  <//>`;
}

/**
 * One campaign: its progress, its speed, and the recipients it did not reach.
 * @param {import('../main.mjs').ViewProps} props
 */
export function CampaignView({ route, settings }) {
  const path = `/campaigns/${encodeURIComponent(route.id)}`;
  /** @param {Campaign} campaign */
  const seconds = (campaign) => (isUnderWay(campaign) ? POLL_SECONDS : 0);
  return html`<${Load} path=${path} isPage every=${seconds}>
    ${(/** @type {Campaign} */ campaign, /** @type {any} */ { reload }) => {
      const temporal = settings.temporalUiUrl && `${settings.temporalUiUrl}/workflows/campaign%2F${campaign.id}`;
      return html`
        <h1>${campaign.name}</h1>
        <p class="now"><${State} state=${stateOf(campaign)} /> ${campaign.subject}</p>
        ${campaign.topicId && html`<${Topic} id=${campaign.topicId} />`}
        <${Troubles} ...${campaign} />
        <${CampaignActions} campaign=${campaign} onChange=${reload} />
        ${(campaign.status === 'DRAFT' || campaign.status === 'SCHEDULED') && html`<${Check} id=${campaign.id} />`}
        <${Load} path=${`${path}/stats`} every=${isUnderWay(campaign) ? POLL_SECONDS : 0}>
          ${(/** @type {CampaignStats} */ stats) => html`
            <${Progress} campaign=${campaign} stats=${stats} />
            <${Facts} rows=${figures(stats)} />
            ${temporal && html`<p><a href=${temporal} rel="noreferrer">This campaign in the Temporal UI</a></p>`}
            <${Recipients}
              campaign=${campaign}
              stats=${stats}
              wanted=${route.query.get('state') ?? ''}
              onChange=${reload}
            />
            <${CampaignHistory} path=${path} />
          `}
        <//>
      `;
    }}
  <//>`;
}
