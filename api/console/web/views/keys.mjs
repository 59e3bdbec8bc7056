import { Action, Copy } from '../action.mjs';
import { call } from '../api.mjs';
import { Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Component } from '../lib/preact.mjs';
import { Load, Trouble } from '../load.mjs';
import { Table } from '../table.mjs';

/** @typedef {import('../api-types.ts').Key} Key */
/** @typedef {import('../api-types.ts').CreatedKey} CreatedKey */

const PATH = '/keys';
const COLUMNS = ['Name', 'Role', 'Last used', 'Expires', ''];
/** @type {Record<Key['role'], string>} */
const ROLES = {
  send: 'send: single emails, and what became of them',
  marketing: 'marketing: contacts, templates, campaigns, automations',
  support: 'support: reads about people, changes subscriptions',
  read: 'read: changes nothing',
  track: 'track: a public key, for pages and apps',
  full: 'full: everything',
};

/**
 * @extends {Component<{ onCreated: () => void }, { isBusy?: boolean, error?: unknown, created?: CreatedKey }>}
 */
class NewKey extends Component {
  /** @param {SubmitEvent} event */
  submit = async (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    const given = new FormData(form);
    this.setState({ isBusy: true, error: undefined, created: undefined });
    try {
      const created = await call('POST', PATH, { body: { name: given.get('name'), role: given.get('role') } });
      this.setState({ isBusy: false, created });
      form.reset();
      this.props.onCreated();
    } catch (error) {
      this.setState({ isBusy: false, error });
    }
  };

  render() {
    const { isBusy, error, created } = this.state;
    return html`<form class="settings" onSubmit=${this.submit}>
      <h2>A new key</h2>
      <label for="name">Where it is used</label>
      <input id="name" name="name" required maxlength="100" />
      <label for="role">What it may do</label>
      <select id="role" name="role">
        ${Object.entries(ROLES).map(([role, text]) => html`<option value=${role}>${text}</option>`)}
      </select>
      <p><button class="main" type="submit" disabled=${isBusy}>Create</button></p>
      <div role="status">
        ${
          created &&
          html`<p>The key of ${created.name}, shown only now:</p>
            <p><code>${created.key}</code> <${Copy} text=${created.key} what="the new key" /></p>`
        }
      </div>
      ${error !== undefined && html`<${Trouble} error=${error} />`}
    </form>`;
  }
}

/** @param {Key} key @param {() => void} reload */
function row(key, reload) {
  const end = async () => {
    await call('DELETE', `${PATH}/${key.id}`);
    reload();
    return `${key.name} is refused from now on.`;
  };
  const domains = key.senderDomains ? ` (${key.senderDomains.join(', ')})` : '';
  return [
    html`${key.name}${key.isCurrent ? html` <span class="quiet">(this one)</span>` : ''}`,
    `${key.role}${domains}`,
    key.lastUsedAt ? html`<${Time} at=${key.lastUsedAt} />` : 'never',
    key.expiresAt ? html`<${Time} at=${key.expiresAt} />` : 'never',
    html`<${Action}
      label=${`End ${key.name}`}
      kind="danger"
      question=${`Requests with the key ${key.name} (${key.role}) are refused from then on.`}
      run=${end}
    />`,
  ];
}

/** The keys of the project. */
export function KeysView() {
  return html`<h1>Keys</h1>
    <${Load} path=${PATH}>
      ${(/** @type {Key[]} */ keys, /** @type {{ reload: () => void }} */ { reload }) => html`
        <${Table}
          caption="Keys of the project"
          columns=${COLUMNS}
          rows=${keys.map((key) => row(key, reload))}
          empty="There are no keys."
        />
        <${NewKey} onCreated=${reload} />
      `}
    <//>`;
}
