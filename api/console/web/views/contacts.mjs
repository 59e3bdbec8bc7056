import { call, withQuery } from '../api.mjs';
import { html } from '../html.mjs';
import { Empty, filtersOf, PageHead } from '../parts/basics.mjs';
import { Action } from '../parts/dialog.mjs';
import { Field } from '../parts/form.mjs';
import { List } from '../parts/list.mjs';
import { goTo, linkTo } from '../route.mjs';
import { SubscriptionPill } from './standing.mjs';

/** @typedef {import('../api-types.ts').Contact} Contact */

/** @type {import('../parts/table.mjs').Column[]} */
export const CONTACT_COLUMNS = [
  { label: 'Address', kind: 'main' },
  { label: 'Subscription', kind: 'pill' },
  { label: 'Name' },
  { label: 'Created', kind: 'time' },
];

/** The name that the data of a contact tells. @param {Record<string, unknown>} data */
export function nameOf({ name, firstName, lastName }) {
  return [name ?? firstName, name ? undefined : lastName]
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' ');
}

/** @param {Contact} contact */
export const contactRow = (contact) => ({
  key: contact.id,
  href: linkTo('contacts', contact.id),
  cells: [contact.email, html`<${SubscriptionPill} contact=${contact} />`, nameOf(contact.data), contact.createdAt],
});

/** Who is there? @param {import('../main.mjs').ViewProps} props */
export function ContactsView({ route }) {
  const options = { true: 'Yes', false: 'No' };
  const { values, isFiltered, chips } = filtersOf(route, [
    { name: 'search', label: 'Address or name' },
    { name: 'subscribed', label: 'Subscribed', options },
    { name: 'pending', label: 'Unconfirmed', options },
  ]);
  const create = async (/** @type {FormData} */ given) => {
    const { id } = await call('POST', '/contacts', { body: { email: given.get('email'), subscribed: false } });
    goTo('contacts', id);
    return 'Created, not subscribed';
  };
  return html`<${PageHead}
      title="Contacts"
      actions=${html`<${Action}
        needs="POST /contacts"
        label="New contact"
        text="The contact is not subscribed until somebody asked for it."
        run=${create}
      >
        <${Field} name="email" label="Address" type="email" required />
      <//>`}
    />
    ${chips}
    <${List}
      path=${withQuery('/contacts', { ...values, limit: 50 })}
      label="Contacts, newest first"
      columns=${CONTACT_COLUMNS}
      rows=${(/** @type {any} */ { data }) => data.map(contactRow)}
      empty=${
        isFiltered
          ? html`<${Empty} title="No contact fits" text="Any part of an address or a name is found" icon="users" />`
          : html`<${Empty}
              title="No contact yet"
              text="Contacts come with the first email, event or import"
              icon="users"
              guide="guides/contacts"
            />`
      }
    />`;
}
