import { html } from '../html.mjs';
import { PageHead, Section } from '../parts/basics.mjs';
import { EmailList } from './emails.mjs';
import { Standing } from './standing.mjs';

/** One address that may have no contact: whether it may get email, and what became of its emails. @param {import('../main.mjs').ViewProps} props */
export function AddressView({ route: { id } }) {
  return html`<${PageHead} title=${id} />
    <${Standing} address=${id} />
    <${Section} title="Emails"><${EmailList} values=${{ address: id }} /><//>`;
}
