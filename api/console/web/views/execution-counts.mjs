import { call, withQuery } from '../api.mjs';
import { count } from '../format.mjs';
import { html } from '../html.mjs';
import { Component } from '../lib/preact.mjs';
import { Trouble } from '../load.mjs';

/** How many executions are at each step, by state. @typedef {Map<string, Record<string, number>>} Counts */
/** @typedef {import('../api-types.ts').OffsetPage<import('../api-types.ts').Execution>} ExecutionPage */

const STATUSES = ['FAILED', 'RUNNING', 'WAITING'];
/** The largest page of the API. */
const PAGE_SIZE_MAX = 100;

/** @param {ExecutionPage[]} pages one of each state */
function countsOf(pages) {
  /** @type {Counts} */
  const counts = new Map();
  pages.forEach(({ data }, n) => {
    const status = STATUSES[n] ?? '';
    for (const { currentStepId } of data) {
      const ofStep = counts.get(currentStepId ?? '') ?? {};
      ofStep[status] = (ofStep[status] ?? 0) + 1;
      counts.set(currentStepId ?? '', ofStep);
    }
  });
  return counts;
}

/**
 * Counts the executions at each step, among the newest of each state.
 * @extends {Component<{ path: string, children: (counts: Counts) => any }, { pages?: ExecutionPage[], error?: unknown
 *   }>}
 */
export class ExecutionCounts extends Component {
  running = new AbortController();

  async componentDidMount() {
    const { signal } = this.running;
    const paths = STATUSES.map((status) => withQuery(this.props.path, { status, pageSize: PAGE_SIZE_MAX }));
    try {
      this.setState({ pages: await Promise.all(paths.map((path) => call('GET', path, { signal }))) });
    } catch (error) {
      if (!signal.aborted) this.setState({ error });
    }
  }

  componentWillUnmount() {
    this.running.abort();
  }

  render() {
    const { pages, error } = this.state;
    const totals = pages?.map(({ total }, n) => `${count(total)} ${STATUSES[n]?.toLowerCase()}`).join(', ');
    const isPart = pages?.some(({ total }) => total > PAGE_SIZE_MAX);
    return html`
      ${error !== undefined && html`<${Trouble} error=${error} />`}
      ${totals && html`<p>Executions: ${totals}.${isPart && ` The numbers at the steps are of the newest ${PAGE_SIZE_MAX} of each.`}</p>`}
      ${this.props.children(pages ? countsOf(pages) : new Map())}
    `;
  }
}
