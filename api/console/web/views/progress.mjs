import { count, duration } from '../format.mjs';
import { html } from '../html.mjs';
import { Component } from '../lib/preact.mjs';

/** The longest time over which the speed is measured. */
const WINDOW_MS = 60_000;

/** How many recipients have an outcome. @param {import('../api-types.ts').CampaignStats} stats */
export const doneOf = ({ sentCount, failedCount, skippedCount, suppressedCount, totalRecipients }) =>
  Math.min(sentCount + failedCount + skippedCount + suppressedCount, totalRecipients);

/**
 * The progress of a campaign, and its speed as this page has measured it.
 * @typedef {{ campaign: import('./campaign-actions.mjs').Campaign, stats: import('../api-types.ts').CampaignStats }}
 *   Props
 * @extends {Component<Props>}
 */
export class Progress extends Component {
  /** @type {{ at: number, done: number }[]} */
  seen = [];

  speed() {
    const done = doneOf(this.props.stats);
    const at = performance.now();
    if (this.seen.at(-1)?.done !== done) this.seen.push({ at, done });
    this.seen = this.seen.filter((one) => at - one.at < WINDOW_MS);
    const [first] = this.seen;
    return first && at - first.at > 1_000 ? ((done - first.done) * 1_000) / (at - first.at) : 0;
  }

  render() {
    const { campaign, stats } = this.props;
    const { totalRecipients: total } = stats;
    const hasEnded = campaign.status === 'SENT' || campaign.status === 'CANCELLED';
    const done = hasEnded ? total : doneOf(stats);
    if (total === 0) return null;
    const speed = campaign.status === 'SENDING' ? this.speed() : 0;
    const rest =
      speed > 0
        ? ` ${speed.toFixed(speed < 10 ? 1 : 0)} a second, about ${duration((total - done) / speed)} left.`
        : '';
    return html`<div class="progress">
      <progress max=${total} value=${done} aria-label="Recipients with an outcome"></progress>
      <p>${count(done)} of ${count(total)} recipients are done.${campaign.paused ? '' : rest}</p>
    </div>`;
  }
}
