import { html } from '../html.mjs';
import { count } from '../format.mjs';

/** A line through values, as high as a line of text. @param {{ values: number[] }} props */
function Sparkline({ values }) {
  const top = Math.max(1, ...values);
  const points = values.map((value, n) => `${(n * 100) / Math.max(1, values.length - 1)},${22 - (20 * value) / top}`);
  return html`<svg class="sparkline" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
    <polyline points=${points.join(' ')} vector-effect="non-scaling-stroke" />
  </svg>`;
}

/**
 * A number with its change since the period before.
 * @param {{ label: string, value: any, delta?: string, isBad?: boolean, hint?: any, values?: number[], href?: string }}
 *   props `hint` is a short text below, `values` are those of the days before
 */
export function Figure({ label, value, delta, isBad = false, hint, values, href }) {
  return html`<div class="figure">
    <p class="label">${href ? html`<a href=${href}>${label}</a>` : label}</p>
    <p class=${isBad ? 'number bad' : 'number'}>${value} ${delta && html`<span class="delta">${delta}</span>`}</p>
    ${hint && html`<p class="label">${hint}</p>`} ${values && html`<${Sparkline} values=${values} />`}
  </div>`;
}

/** Where a rate is between zero and a limit. @param {{ value: number, goal: number, limit: number, label: string }} props */
export function Gauge({ value, goal, limit, label }) {
  const hue = value >= limit ? 'bad' : value >= goal ? 'wait' : 'good';
  const width = `${Math.min(100, (100 * value) / limit)}%`;
  return html`<span class="gauge ${hue}" role="img" aria-label=${label}>
    <i style=${{ width }}></i><b style=${{ left: `${(100 * goal) / limit}%` }}></b>
  </span>`;
}

/**
 * Stacked bars, one a day, and a table of the same values for those who cannot see them.
 * @param {{ title: string, days: string[], series: { label: string, hue: string, values: number[] }[], empty?: string }}
 *   props days as YYYY-MM-DD
 */
export function Bars({ title, days, series, empty = 'Nothing yet' }) {
  const totals = days.map((_, n) => series.reduce((sum, { values }) => sum + (values[n] ?? 0), 0));
  const top = Math.max(1, ...totals);
  const isEmpty = totals.every((total) => total === 0);
  /** @param {number} n */
  const bar = (n) => {
    let y = 100;
    return series.map(({ hue, values }) => {
      const height = (100 * (values[n] ?? 0)) / top;
      y -= height;
      return html`<rect class=${hue} x=${n + 0.12} y=${y} width="0.76" height=${height} />`;
    });
  };
  /** @param {number} n */
  const words = (n) =>
    `${days[n]}: ${series.map(({ label, values }) => `${count(values[n] ?? 0)} ${label}`).join(', ')}`;
  return html`<figure class="chart">
    <figcaption>
      <span>${title}</span>
      <span class="legend">${series.map(({ label, hue }) => html`<span class=${hue}><i></i>${label}</span>`)}</span>
    </figcaption>
    <div class="plot" aria-hidden="true">
      <span class="axis">${isEmpty ? '' : count(top)}</span>
      ${isEmpty && html`<p class="nothing">${empty}</p>`}
      <svg viewBox=${`0 0 ${days.length} 100`} preserveAspectRatio="none">
        ${days.map(
          (day, n) =>
            html`<g key=${day}
              ><rect class="slot" x=${n} y="0" width="1" height="100"><title>${words(n)}</title></rect>${bar(n)}</g
            >`,
        )}
      </svg>
    </div>
    <p class="days" aria-hidden="true"><span>${days[0]}</span><span>${days.at(-1)}</span></p>
    <ul class="hidden">
      ${days.map((day, n) => html`<li key=${day}>${words(n)}</li>`)}
    </ul>
  </figure>`;
}

/**
 * Steps that fewer and fewer reach.
 * @param {{ steps: { label: string, value: number, note?: string }[] }} props
 */
export function Funnel({ steps }) {
  const whole = Math.max(1, steps[0]?.value ?? 1);
  return html`<ol class="funnel">
    ${steps.map(
      ({ label, value, note }) =>
        html`<li key=${label}>
          <span>${label}</span>
          <span class="track"><i style=${{ width: `${Math.min(100, (100 * value) / whole)}%` }}></i></span>
          <strong>${count(value)}</strong><span class="muted">${note}</span>
        </li>`,
    )}
  </ol>`;
}
