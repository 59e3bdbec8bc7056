import { call, withQuery } from '../api.mjs';
import { Chart } from '../chart.mjs';
import { count } from '../format.mjs';
import { html } from '../html.mjs';
import { Component } from '../lib/preact.mjs';
import { Load, Trouble } from '../load.mjs';
import { Pages } from '../pages.mjs';
import { linkTo } from '../route.mjs';
import { Facts, Table } from '../table.mjs';
import { dayBefore } from './today.mjs';

/** @typedef {import('../api-types.ts').Segment} Segment */
/** @typedef {import('../api-types.ts').Contact} Contact */

/** Days that are shown; each is one request. */
const DAYS = 14;

/**
 * The part of the names of its events; the same rule as in shared/pure/events/segment-events.ts.
 * @param {Segment} segment
 */
export function slugOf({ id, name }) {
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return slug === '' ? id : slug;
}

/**
 * The size at the end of each day: the size of today without the entries and exits of the days since.
 * @extends {Component<{ segment: Segment }, { changes?: number[], error?: unknown }>}
 */
class Growth extends Component {
  running = new AbortController();
  days = Array.from({ length: DAYS }, (_, n) => dayBefore(DAYS - 1 - n));

  /** How many more contacts entered than left on a day. @param {string} day */
  async changeOf(day) {
    const slug = slugOf(this.props.segment);
    const path = withQuery('/events/stats', { startDate: day, endDate: day });
    /** @type {{ name: string, count: number }[]} */
    const counts = await call('GET', path, { signal: this.running.signal });
    const of = (/** @type {string} */ end) => counts.find(({ name }) => name === `segment.${slug}.${end}`)?.count ?? 0;
    return of('entry') - of('exit');
  }

  async componentDidMount() {
    try {
      const changes = [];
      for (const day of this.days) changes.push(await this.changeOf(day));
      this.setState({ changes });
    } catch (error) {
      if (!this.running.signal.aborted) this.setState({ error });
    }
  }

  componentWillUnmount() {
    this.running.abort();
  }

  render() {
    const { changes, error } = this.state;
    if (error !== undefined) return html`<${Trouble} error=${error} />`;
    if (!changes) return html`<p class="loading" role="status">Counting ${DAYS} days…</p>`;
    let size = this.props.segment.memberCount;
    const sizes = changes.map(() => 0);
    for (let n = changes.length - 1; n >= 0; n -= 1) {
      sizes[n] = size;
      size -= changes[n] ?? 0;
    }
    return html`<${Chart}
      title=${`Contacts at the end of each day (UTC), ${DAYS} days`}
      days=${this.days}
      lines=${[{ label: 'Contacts', values: sizes }]}
    />`;
  }
}

/** One segment: its size, its growth and its contacts. @param {import('../main.mjs').ViewProps} props */
export function SegmentView({ route: { id } }) {
  const path = `/segments/${encodeURIComponent(id)}`;
  return html`<${Load} path=${path} isPage>
    ${(/** @type {Segment} */ segment) => html`
      <h1>${segment.name}</h1>
      ${segment.computeError && html`<p class="trouble">${segment.computeError.message}</p>`}
      <${Facts}
        rows=${[
          ['Contacts', count(segment.memberCount)],
          ['Kind', `${segment.type.toLowerCase()}${segment.trackMembership ? ', tracked' : ''}`],
        ]}
      />
      ${
        segment.trackMembership
          ? html`<${Growth} segment=${segment} />`
          : html`<p class="empty">Its size over time is known once its membership is tracked.</p>`
      }
      <h2>Who is in it</h2>
      <${Pages} path=${withQuery(`${path}/contacts`, { pageSize: 20 })}>
        ${(/** @type {import('../api-types.ts').OffsetPage<Contact>} */ { data }) => {
          const rows = data.map(({ email, subscribed }) => [
            html`<a href=${linkTo('address', email)}>${email}</a>`,
            subscribed ? 'subscribed' : 'not subscribed',
          ]);
          return html`<${Table}
            caption="Contacts"
            columns=${['Address', 'Subscription']}
            rows=${rows}
            empty="Nobody is in it."
          />`;
        }}
      <//>
    `}
  <//>`;
}
