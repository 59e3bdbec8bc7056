import { count, duration } from '../format.mjs';
import { html } from '../html.mjs';
import { Load } from '../load.mjs';
import { linkTo } from '../route.mjs';
import { Facts, Table } from '../table.mjs';

/** @typedef {import('../api-types.ts').Queue} Queue */

const POLL_SECONDS = 15;
/** The kinds that are emails; the others are shown only while some of them wait. */
const EMAILS = ['email', 'campaign recipient'];
const COLUMNS = ['What', 'How many', 'The oldest is due for', 'Why'];

/** @param {number | null} seconds */
const age = (seconds) => (seconds === null ? 'not due yet' : duration(seconds));

/** For how long the oldest email has been due. @param {Queue['waiting']} emails */
function oldestOf(emails) {
  if (emails.length === 0) return 'nothing waits';
  const ages = emails.flatMap(({ oldestSeconds }) => oldestSeconds ?? []);
  return age(ages.length === 0 ? null : Math.max(...ages));
}

/** @param {Queue['waiting'][number]} item */
const row = (item) => [item.kind, count(item.count), age(item.oldestSeconds), item.reason ?? ''];

/** What waits in the project: how many emails, for how long the oldest has been due, and what else. */
export function Queue() {
  return html`<section aria-labelledby="queue">
    <h2 id="queue">The queue</h2>
    <${Load} path="/activity/queue" every=${POLL_SECONDS}>
      ${(/** @type {Queue} */ { waiting }) => {
        const emails = waiting.filter(({ kind }) => EMAILS.includes(kind));
        return html`<${Facts}
            rows=${[
              ['Emails that wait', count(emails.reduce((sum, item) => sum + item.count, 0))],
              ['The oldest is due for', oldestOf(emails)],
            ]}
          />
          ${waiting.length > 0 && html`<${Table} caption="What waits" columns=${COLUMNS} rows=${waiting.map(row)} empty="" />`}
          <p><a href=${linkTo('emails', '', { status: 'PENDING' })}>Emails that wait, and why</a></p>`;
      }}
    <//>
  </section>`;
}
