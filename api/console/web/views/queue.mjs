import { withQuery } from '../api.mjs';
import { count, Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Load } from '../load.mjs';
import { linkTo } from '../route.mjs';
import { Facts } from '../table.mjs';

/** @typedef {import('../api-types.ts').EmailList} EmailList */

const POLL_SECONDS = 15;
const LOOKED_AT = 100;

/** The waiting emails among the newest: how many, since when, and how many a server deferred. */
export function Queue() {
  return html`<section aria-labelledby="queue">
    <h2 id="queue">The queue</h2>
    <${Load} path=${withQuery('/emails', { status: 'PENDING', limit: LOOKED_AT })} every=${POLL_SECONDS}>
      ${(/** @type {EmailList} */ { emails, hasMore }) => {
        const oldest = emails.at(-1)?.createdAt;
        const deferred = emails.filter(({ deferrals }) => deferrals > 0).length;
        const atLeast = hasMore ? 'at least ' : '';
        return html`<${Facts}
            rows=${[
              ['Emails that wait', `${atLeast}${count(emails.length)}`],
              ['Of them put off by a server', `${atLeast}${count(deferred)}`],
              ['The oldest seen waits since', oldest ? html`<${Time} at=${oldest} />` : 'nothing waits'],
            ]}
          />
          <p>
            ${hasMore && html`<span class="quiet">Counted among the newest emails of the project.</span>`}${' '}
            <a href=${linkTo('emails', '', { status: 'PENDING' })}>What waits, and why</a>
          </p>`;
      }}
    <//>
  </section>`;
}
