import { withQuery } from '../api.mjs';
import { Chart } from '../chart.mjs';
import { count, percent } from '../format.mjs';
import { html } from '../html.mjs';
import { Load } from '../load.mjs';
import { linkTo } from '../route.mjs';
import { Facts, Table } from '../table.mjs';
import { Queue } from './queue.mjs';
import { Refusals } from './refusals.mjs';
import { CampaignActions, stateOf } from './campaign-actions.mjs';

/** @typedef {import('../api-types.ts').ActivityStats} ActivityStats */
/** @typedef {import('../api-types.ts').Campaign} Campaign */

const POLL_SECONDS = 60;
const CAMPAIGN_POLL_SECONDS = 5;
const CHART_DAYS = 30;
/** Complaints in percent of what was sent: at 0.3 Gmail and Yahoo refuse a sender; they ask for less than 0.1. */
const COMPLAINTS = { limit: 0.3, goal: 0.1 };

/** The UTC day `days` days ago. @param {number} days */
export const dayBefore = (days) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

/** @param {number} rate */
function complaintWords(rate) {
  if (rate >= COMPLAINTS.limit) return 'above the limit of 0.3 %: providers refuse';
  return rate >= COMPLAINTS.goal ? 'above the goal of 0.1 %, limit 0.3 %' : 'goal below 0.1 %, limit 0.3 %';
}

/** @param {ActivityStats} stats */
function Figures({ series, totals, rates }) {
  const today = series.find(({ date }) => date === dayBefore(0));
  const { sent = 0, delivered = 0, bounced = 0, complaints = 0 } = today ?? {};
  const rate = complaints === 0 ? 0 : (100 * complaints) / Math.max(sent, complaints);
  return html`<${Facts}
      rows=${[
        ['Accepted by servers today', count(sent)],
        ['Delivered today', count(delivered)],
        ['Bounced today', count(bounced)],
        [
          'Complaints today',
          html`${count(complaints)}, ${percent(rate)} <span class="quiet">(${complaintWords(rate)})</span>`,
        ],
        [
          `Complaint rate of ${CHART_DAYS} days`,
          html`${percent(rates.complaintRate)} <span class="quiet">(${complaintWords(rates.complaintRate)})</span>`,
        ],
        [`Accepted in ${CHART_DAYS} days`, count(totals.sent)],
      ]}
    />
    <${Chart}
      title=${`Emails of the last ${CHART_DAYS} days (UTC)`}
      days=${series.map(({ date }) => date)}
      lines=${[
        { label: 'Accepted', values: series.map((day) => day.sent) },
        { label: 'Delivered', values: series.map((day) => day.delivered) },
        { label: 'Bounced', values: series.map((day) => day.bounced) },
      ]}
    />`;
}

/** Campaigns that are going out. */
function UnderWay() {
  return html`<section aria-labelledby="under-way">
    <h2 id="under-way">Campaigns that are going out</h2>
    <${Load} path=${withQuery('/campaigns', { status: 'SENDING', pageSize: 10 })} every=${CAMPAIGN_POLL_SECONDS}>
      ${(/** @type {import('../api-types.ts').OffsetPage<Campaign>} */ { data }, /** @type {any} */ { reload }) => {
        const rows = data.map((campaign) => [
          html`<a href=${linkTo('campaigns', campaign.id)}>${campaign.name}</a>`,
          stateOf(campaign).toLowerCase(),
          html`${count(campaign.sentCount)} of ${count(campaign.totalRecipients)} sent`,
          html`<${CampaignActions} campaign=${campaign} onChange=${reload} />`,
        ]);
        const columns = ['Name', 'State', 'How far', 'Actions'];
        return html`<${Table}
          caption="Campaigns"
          columns=${columns}
          rows=${rows}
          empty="No campaign is going out now."
        />`;
      }}
    <//>
  </section>`;
}

/** The first page: figures, the queue, campaigns that are going out, and refusals. */
export function TodayView() {
  const path = withQuery('/activity/stats', { startDate: dayBefore(CHART_DAYS - 1), endDate: dayBefore(0) });
  return html`<h1>Today</h1>
    <${Load} path=${path} every=${POLL_SECONDS}
      >${(/** @type {ActivityStats} */ stats) => html`<${Figures} ...${stats} />`}<//
    >
    <${Queue} />
    <${UnderWay} />
    <${Refusals} day=${dayBefore(0)} />`;
}
