import { count } from './format.mjs';
import { html } from './html.mjs';
import { Component, createRef } from './lib/preact.mjs';
import { Table } from './table.mjs';

/** The chart library; undefined when the browser cannot run it. Readers have the table then. */
async function library() {
  try {
    return (await import('./lib/uplot.mjs')).default;
  } catch {
    return undefined;
  }
}

/**
 * A chart with a value of each line for each day, and a table of the same values.
 * @typedef {{ title: string, days: string[], lines: { label: string, values: number[] }[] }} ChartProps
 *   days as YYYY-MM-DD
 * @extends {Component<ChartProps>}
 */
export class Chart extends Component {
  container = createRef();
  dark = matchMedia('(prefers-color-scheme: dark)');
  watcher = new ResizeObserver(() => this.fit());
  /** @type {any} */
  plot;

  draw = async () => {
    const UPlot = await library();
    if (!UPlot) return;
    const element = /** @type {HTMLElement | null} */ (this.container.current);
    if (!element) return;
    const { lines } = this.props;
    const style = getComputedStyle(element);
    const colours = ['--accent', '--good', '--bad', '--busy'].map((name) => style.getPropertyValue(name));
    const [ink, grid] = [style.color, style.borderTopColor];
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
    this.plot?.destroy();
    const options = {
      ...this.size(element),
      series: [{}, ...lines.map(({ label }, n) => ({ label, stroke: resolved(element, colours[n] ?? ink), width: 2 }))],
      axes: [axis, { ...axis, size: 60 }],
      scales: {
        y: { range: (/** @type {any} */ _, /** @type {number} */ min, /** @type {number} */ max) => rangeOf(min, max) },
      },
      legend: { live: false },
      tzDate: (/** @type {number} */ seconds) => UPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
      cursor: { drag: { x: false, y: false } },
    };
    this.plot = new UPlot(/** @type {any} */ (options), /** @type {any} */ (this.data()), element);
    this.watcher.observe(element);
  };

  data() {
    const { days, lines } = this.props;
    return [days.map((day) => Date.parse(day) / 1_000), ...lines.map(({ values }) => values)];
  }

  /** @param {HTMLElement} element */
  size(element) {
    return { width: Math.max(240, element.clientWidth), height: 240 };
  }

  fit() {
    const element = /** @type {HTMLElement | null} */ (this.container.current);
    if (element) this.plot?.setSize(this.size(element));
  }

  componentDidMount() {
    this.dark.addEventListener('change', this.draw);
    void this.draw();
  }

  componentDidUpdate() {
    this.plot?.setData(this.data());
  }

  componentWillUnmount() {
    this.dark.removeEventListener('change', this.draw);
    this.watcher.disconnect();
    this.plot?.destroy();
  }

  render() {
    const { title, days, lines } = this.props;
    const rows = days.map((day, n) => [day, ...lines.map(({ values }) => count(values[n] ?? 0))]).reverse();
    return html`<figure class="chart">
      <figcaption>${title}</figcaption>
      <div ref=${this.container} role="img" aria-label=${`${title}; the table below says the same`}></div>
      <details>
        <summary>The figures as a table</summary>
        <${Table}
          caption=${title}
          columns=${['Day', ...lines.map(({ label }) => label)]}
          rows=${rows}
          empty="No day yet."
        />
      </details>
    </figure>`;
  }
}

/**
 * The range of the axis: from zero to above the largest value, so that no line is at the edge.
 * @param {number} min
 * @param {number} max
 */
function rangeOf(min, max) {
  return [Math.min(0, min), Math.max(1, max * 1.1)];
}

/**
 * A colour in a form that a canvas takes, which light-dark() is not.
 * @param {HTMLElement} element
 * @param {string} colour
 */
function resolved(element, colour) {
  const probe = document.createElement('span');
  probe.style.color = colour;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
