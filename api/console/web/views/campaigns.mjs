import { withQuery } from '../api.mjs';
import { count, State, Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Pages } from '../pages.mjs';
import { linkTo } from '../route.mjs';
import { Table } from '../table.mjs';
import { CampaignActions, stateOf } from './campaign-actions.mjs';

/** @typedef {import('../api-types.ts').Campaign} Campaign */
/** @typedef {import('../api-types.ts').OffsetPage<Campaign>} CampaignPage */

const COLUMNS = ['Name', 'State', 'Recipients', 'Sent', 'Bounced', 'Created', 'Actions'];
const POLL_SECONDS = 10;

/** All campaigns. */
export function CampaignsView() {
  return html`<h1>Campaigns</h1>
    <${Pages} path=${withQuery('/campaigns', { pageSize: 20 })} every=${POLL_SECONDS}>
      ${(/** @type {CampaignPage} */ { data }, /** @type {any} */ { reload }) => {
        const rows = data.map((campaign) => [
          html`<a href=${linkTo('campaigns', campaign.id)}>${campaign.name}</a>`,
          html`<${State} state=${stateOf(campaign)} />`,
          count(campaign.totalRecipients),
          count(campaign.sentCount),
          count(campaign.bouncedCount),
          html`<${Time} at=${campaign.createdAt} />`,
          html`<${CampaignActions} campaign=${campaign} onChange=${reload} />`,
        ]);
        const empty = 'There is no campaign yet: POST /campaigns makes one.';
        return html`<${Table} caption="Campaigns, newest first" columns=${COLUMNS} rows=${rows} empty=${empty} />`;
      }}
    <//>`;
}
