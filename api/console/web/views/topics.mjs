import { Action } from '../action.mjs';
import { call } from '../api.mjs';
import { Form } from '../form.mjs';
import { html } from '../html.mjs';
import { Load } from '../load.mjs';

/** @typedef {import('../api-types.ts').Topic} Topic */

const DEFAULTS = {
  opt_in: 'every subscribed contact gets it until they leave it',
  opt_out: 'only those who joined it get it',
};
const VISIBILITIES = { public: 'yes', private: 'no' };
/** The values of `doubleOptIn`, as the form has them. */
const CONFIRMED = { '': 'as the project says', true: 'yes', false: 'no' };

/**
 * A field with one of a few values.
 * @param {{ id: string, name: string, label: string, options: Record<string, string>, value: string }} props
 */
function Choice({ id, name, label, options, value }) {
  return html`<label for=${id}>${label}</label>
    <select id=${id} name=${name}>
      ${Object.entries(options).map(
        ([each, text]) => html`<option value=${each} selected=${each === value}>${text}</option>`,
      )}
    </select>`;
}

/**
 * The fields that can be changed.
 * @param {{ of: string, topic?: Topic }} props
 */
function Fields({ of, topic }) {
  const confirmed = { id: `confirmed-${of}`, name: 'doubleOptIn', label: 'Confirmed after a form' };
  return html`<label for=${`name-${of}`}>Name</label>
    <input id=${`name-${of}`} name="name" required defaultValue=${topic?.name ?? ''} />
    <label for=${`description-${of}`}>Description</label>
    <textarea id=${`description-${of}`} name="description" rows="2" defaultValue=${topic?.description ?? ''}></textarea>
    <${Choice}
      id=${`visibility-${of}`}
      name="visibility"
      label="Shown on the preference page"
      options=${VISIBILITIES}
      value=${topic?.visibility ?? 'public'}
    />
    <${Choice} ...${confirmed} options=${CONFIRMED} value=${String(topic?.doubleOptIn ?? '')} />`;
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

/** One topic. @param {{ topic: Topic, onChange: () => void }} props */
function TopicForm({ topic, onChange }) {
  const path = `/topics/${topic.id}`;
  /** @param {FormData} given */
  const save = async (given) => {
    await call('PATCH', path, { body: bodyOf(given) });
    onChange();
    return 'Saved.';
  };
  const remove = async () => {
    await call('DELETE', path);
    onChange();
    return 'Deleted.';
  };
  return html`<section>
    <h2>${topic.name}</h2>
    <p><code>${topic.key}</code>: ${DEFAULTS[topic.defaultSubscription]}</p>
    <${Form} save=${save}><${Fields} of=${topic.key} topic=${topic} /><//>
    <p>
      <${Action}
        label="Delete"
        kind="danger"
        question=${`Delete the topic ${topic.name}, with what contacts chose about it?`}
        run=${remove}
      />
    </p>
  </section>`;
}

/** What contacts may join and leave. */
export function TopicsView() {
  return html`<h1>Topics</h1>
    <${Load} path="/topics?pageSize=100&sort=createdAt&dir=asc">
      ${(/** @type {{ data: Topic[] }} */ { data }, /** @type {{ reload: () => void }} */ { reload }) => {
        /** @param {FormData} given */
        const create = async (given) => {
          await call('POST', '/topics', { body: bodyOf(given) });
          reload();
          return 'Created.';
        };
        return html`${data.length === 0 && html`<p>There is no topic yet.</p>`}
          ${data.map((topic) => html`<${TopicForm} key=${topic.id} topic=${topic} onChange=${reload} />`)}
          <h2>Another topic</h2>
          <${Form} label="Create" clears save=${create}>
            <label for="key">Key, which never changes</label>
            <input id="key" name="key" required pattern="[a-z0-9][a-z0-9_\\-]{0,62}" spellcheck="false" />
            <${Choice}
              id="default"
              name="defaultSubscription"
              label="Who gets it, which never changes"
              options=${DEFAULTS}
              value="opt_in"
            />
            <${Fields} of="new" />
          <//>`;
      }}
    <//>`;
}
