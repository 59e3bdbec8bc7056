import { call, doing } from '../api.mjs';
import { html } from '../html.mjs';
import { Empty, PageHead } from '../parts/basics.mjs';
import { Action } from '../parts/dialog.mjs';
import { Field } from '../parts/form.mjs';
import { List } from '../parts/list.mjs';

/** @typedef {import('../api-types.ts').Topic} Topic */

/** @type {import('../parts/table.mjs').Column[]} */
const COLUMNS = [
  { label: 'Name', kind: 'main' },
  { label: 'Page', kind: 'pill' },
  { label: 'Key', kind: 'mono' },
  { label: 'Who gets it', wide: true },
  { label: '', kind: 'act' },
];
const DEFAULTS = { opt_in: 'Every subscribed contact, until they leave it', opt_out: 'Only those who joined it' };
const VISIBILITIES = { public: 'Yes', private: 'No' };
/** The values of `doubleOptIn`, as the form has them. */
const CONFIRMED = { '': 'As the project says', true: 'Yes', false: 'No' };

/** The fields that can be changed. @param {{ of: string, topic?: Topic }} props */
function Fields({ of, topic }) {
  return html`<${Field} of=${of} name="name" label="Name" required value=${topic?.name} />
    <${Field} of=${of} name="description" label="Description" rows=${2} value=${topic?.description} />
    <${Field}
      of=${of}
      name="visibility"
      label="On the preference page"
      options=${VISIBILITIES}
      value=${topic?.visibility ?? 'public'}
    />
    <${Field}
      of=${of}
      name="doubleOptIn"
      label="Confirmed after a form"
      options=${CONFIRMED}
      value=${String(topic?.doubleOptIn ?? '')}
    />`;
}

/** The body of a request. @param {FormData} given */
function bodyOf(given) {
  const { doubleOptIn = '', description, ...fields } = Object.fromEntries(given);
  return {
    ...fields,
    description: description || null,
    doubleOptIn: doubleOptIn === '' ? null : doubleOptIn === 'true',
  };
}

/** @param {Topic} topic @param {() => void} reload */
function row(topic, reload) {
  const { id, name, key, visibility, defaultSubscription } = topic;
  const save = async (/** @type {FormData} */ given) => {
    await call('PATCH', `/topics/${id}`, { body: bodyOf(given) });
    reload();
    return 'Saved';
  };
  return {
    key: id,
    cells: [
      name,
      visibility,
      key,
      DEFAULTS[defaultSubscription],
      html`<${Action} needs="PATCH /topics/:id" label="Change" title=${`Change ${name}`} run=${save}
          ><${Fields} of=${key} topic=${topic} /><//
        >${' '}
        <${Action}
          needs="DELETE /topics/:id"
          label="Delete"
          kind="danger"
          title=${`Delete ${name}`}
          text="What contacts chose about it is gone; the record of consent stays."
          run=${doing(['DELETE', `/topics/${id}`], 'Deleted', reload)}
        />`,
    ],
  };
}

/** What may contacts join and leave? */
export function TopicsView() {
  const create = async (/** @type {FormData} */ given) => {
    await call('POST', '/topics', { body: bodyOf(given) });
    dispatchEvent(new Event('everpost-reload'));
    return 'Created';
  };
  const add = html`<${Action} needs="POST /topics" label="Create topic" kind="primary" run=${create}>
    <${Field}
      name="key"
      label="Key, which never changes"
      required
      pattern="[a-z0-9][a-z0-9_\\-]{0,62}"
      spellcheck=${false}
    />
    <${Field} name="defaultSubscription" label="Who gets it, which never changes" options=${DEFAULTS} value="opt_in" />
    <${Fields} of="new" />
  <//>`;
  return html`<${PageHead} title="Topics" facts="What contacts may join and leave" actions=${add} />
    <${List}
      path="/topics?pageSize=100&sort=createdAt&dir=asc"
      label="Topics"
      columns=${COLUMNS}
      rows=${(/** @type {any} */ { data }, /** @type {any} */ { reload }) => data.map((/** @type {Topic} */ topic) => row(topic, reload))}
      empty=${html`<${Empty} title="No topic yet" text="With topics, a reader can leave one newsletter and keep another" icon="tag" guide="guides/preferences" />`}
    />`;
}
