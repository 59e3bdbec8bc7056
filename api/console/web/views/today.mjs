import { may, withQuery } from '../api.mjs';
import { count, dayBefore, deliveredShare, duration, percent } from '../format.mjs';
import { html } from '../html.mjs';
import { PageHead, Section } from '../parts/basics.mjs';
import { Bars, Figure, Gauge } from '../parts/figures.mjs';
import { Icon } from '../parts/icon.mjs';
import { Load, LoadAll } from '../parts/load.mjs';
import { linkTo } from '../route.mjs';
import { domainState } from './domains.mjs';
import { FirstEmail } from './first-email.mjs';
import { Progress } from './progress.mjs';
import { Refusals } from './refusals.mjs';
import { Waiting } from './waiting.mjs';

/** @typedef {import('../api-types.ts').ActivityStats} ActivityStats */
/** @typedef {ActivityStats['series'][number]} Day */

const POLL_SECONDS = 30;
const SENDING_POLL_SECONDS = 3;
const CHART_DAYS = 30;
/** Work that has not started for so long needs a look. */
const LATE_SECONDS = 60;
const WEEK = 7;
/** Complaints in percent of what was sent: at 0.3 Gmail and Yahoo refuse a sender; they ask for less than 0.1. */
const COMPLAINTS = { limit: 0.3, goal: 0.1 };
/** Bounces in percent of what was sent from which providers look closer. */
const BOUNCES_GOAL = 2;

/** @param {Day[]} days */
function sumOf(days) {
  const sum = { sent: 0, delivered: 0, bounced: 0, complaints: 0 };
  for (const day of days)
    for (const name of /** @type {const} */ (['sent', 'delivered', 'bounced', 'complaints'])) sum[name] += day[name];
  return sum;
}

/** A part in percent, between 0 and 100. @param {number} part @param {number} whole */
const rateOf = (part, whole) => (whole === 0 ? 0 : (100 * Math.min(part, whole)) / whole);

/** The change of a rate in points. @param {number} now @param {number} before */
function points(now, before) {
  const change = now - before;
  return Math.abs(change) < 0.05 ? undefined : `${change > 0 ? '+' : '−'}${Math.abs(change).toFixed(1)} pt`;
}

/** @param {{ stats: ActivityStats, project: import('../main.mjs').Project }} props */
function Figures({ stats: { series, totals }, project }) {
  const days = series.filter(({ date }) => date > dayBefore(CHART_DAYS));
  const [week, before] = [sumOf(days.slice(-WEEK)), sumOf(days.slice(-2 * WEEK, -WEEK))];
  // Lines and a chart of nothing say nothing.
  const isEmpty = totals.sent === 0;
  const isReported = week.sent === 0 || deliveredShare(week) !== undefined;
  const ofSent = (/** @type {number} */ part) => week.sent > 0 && `${count(part)} of ${count(week.sent)} sent`;
  const values = (/** @type {(day: Day) => number} */ valueOf) =>
    isEmpty ? undefined : days.slice(-WEEK).map(valueOf);
  const [today, yesterday] = [sumOf(days.slice(-1)), sumOf(days.slice(-2, -1))];
  const rates = (/** @type {'delivered' | 'bounced' | 'complaints'} */ name) =>
    /** @type {const} */ ([rateOf(week[name], week.sent), rateOf(before[name], before.sent)]);
  const [[delivered, deliveredBefore], [bounced, bouncedBefore], [complaints, complaintsBefore]] = [
    rates('delivered'),
    rates('bounced'),
    rates('complaints'),
  ];
  const change = today.sent - yesterday.sent;
  return html`<div class="figures">
      <${Figure}
        label="Sent today"
        value=${count(today.sent)}
        delta=${change === 0 ? undefined : `${change > 0 ? '+' : '−'}${count(Math.abs(change))} to yesterday`}
        values=${values(({ sent }) => sent)}
        href=${linkTo('emails', '', { since: dayBefore(0) })}
      />
      <${Figure}
        label="Delivered, 7 days"
        value=${deliveredShare(week) ?? '–'}
        delta=${isReported ? points(delivered, deliveredBefore) : undefined}
        hint=${isReported ? ofSent(week.delivered) : html`<a href="/docs/feedback#receipts">Servers reported ${count(week.delivered + week.bounced)} of ${count(week.sent)}</a>`}
        values=${isReported ? values((day) => rateOf(day.delivered, day.sent)) : undefined}
      />
      <${Figure}
        label="Bounced, 7 days"
        value=${week.sent ? percent(bounced) : '–'}
        delta=${points(bounced, bouncedBefore)}
        isBad=${bounced >= BOUNCES_GOAL}
        hint=${ofSent(week.bounced)}
        values=${values((day) => rateOf(day.bounced, day.sent))}
        href=${linkTo('emails', '', { status: 'BOUNCED' })}
      />
      <${Figure}
        label="Complaints, 7 days"
        value=${week.sent ? percent(complaints) : '–'}
        delta=${points(complaints, complaintsBefore)}
        isBad=${complaints >= COMPLAINTS.goal}
        hint=${html`Goal ${COMPLAINTS.goal} %, limit ${COMPLAINTS.limit} %
        ${
          week.sent > 0 &&
          html`<${Gauge}
            value=${complaints}
            ...${COMPLAINTS}
            label=${`${percent(complaints)}, and the limit is ${COMPLAINTS.limit} %`}
          />`
        }`}
        href=${linkTo('emails', '', { status: 'COMPLAINED' })}
      />
    </div>
    ${
      isEmpty
        ? html`<${FirstEmail}
            project=${project}
            title=${`No email in ${CHART_DAYS} days`}
            text="What you send shows up here within a second"
          />`
        : html`<${Bars}
            title=${`Sent in ${CHART_DAYS} days (UTC)`}
            days=${days.map(({ date }) => date)}
            series=${[
              { label: 'delivered', hue: 'accent', values: days.map((day) => Math.min(day.delivered, day.sent)) },
              { label: 'bounced', hue: 'bad', values: days.map((day) => day.bounced) },
              {
                label: 'without a report',
                hue: 'quiet',
                values: days.map((day) => Math.max(0, day.sent - day.delivered - day.bounced)),
              },
            ]}
          />`
    }`;
}

/** @typedef {{ text: any, href: string, isBad?: boolean }} Finding */

/** Rates that harm how providers see the sender. @param {ActivityStats | undefined} stats @returns {Finding[]} */
function rateFindings(stats) {
  const week = sumOf(stats?.series.slice(-WEEK) ?? []);
  const complaints = rateOf(week.complaints, week.sent);
  if (complaints < COMPLAINTS.goal) return [];
  return [
    {
      text: `${percent(complaints)} of the recipients of 7 days complained; providers refuse senders at ${COMPLAINTS.limit} %`,
      href: linkTo('emails', '', { status: 'COMPLAINED' }),
      isBad: complaints >= COMPLAINTS.limit,
    },
  ];
}

/** @param {import('../api-types.ts').Campaign} campaign @returns {Finding[]} */
function campaignFinding({ id, name, paused, pausedAt, waiting, error }) {
  const held = paused ? `paused ${duration((Date.now() - Date.parse(pausedAt ?? '')) / 1_000)} ago` : waiting?.reason;
  const text = html`Campaign <bdi>${name}</bdi>: ${error ?? held}`;
  return held || error ? [{ text, href: linkTo('campaigns', id) }] : [];
}

/** @param {import('../api-types.ts').ListedWorkflow} workflow @returns {Finding[]} */
function workflowFinding({ id, name, failedExecutions }) {
  const text = html`${count(failedExecutions)} executions of <bdi>${name}</bdi> failed`;
  return failedExecutions > 0 ? [{ text, href: linkTo('automations', id, { status: 'FAILED' }), isBad: true }] : [];
}

/** What failed in automations that are not listed. @param {any} page of automations @returns {Finding[]} */
function restFinding({ data, failedExecutions }) {
  const rest = data.reduce(
    (/** @type {number} */ sum, /** @type {any} */ one) => sum - one.failedExecutions,
    failedExecutions,
  );
  const text = `${count(rest)} executions of other automations failed`;
  return rest > 0 ? [{ text, href: linkTo('automations'), isBad: true }] : [];
}

/** @param {import('../api-types.ts').Domain} domain @returns {Finding[]} */
function domainFinding(domain) {
  if (domainState(domain) === 'VERIFIED') return [];
  return [
    { text: `${domain.domain} ${domain.verified ? 'sends unsigned' : 'is not verified'}`, href: linkTo('domains') },
  ];
}

/** @param {import('../api-types.ts').Webhook} webhook @returns {Finding[]} */
function webhookFinding({ id, url, status }) {
  if (status === 'active') return [];
  return [{ text: `Webhook ${url} is ${status}`, href: linkTo('webhooks', id), isBad: status === 'failing' }];
}

/** @param {import('../api-types.ts').Queue['waiting'][number]} item @returns {Finding[]} */
function queueFinding({ kind, reason, oldestSeconds }) {
  if (!kind.startsWith('start of') || (oldestSeconds ?? 0) < LATE_SECONDS) return [];
  const text = `Work has not started for ${duration(oldestSeconds ?? 0)}: ${reason ?? 'is a worker running?'}`;
  return [{ text, href: linkTo('today'), isBad: true }];
}

/** What an operator should look at. @param {any} data what `TodayView` loads @returns {Finding[]} */
const findingsOf = ({ stats, workflows, webhooks, domains, campaigns, queue }) => [
  ...rateFindings(stats),
  ...(campaigns?.data ?? []).flatMap(campaignFinding),
  ...(workflows?.data ?? []).flatMap(workflowFinding),
  ...(workflows ? restFinding(workflows) : []),
  ...(domains ?? []).flatMap(domainFinding),
  ...(webhooks ?? []).flatMap(webhookFinding),
  ...(queue?.waiting ?? []).flatMap(queueFinding),
];

/** @param {{ data: any }} props */
function Attention({ data }) {
  const troubles = findingsOf(data);
  const seen = Object.values(data).includes(undefined) ? ' of what this key may read' : '';
  if (troubles.length === 0)
    return html`<p class="muted calm"><${Icon} name="check-circle" /> Nothing${seen} needs attention</p>`;
  return html`<${Section} title="Needs attention">
    <ul class="attention">
      ${troubles.slice(0, 12).map(
        ({ text, href, isBad }) =>
          html`<li class=${isBad ? 'bad' : 'wait'}>
            <a class="row-link" href=${href}
              ><${Icon} name="exclamation-triangle" /><span>${text}</span><${Icon} name="chevron-right"
            /></a>
          </li>`,
      )}
    </ul>
  <//>`;
}

/** Campaigns that are going out, how fast, and why not faster. */
function SendingNow() {
  if (!may('GET /campaigns')) return null;
  const path = withQuery('/campaigns', { status: 'SENDING', pageSize: 10 });
  return html`<${Load}
    path=${path}
    every=${(/** @type {any} */ { data }) => (data.length > 0 ? SENDING_POLL_SECONDS : POLL_SECONDS)}
    rows=${1}
  >
    ${(/** @type {any} */ { data }) =>
      data.length > 0 &&
      html`<${Section} title="Sending now">
        ${data.map(
          (/** @type {any} */ campaign) =>
            html`<div key=${campaign.id} class="sending">
              <a href=${linkTo('campaigns', campaign.id)}
                ><strong><bdi>${campaign.name}</bdi></strong></a
              >
              <${Load} path=${`/campaigns/${campaign.id}/stats`} every=${SENDING_POLL_SECONDS} rows=${1}>
                ${(/** @type {any} */ stats) => html`<${Progress} campaign=${campaign} stats=${stats} />`}
              <//>
            </div>`,
        )}
      <//>`}
  <//>`;
}

/** Is anything wrong, and how much went out? @param {import('../main.mjs').ViewProps} props */
export function TodayView({ project }) {
  const paths = {
    stats: withQuery('/activity/stats', { startDate: dayBefore(CHART_DAYS - 1), endDate: dayBefore(0) }),
    queue: '/activity/queue',
    campaigns: withQuery('/campaigns', { status: 'SENDING', pageSize: 10 }),
    workflows: '/workflows?pageSize=100',
    webhooks: '/webhooks',
    domains: `/domains/project/${project.id}`,
  };
  return html`<${PageHead} title="Today" />
    <${LoadAll} path="today" paths=${paths} every=${POLL_SECONDS} shape="figures page">
      ${(/** @type {any} */ data) =>
        html`<${Attention} data=${data} />
          ${data.stats && html`<${Figures} stats=${data.stats} project=${project} />`}`}
    <//>
    <${SendingNow} />
    <${Waiting} />
    <${Refusals} day=${dayBefore(0)} />`;
}
