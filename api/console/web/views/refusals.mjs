import { withQuery } from '../api.mjs';
import { count, domainOf } from '../format.mjs';
import { html } from '../html.mjs';
import { Load } from '../load.mjs';
import { linkTo } from '../route.mjs';
import { Table } from '../table.mjs';

/** @typedef {import('../api-types.ts').Email} Email */
/** @typedef {import('../api-types.ts').EmailList} EmailList */

const POLL_SECONDS = 60;
const LOOKED_AT = 100;
const SHOWN = 20;
const COLUMNS = ['Domain of the recipients', 'Refused', 'In these words, last', 'Example'];

/** @param {Email[]} emails newest first */
function byDomain(emails) {
  /** @type {Map<string, Email[]>} */
  const groups = new Map();
  for (const email of emails) groups.set(domainOf(email.to), [...(groups.get(domainOf(email.to)) ?? []), email]);
  return [...groups].sort(([, left], [, right]) => right.length - left.length).slice(0, SHOWN);
}

/** The servers that refused today, among the newest refusals. @param {{ day: string }} props */
export function Refusals({ day }) {
  return html`<section aria-labelledby="refusals">
    <h2 id="refusals">Refused today, by provider</h2>
    <${Load} path=${withQuery('/emails', { status: 'BOUNCED', since: day, limit: LOOKED_AT })} every=${POLL_SECONDS}>
      ${(/** @type {EmailList} */ { emails, hasMore }) => {
        const rows = byDomain(emails).map(([domain, refused]) => [
          domain,
          count(refused.length),
          refused[0]?.error ?? '',
          refused[0] && html`<a href=${linkTo('emails', refused[0].id)}>the last one</a>`,
        ]);
        return html`<${Table}
            caption=${hasMore ? `Of the newest ${LOOKED_AT} that were queued today` : 'Of all that were queued today'}
            columns=${COLUMNS}
            rows=${rows}
            empty="No server has refused an email that was queued today."
          />
          <p><a href=${linkTo('emails', '', { status: 'BOUNCED', since: day })}>All of them</a></p>`;
      }}
    <//>
  </section>`;
}
