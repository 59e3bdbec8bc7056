import { count, duration } from '../format.mjs';
import { html } from '../html.mjs';

/** The longest time over which the speed is measured. */
const WINDOW_MS = 60_000;
/** What was seen of each campaign lately, so that the speed is known on every page. @type {Map<string, { at: number, done: number }[]>} */
const seen = new Map();

/** How many recipients have an outcome. @param {import('../api-types.ts').CampaignStats} stats */
const doneOf = ({ sentCount, totalRecipients, failedCount, skippedCount, suppressedCount }) =>
  Math.min(sentCount + failedCount + skippedCount + suppressedCount, totalRecipients);

/** Recipients a second, as this page has measured it. @param {string} id @param {number} done */
function speedOf(id, done) {
  const at = performance.now();
  const before = (seen.get(id) ?? []).filter((one) => at - one.at < WINDOW_MS && one.done <= done);
  if (before.at(-1)?.done !== done) before.push({ at, done });
  seen.set(id, before);
  const [first] = before;
  return first && at - first.at > 1_000 ? ((done - first.done) * 1_000) / (at - first.at) : 0;
}

/**
 * How far a campaign is, how fast, how long it takes, and what holds it.
 * @param {{ campaign: import('../api-types.ts').Campaign, stats: import('../api-types.ts').CampaignStats }} props
 */
export function Progress({ campaign, stats }) {
  const { id, status, paused, waiting, totalRecipients: total } = campaign;
  if (status !== 'SENDING' || total === 0) return null;
  const done = doneOf(stats);
  const speed = paused ? 0 : speedOf(id, done);
  const facts = [`${count(done)} of ${count(total)} done`];
  if (speed > 0)
    facts.push(`${speed.toFixed(speed < 10 ? 1 : 0)} a second`, `about ${duration((total - done) / speed)} left`);
  const held = paused
    ? 'Paused'
    : waiting && `${waiting.reason}${waiting.provider === '*' ? '' : ` (${waiting.provider})`}`;
  return html`<div class="progress">
    <span
      class="track"
      role="progressbar"
      aria-label="Recipients with an outcome"
      aria-valuenow=${done}
      aria-valuemin="0"
      aria-valuemax=${total}
    >
      <i style=${{ width: `${(100 * done) / total}%` }}></i>
    </span>
    <p class="muted">${facts.join(' · ')}${held && html` · <strong>${held}</strong>`}</p>
  </div>`;
}
