import { withQuery } from '../api.mjs';
import { count, domainOf } from '../format.mjs';
import { html } from '../html.mjs';
import { Load } from '../load.mjs';
import { linkTo } from '../route.mjs';
import { Table } from '../table.mjs';

/** @typedef {import('../api-types.ts').Email} Email */
/** @typedef {import('../api-types.ts').EmailList} EmailList */

const POLL_SECONDS = 60;
/** How many of the newest emails are counted. */
const EMAILS_READ = 100;
const DOMAINS_SHOWN = 20;
const COLUMNS = ['Domain of the recipients', 'Refused', 'In these words, last', 'Example'];

/** @param {Email[]} emails newest first */
function byDomain(emails) {
  /** @type {Map<string, Email[]>} */
  const groups = new Map();
  for (const email of emails) groups.set(domainOf(email.to), [...(groups.get(domainOf(email.to)) ?? []), email]);
  return [...groups].sort(([, left], [, right]) => right.length - left.length).slice(0, DOMAINS_SHOWN);
}

/** @param {{ day: string, status: string, what: string }} props */
function Refused({ day, status, what }) {
  return html`<${Load} path=${withQuery('/emails', { status, since: day, limit: EMAILS_READ })} every=${POLL_SECONDS}>
      ${(/** @type {EmailList} */ { emails, hasMore }) => {
        const rows = byDomain(emails).map(([domain, refused]) => [
          domain,
          count(refused.length),
          refused[0]?.error ?? '',
          refused[0] && html`<a href=${linkTo('emails', refused[0].id)}>the last one</a>`,
        ]);
        return html`<${Table}
          caption=${`${what}: ${hasMore ? `of the newest ${EMAILS_READ} that were` : 'of all that were'} queued today`}
          columns=${COLUMNS}
          rows=${rows}
          empty=${`${what}: none of those queued today.`}
        />`;
      }}
    <//>
    <p><a href=${linkTo('emails', '', { status, since: day })}>All that are ${status.toLowerCase()}</a></p>`;
}

/**
 * Who refused today: addresses that take no email, and servers that did not want ours.
 * @param {{ day: string }} props
 */
export function Refusals({ day }) {
  return html`<section aria-labelledby="refusals">
    <h2 id="refusals">Refused today, by provider</h2>
    <${Refused} day=${day} status="BOUNCED" what="Addresses that take no email" />
    <${Refused} day=${day} status="FAILED" what="Given up or refused because of us" />
  </section>`;
}
