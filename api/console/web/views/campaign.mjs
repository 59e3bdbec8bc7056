import { call } from '../api.mjs';
import { count, deliveredShare, shareOf, Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Component } from '../lib/preact.mjs';
import { Empty, Facts, Notice, PageHead, Section } from '../parts/basics.mjs';
import { Figure, Funnel } from '../parts/figures.mjs';
import { Frame } from '../parts/frame.mjs';
import { Load, Trouble } from '../parts/load.mjs';
import { Pill } from '../parts/pill.mjs';
import { Table } from '../parts/table.mjs';
import { CampaignHistory } from './audit.mjs';
import { CampaignActions, stateOf } from './campaign-actions.mjs';
import { Progress } from './progress.mjs';
import { Recipients } from './recipients.mjs';

/** @typedef {import('../api-types.ts').Campaign} Campaign */
/** @typedef {import('../api-types.ts').CampaignStats} CampaignStats */

const POLL_SECONDS = 2;
const isUnderWay = (/** @type {Campaign} */ { status }) => status === 'SENDING' || status === 'SCHEDULED';

/** Why it is not being sent, or failed. @param {Campaign} campaign */
function Troubles({ error, scheduledFor, status, pausedAt, waiting }) {
  return html`${error && html`<${Notice} isBad>${error}<//>`}
  ${pausedAt && html`<${Notice} icon="pause">Paused <${Time} at=${pausedAt} isFull /><//>`}
  ${
    waiting &&
    html`<${Notice} icon="clock">
      Waits${waiting.provider !== '*' && ` for ${waiting.provider}`}: ${waiting.reason}. Next attempt${' '}
      <${Time} at=${waiting.until} />
    <//>`
  }
  ${status === 'SCHEDULED' && scheduledFor && html`<${Notice} icon="clock">Goes out <${Time} at=${scheduledFor} isFull /><//>`}`;
}

/** Who got it? @param {{ stats: CampaignStats }} props */
function Figures({ stats }) {
  const { totalRecipients, sentCount, deliveredCount, bouncedCount, humanOpenedCount, humanClickedCount } = stats;
  const note = (/** @type {number} */ part, /** @type {number} */ whole) => shareOf(Math.max(0, part), whole) ?? '';
  const delivered = deliveredShare({ delivered: deliveredCount, bounced: bouncedCount, sent: sentCount });
  const machines = stats.openedCount - humanOpenedCount;
  return html`<${Funnel}
      steps=${[
        { label: 'Recipients', value: totalRecipients },
        { label: 'Delivered', value: deliveredCount, note: delivered ?? '' },
        { label: 'Opened', value: humanOpenedCount, note: note(humanOpenedCount, sentCount) },
        { label: 'Clicked', value: humanClickedCount, note: note(humanClickedCount, sentCount) },
      ]}
    />
    ${
      sentCount > 0 &&
      delivered === undefined &&
      html`<p class="muted">
        <a href="/docs/feedback#receipts">Servers have reported</a> on ${count(deliveredCount + bouncedCount)} of
        ${' '}${count(sentCount)} emails. Those without a report have most likely arrived.
      </p>`
    }
    <div class="figures">
      <${Figure}
        label="Sent"
        value=${count(sentCount)}
        hint=${machines > 0 && `${count(machines)} opens only by machines`}
      />
      <${Figure} label="Bounced" value=${count(bouncedCount)} delta=${note(bouncedCount, sentCount)} />
      <${Figure}
        label="Complaints"
        value=${count(stats.complainedCount)}
        delta=${note(stats.complainedCount, sentCount)}
        isBad=${stats.complainedCount > 0}
      />
      <${Figure}
        label="Unsubscribed"
        value=${count(stats.unsubscribedCount)}
        delta=${note(stats.unsubscribedCount, sentCount)}
      />
    </div>`;
}

/** What would happen if it were sent now. @extends {Component<{ path: string }, { found?: any, error?: unknown, isBusy?: boolean }>} */
class Check extends Component {
  check = async () => {
    this.setState({ isBusy: true, error: undefined });
    try {
      this.setState({ found: await call('POST', `${this.props.path}/check`, { body: {} }), isBusy: false });
    } catch (error) {
      this.setState({ error, isBusy: false });
    }
  };

  componentDidMount() {
    void this.check();
  }

  render() {
    const { found, error, isBusy } = this.state;
    const button = html`<button type="button" disabled=${isBusy} onClick=${this.check}>
      ${isBusy ? 'Checking…' : 'Check now'}
    </button>`;
    return html`<${Section} title="Before it is sent" actions=${button}>
      ${error !== undefined && html`<${Trouble} error=${error} />`}
      ${
        found &&
        html`<div role="status">
          <p>
            <${Pill}
              state=${found.canBeSent ? 'VERIFIED' : 'ERROR'}
              word=${found.canBeSent ? 'Can be sent' : 'Cannot be sent'}
            />${' '} ${count(found.recipients.receiving)} of ${count(found.recipients.matching)} contacts get it
          </p>
          ${found.problems.map(
            (/** @type {any} */ { code, level, message }) =>
              html`<p key=${code} class="line"><${Pill} state=${level.toUpperCase()} /> ${message}</p>`,
          )}
          <${Facts}
            rows=${[
              ...Object.entries(found.recipients.notReceiving).map(
                ([why, number]) => /** @type {[string, any]} */ ([`Not: ${why}`, number]),
              ),
              ['Size', `${count(Math.round(found.size.htmlBytes / 1_000))} kB`],
              [
                'Bad links',
                found.badLinks.map((/** @type {any} */ { href, reason }) => `${href} (${reason})`).join(', '),
              ],
              [
                'Empty',
                found.placeholders.empty
                  .map((/** @type {any} */ { placeholder, recipients }) => `${placeholder} for ${recipients}`)
                  .join(', '),
              ],
            ]}
          />
        </div>`
      }
    <//>`;
  }
}

/** Which links were clicked? @param {{ path: string, every: number }} props */
function Links({ path, every }) {
  return html`<${Load} path=${`${path}/links`} every=${every} rows=${2}>
    ${(/** @type {any} */ { links }) =>
      links.length > 0 &&
      html`<${Section} title="Links clicked">
        <${Table}
          label="Links"
          columns=${[
            { label: 'Link', kind: 'main' },
            { label: 'People', kind: 'num' },
            { label: 'Clicks', kind: 'num' },
          ]}
          rows=${links.map((/** @type {any} */ { url, recipients, clicks }) => ({ key: url, cells: [url, count(recipients), count(clicks)] }))}
        />
      <//>`}
  <//>`;
}

/** What it is about: only those who have this topic get it. @param {{ id: string }} props */
function Topic({ id }) {
  return html`<${Load} path=${`/topics/${id}`} rows=${1}>
    ${(/** @type {{ name: string }} */ { name }) => html`<p class="muted">Only to those who have the topic “<bdi>${name}</bdi>”</p>`}
  <//>`;
}

/**
 * Who got it, who did not, and why?
 * @param {import('../main.mjs').ViewProps} props
 */
export function CampaignView({ route, settings }) {
  const path = `/campaigns/${encodeURIComponent(route.id)}`;
  return html`<${Load}
    path=${path}
    isPage
    every=${(/** @type {Campaign} */ campaign) => (isUnderWay(campaign) ? POLL_SECONDS : 0)}
  >
    ${(/** @type {Campaign} */ campaign, /** @type {any} */ { reload }) => {
      const temporal = settings.temporalUiUrl && `${settings.temporalUiUrl}/workflows/campaign%2F${campaign.id}`;
      const isDraft = campaign.status === 'DRAFT' || campaign.status === 'SCHEDULED';
      const every = isUnderWay(campaign) ? POLL_SECONDS : 0;
      return html`
        <${PageHead}
          title=${campaign.name}
          pill=${html`<${Pill} state=${stateOf(campaign)} />`}
          facts=${html`<bdi>${campaign.subject}</bdi> · from ${campaign.from}${campaign.sentAt && html` · sent <${Time} at=${campaign.sentAt} isFull />`}`}
          actions=${html`<${CampaignActions} campaign=${campaign} onChange=${reload} />`}
        />
        <${Troubles} ...${campaign} />
        ${campaign.topicId && html`<${Topic} id=${campaign.topicId} />`}
        ${
          isDraft
            ? html`<${Check} path=${path} />`
            : html`<${Load} path=${`${path}/stats`} every=${every} shape="figures">
                  ${(/** @type {CampaignStats} */ stats) => html`
                    <${Progress} campaign=${campaign} stats=${stats} />
                    <${Figures} stats=${stats} />
                    <${Recipients}
                      campaign=${campaign}
                      stats=${stats}
                      wanted=${route.query.get('state') ?? ''}
                      onChange=${reload}
                    />
                  `}
                <//>
                <${Links} path=${path} every=${every} />`
        }
        <${CampaignHistory} path=${path} />
        <${Section} title="Content">
          ${campaign.body ? html`<${Frame} content=${campaign.body} label="The content" />` : html`<${Empty} title="No content" />`}
        <//>
        ${temporal && html`<p class="line"><a href=${temporal} rel="noreferrer">This campaign in the Temporal UI</a></p>`}
      `;
    }}
  <//>`;
}
