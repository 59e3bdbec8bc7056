import { Action, Copy } from '../action.mjs';
import { call } from '../api.mjs';
import { State, Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Load } from '../load.mjs';
import { Table } from '../table.mjs';

/** @typedef {import('../api-types.ts').Domain} Domain */

const COLUMNS = ['Record', 'At the last check', 'Name', 'Value'];

/** @param {Domain['records'][number]} record */
function stateOf({ found, required }) {
  if (found) return 'found';
  return required ? 'missing' : 'not there';
}

/** @param {Domain['records'][number]} record */
function row(record) {
  const { type, name, value, purpose, required } = record;
  return [
    html`${purpose.replaceAll('_', ' ')}, ${type}${required ? '' : html` <span class="quiet">(recommended)</span>`}`,
    html`<${State} state=${stateOf(record)} />`,
    html`<code>${name}</code> <${Copy} text=${name} what=${`the name of the ${purpose} record`} />`,
    html`<code>${value}</code> <${Copy} text=${value} what=${`the value of the ${purpose} record`} />`,
  ];
}

/** @param {Domain} domain */
const readiness = ({ verified, signed }) => Number(verified) + Number(signed);

/** @param {Domain} domain */
function statusOf({ status, verified, signed }) {
  return verified && !signed ? 'trusted, unsigned' : status;
}

/** @param {Domain} domain */
function outcomeOf({ verified, signed }) {
  if (signed) return 'It is verified.';
  return verified
    ? 'A required record is still missing: it may send, but unsigned.'
    : 'A required record is still missing.';
}

/**
 * One domain with the records it needs, and whether each was found.
 * @param {{ domain: Domain, onChange: () => void }} props
 */
function DomainCard({ domain, onChange }) {
  const { id, domain: name, records, lastCheckedAt } = domain;
  const look = async () => {
    const looked = await call('GET', `/domains/${id}/verify`);
    onChange();
    return outcomeOf(looked);
  };
  return html`<section class="card" aria-label=${name}>
    <h2>${name} <${State} state=${statusOf(domain)} /></h2>
    <p>
      Last looked up: <${Time} at=${lastCheckedAt} />${' '}
      <${Action} label="Look now" question=${`The records of ${name} are looked up in DNS now.`} run=${look} />
    </p>
    <${Table}
      caption=${`Records of ${name}`}
      columns=${COLUMNS}
      rows=${records.map(row)}
      empty="It needs no records."
    />
  </section>`;
}

/** The sender domains, first those that are not verified, then those that send unsigned. @param {import('../main.mjs').ViewProps} props */
export function DomainsView({ project }) {
  return html`<h1>Sender domains</h1>
    <${Load} path=${`/domains/project/${project.id}`}>
      ${(/** @type {Domain[]} */ domains, /** @type {any} */ { reload }) => {
        if (domains.length === 0)
          return html`<p class="empty">There is no sender domain yet: POST /domains adds one.</p>`;
        const inOrder = [...domains].sort((left, right) => readiness(left) - readiness(right));
        return inOrder.map((domain) => html`<${DomainCard} key=${domain.id} domain=${domain} onChange=${reload} />`);
      }}
    <//>`;
}
