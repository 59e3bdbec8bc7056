import { withQuery } from '../api.mjs';
import { count, dayBefore, duration, percent } from '../format.mjs';
import { html } from '../html.mjs';
import { Empty, filtersOf, Notice, PageHead, Section } from '../parts/basics.mjs';
import { Bars } from '../parts/figures.mjs';
import { Load } from '../parts/load.mjs';
import { Pill } from '../parts/pill.mjs';
import { Table } from '../parts/table.mjs';

/** @typedef {import('../api-types.ts').Deliverability} Deliverability */
/** @typedef {Deliverability['results'][number]} Result */

/** @type {import('../parts/table.mjs').Column[]} */
const COLUMNS = [
  { label: 'Provider', kind: 'main' },
  { label: 'State', kind: 'pill' },
  { label: 'Source', kind: 'mono', sparse: true },
  { label: 'Accepted', kind: 'num' },
  { label: 'Deferred', kind: 'num', sparse: true },
  { label: 'Refused', kind: 'num', sparse: true },
  { label: 'Complaints', kind: 'num' },
  { label: 'Delivery time', kind: 'num', wide: true, sparse: true },
];
const PERIODS = { 7: '7 days', 90: '90 days' };
const DAYS = 30;

/** @param {number | null} rate */
const rateText = (rate) => (rate === null ? '–' : percent(rate));

/** What a provider has against our mail, and what that did to a warm-up. @param {Result} result */
function troublesOf({ source, provider, signs, warmUpReason }) {
  const at = `${source} ${provider}`;
  const setback = { key: at, sentence: `Warm-up of ${source} at ${provider}: ${warmUpReason}`, isUrgent: false };
  return [
    ...signs.map((sign) => ({ ...sign, key: `${at} ${sign.sign}` })),
    ...(warmUpReason === null ? [] : [setback]),
  ];
}

/** @param {Result} result */
function row({ source, provider, totals, signs }) {
  const state = signs.some(({ isUrgent }) => isUrgent) ? 'FAILING' : 'WARNING';
  return {
    key: `${source ?? ''} ${provider}`,
    cells: [
      provider,
      signs.length > 0 ? html`<${Pill} state=${state} word=${state === 'FAILING' ? 'Urgent' : 'Watch'} />` : '',
      source ?? '',
      count(totals.accepted ?? 0),
      rateText(totals.deferredRate),
      rateText(totals.refusedRate),
      rateText(totals.complaintRate),
      totals.deliverySeconds === null ? '–' : duration(totals.deliverySeconds),
    ],
  };
}

/** @param {Result[]} results @param {number} length how many days, up to today */
function chartOf(results, length) {
  const all = results.flatMap(({ days }) => days);
  const first = all.map(({ date }) => date).sort()[0] ?? '';
  // Nothing is known of the days before, which is not that nothing was sent.
  const days = Array.from({ length }, (_, n) => dayBefore(length - 1 - n)).filter((day) => day >= first);
  /** @param {(keyof Result['totals'])[]} names */
  const sums = (...names) =>
    days.map((day) =>
      all.reduce(
        (sum, each) => (each.date === day ? names.reduce((total, name) => total + (each[name] ?? 0), sum) : sum),
        0,
      ),
    );
  return {
    days,
    series: [
      { label: 'accepted', hue: 'accent', values: sums('accepted') },
      { label: 'deferred', hue: 'quiet', values: sums('deferredSpeed', 'deferredReputation', 'deferredOther') },
      { label: 'refused', hue: 'bad', values: sums('refusedMailbox', 'refusedReputation', 'refusedOther') },
    ],
  };
}

/** What do providers make of our mail? @param {import('../main.mjs').ViewProps} props */
export function DeliverabilityView({ route }) {
  const { values, chips } = filtersOf(route, [
    { name: 'provider', label: 'Provider' },
    { name: 'source', label: 'Source' },
    { name: 'days', label: 'Period', options: PERIODS, any: `${DAYS} days` },
  ]);
  const days = values['days'] ?? '';
  return html`<${PageHead}
      title="Deliverability"
      facts=${html`What providers make of our mail in ${days || DAYS} days (UTC) · <a href="/docs/deliverability">What to do</a>`}
    />
    ${chips}
    <${Load} path=${withQuery('/deliverability', values)} isPage>
      ${(/** @type {Deliverability} */ { results }) => {
        if (results.length === 0)
          return html`<${Empty}
            title="No provider has answered yet"
            text="Each provider that gets mail has a row here: what it accepts, defers and refuses"
            icon="signal"
            guide="deliverability"
          />`;
        const troubles = results.flatMap(troublesOf);
        return html`${
            troubles.length > 0 &&
            html`<${Section} title="Needs attention">
              ${troubles.map(
                ({ key, sentence, isUrgent }) => html`<${Notice} key=${key} isBad=${isUrgent}>${sentence}<//>`,
              )}
            <//>`
          }
          <${Bars} title="Emails by day (UTC)" ...${chartOf(results, Number(days || DAYS))} />
          <${Table} label="What each provider made of our mail" columns=${COLUMNS} rows=${results.map(row)} />`;
      }}
    <//>`;
}
