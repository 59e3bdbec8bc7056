import { call, withQuery } from '../api.mjs';
import { count, dayBefore } from '../format.mjs';
import { html } from '../html.mjs';
import { Component } from '../lib/preact.mjs';
import { Empty, PageHead, Section, Skeleton } from '../parts/basics.mjs';
import { Bars, Figure } from '../parts/figures.mjs';
import { List } from '../parts/list.mjs';
import { Load, Trouble } from '../parts/load.mjs';
import { CONTACT_COLUMNS, contactRow } from './contacts.mjs';
import { kindOf } from './segments.mjs';

/** @typedef {import('../api-types.ts').Segment} Segment */

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
    if (!changes) return html`<${Skeleton} shape="page" rows=${4} />`;
    let size = this.props.segment.memberCount;
    const sizes = changes.map(() => 0);
    for (let n = changes.length - 1; n >= 0; n -= 1) {
      sizes[n] = size;
      size -= changes[n] ?? 0;
    }
    return html`<${Bars}
      title=${`Contacts at the end of each day (UTC), ${DAYS} days`}
      days=${this.days}
      series=${[{ label: 'contacts', hue: 'accent', values: sizes }]}
    />`;
  }
}

/** Who is in it? @param {import('../main.mjs').ViewProps} props */
export function SegmentView({ route: { id } }) {
  const path = `/segments/${encodeURIComponent(id)}`;
  return html`<${Load} path=${path} isPage>
    ${(/** @type {Segment} */ segment) => html`
      <${PageHead} title=${segment.name} facts=${kindOf(segment)} />
      ${segment.computeError && html`<p class="notice bad">${segment.computeError.message}</p>`}
      <div class="figures">
        <${Figure}
          label="Contacts"
          value=${count(segment.memberCount)}
          hint=${!segment.trackMembership && 'Its size over time is known once its membership is tracked'}
        />
      </div>
      ${segment.trackMembership && html`<${Growth} segment=${segment} />`}
      <${Section} title="Contacts">
        <${List}
          path=${withQuery(`${path}/contacts`, { pageSize: 50 })}
          label="Contacts of the segment"
          columns=${CONTACT_COLUMNS}
          rows=${(/** @type {any} */ { data }) => data.map(contactRow)}
          empty=${html`<${Empty} title="Nobody is in it" icon="users" guide="guides/segments" />`}
        />
      <//>
    `}
  <//>`;
}
