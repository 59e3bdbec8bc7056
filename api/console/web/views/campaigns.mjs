import { withQuery } from '../api.mjs';
import { count, deliveredShare, shareOf } from '../format.mjs';
import { html } from '../html.mjs';
import { Empty, filtersOf, PageHead } from '../parts/basics.mjs';
import { List } from '../parts/list.mjs';
import { linkTo } from '../route.mjs';
import { stateOf } from './campaign-actions.mjs';
import { wordsOf } from './emails.mjs';

/** @typedef {import('../api-types.ts').Campaign} Campaign */

const POLL_SECONDS = 5;
const STATUSES = ['SENDING', 'SCHEDULED', 'DRAFT', 'SENT', 'CANCELLED'];
/** The list compares campaigns: what share of its emails was delivered, opened, clicked. @type {import('../parts/table.mjs').Column[]} */
const COLUMNS = [
  { label: 'Name', kind: 'main' },
  { label: 'State', kind: 'pill' },
  { label: 'Recipients', kind: 'num' },
  { label: 'Delivered', kind: 'num' },
  { label: 'Opened', kind: 'num', wide: true },
  { label: 'Clicked', kind: 'num', wide: true },
  { label: 'Bounced', kind: 'num' },
  { label: 'Created', kind: 'time' },
];

/** @param {Campaign} campaign */
function row(campaign) {
  const { id, name, totalRecipients, sentCount, deliveredCount, bouncedCount, createdAt } = campaign;
  const share = (/** @type {number} */ part) => shareOf(Math.max(0, part), sentCount) ?? '';
  return {
    key: id,
    href: linkTo('campaigns', id),
    cells: [
      name,
      stateOf(campaign),
      totalRecipients > 0 ? count(totalRecipients) : '',
      deliveredShare({ delivered: deliveredCount, bounced: bouncedCount, sent: sentCount }) ??
        (sentCount > 0 ? '–' : ''),
      share(campaign.humanOpenedCount),
      share(campaign.humanClickedCount),
      share(bouncedCount),
      createdAt,
    ],
  };
}

/** Which campaigns are there, and how did they compare? @param {import('../main.mjs').ViewProps} props */
export function CampaignsView({ route }) {
  const filter = { name: 'status', label: 'State', options: wordsOf(STATUSES) };
  const { values, isFiltered, chips } = filtersOf(route, [filter]);
  return html`<${PageHead} title="Campaigns" />
    ${chips}
    <${List}
      path=${withQuery('/campaigns', { ...values, pageSize: 50 })}
      every=${POLL_SECONDS}
      label="Campaigns, newest first"
      columns=${COLUMNS}
      rows=${(/** @type {any} */ { data }) => data.map(row)}
      empty=${
        isFiltered
          ? html`<${Empty} title="No campaign is in this state" icon="megaphone" />`
          : html`<${Empty}
              title="No campaign yet"
              text="A campaign is one email to many contacts"
              icon="megaphone"
              guide="guides/campaigns"
            />`
      }
    />`;
}
