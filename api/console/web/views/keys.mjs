import { call, doing } from '../api.mjs';
import { Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Component } from '../lib/preact.mjs';
import { Empty, PageHead } from '../parts/basics.mjs';
import { Action } from '../parts/dialog.mjs';
import { Field } from '../parts/form.mjs';
import { List } from '../parts/list.mjs';
import { linkTo } from '../route.mjs';
import { SecretDialog } from './webhooks.mjs';

/** @typedef {import('../api-types.ts').Key} Key */

const PATH = '/keys';
/** @type {import('../parts/table.mjs').Column[]} */
const COLUMNS = [
  { label: 'Name', kind: 'main' },
  { label: 'Role', kind: 'pill' },
  { label: 'Sends from', wide: true, sparse: true },
  { label: 'Last used', kind: 'time' },
  { label: 'Expires', kind: 'time' },
  { label: '', kind: 'act' },
];
/** @type {Record<Key['role'], string>} */
const ROLES = {
  send: 'Send: single emails, and what became of them',
  marketing: 'Marketing: contacts, templates, campaigns, automations',
  support: 'Support: reads about people, changes subscriptions',
  read: 'Read: changes nothing',
  track: 'Track: a public key, for pages and apps',
  full: 'Full: everything',
};

/** A key leads to what it did. @param {Key} key @param {() => void} reload */
const row = ({ id, name, role, senderDomains, lastUsedAt, expiresAt, isCurrent }, reload) => ({
  key: id,
  href: linkTo('audit', '', { keyId: id }),
  cells: [
    isCurrent ? `${name} (this one)` : name,
    role,
    senderDomains?.join(', ') ?? '',
    lastUsedAt,
    html`<${Time} at=${expiresAt} isSentence />`,
    html`<${Action}
      needs=${isCurrent ? 'DELETE /keys/:id' : 'POST /keys'}
      label="Revoke"
      kind="danger"
      title=${`Revoke ${name}`}
      text=${`Requests with this key (${role}) are refused from then on.`}
      run=${doing(['DELETE', `${PATH}/${id}`], `${name} is revoked`, reload)}
    />`,
  ],
});

/** Who may do what? @extends {Component<{}, { created?: { name: string, key: string } }>} */
export class KeysView extends Component {
  /** @param {FormData} given */
  create = async (given) => {
    const domains = String(given.get('senderDomains'))
      .split(/[\s,]+/)
      .filter(Boolean);
    const day = String(given.get('expires'));
    const created = await call('POST', PATH, {
      body: {
        name: given.get('name'),
        role: given.get('role'),
        senderDomains: domains.length > 0 ? domains : null,
        expiresAt: day === '' ? null : `${day}T00:00:00Z`,
      },
    });
    this.setState({ created });
    dispatchEvent(new Event('everpost-reload'));
    return 'Created';
  };

  render() {
    const { created } = this.state;
    const add = html`<${Action} needs="POST /keys" label="Create key" kind="primary" run=${this.create}>
      <${Field} name="name" label="Where it is used" required maxlength="100" />
      <${Field} name="role" label="What it may do" options=${ROLES} value="send" />
      <${Field}
        name="senderDomains"
        label="Sends only from"
        hint="Domains, separated by commas, for a send key; all, if there is none"
      />
      <${Field}
        name="expires"
        label="Expires"
        type="date"
        hint="Refused from the start of this day on (UTC); never, if there is none"
      />
    <//>`;
    return html`<${PageHead} title="Keys" actions=${add} />
      <${List}
        path=${PATH}
        label="Keys of the project"
        columns=${COLUMNS}
        rows=${(/** @type {Key[]} */ keys, /** @type {any} */ { reload }) => keys.map((key) => row(key, reload))}
        empty=${html`<${Empty} title="No key" icon="key" guide="keys" />`}
      />
      ${created && html`<${SecretDialog} title=${`Key of ${created.name}`} secret=${created.key} onClose=${() => this.setState({ created: undefined })} />`}`;
  }
}
