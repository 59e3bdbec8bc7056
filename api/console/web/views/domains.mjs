import { call, doing } from '../api.mjs';
import { Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Empty, PageHead } from '../parts/basics.mjs';
import { Copy } from '../parts/code.mjs';
import { Action, Menu } from '../parts/dialog.mjs';
import { Field } from '../parts/form.mjs';
import { Load } from '../parts/load.mjs';
import { Pill, wordOf } from '../parts/pill.mjs';
import { toast } from '../parts/toast.mjs';

/** @typedef {import('../api-types.ts').Domain} Domain */

/** @param {Domain} domain */
export function domainState({ status, verified, signed }) {
  return verified && !signed ? 'UNSIGNED' : status;
}

/** One DNS record: what it is for, and each value on a line of its own. @param {{ record: Domain['records'][number] }} props */
function Record({ record: { type, name, value, purpose, required, found } }) {
  const what = /^(dkim|dmarc|spf|mx)$/i.test(purpose) ? purpose.toUpperCase() : wordOf(purpose);
  const state = found ? 'FOUND' : required ? 'MISSING' : 'NOT_FOUND';
  return html`<div class="record">
    <p>
      <strong>${what}</strong> <${Pill} state=${state} />${!required && html`<span class="label">recommended</span>`}
    </p>
    <dl class="facts">
      <div>
        <dt>Type</dt>
        <dd><code>${type}</code></dd>
      </div>
      ${[
        ['Name', name],
        ['Value', value],
      ].map(
        ([label = '', text = '']) =>
          html`<div>
            <dt>${label}</dt>
            <dd class="key">
              <code title=${text}>${text}</code>
              <${Copy} text=${text} what=${`the ${label.toLowerCase()} of ${what}`} />
            </dd>
          </div>`,
      )}
    </dl>
  </div>`;
}

/** @param {{ domain: Domain, onChange: () => void }} props */
function DomainPart({ domain, onChange }) {
  const { id, domain: name, records, lastCheckedAt, verified, signed } = domain;
  const check = async () => {
    await call('GET', `/domains/${id}/verify`);
    onChange();
    toast(`${name} was checked`);
  };
  return html`<section aria-label=${name}>
    <div class="section-head">
      <h2>
        ${name} <${Pill} state=${domainState(domain)} word=${verified && !signed ? 'Trusted, unsigned' : undefined} />
      </h2>
      <div class="actions">
        <span class="label"
          >${lastCheckedAt ? html`Checked <${Time} at=${lastCheckedAt} isSentence />` : 'Never checked'}</span
        >
        <button type="button" onClick=${() => void check().catch((error) => toast(error.message))}>Check now</button>
        <${Menu} label=${`More of ${name}`}>
          <${Action}
            needs="DELETE /domains/:id"
            label="Remove"
            kind="danger"
            title=${`Remove ${name}`}
            text="Emails from it are refused from then on, and its key is gone."
            run=${doing(['DELETE', `/domains/${id}`], `${name} was removed`, onChange)}
          />
        <//>
      </div>
    </div>
    ${verified && !signed && html`<p class="notice">It may send, but unsigned: many providers file such mail as spam. Publish the DKIM record.</p>`}
    ${records.map((record) => html`<${Record} key=${record.purpose + record.name + record.value} record=${record} />`)}
  </section>`;
}

/** The sender domains, first those that need a hand. @param {import('../main.mjs').ViewProps} props */
export function DomainsView({ project }) {
  const isGood = (/** @type {Domain} */ domain) => Number(domainState(domain) === 'VERIFIED');
  return html`<${Load} path=${`/domains/project/${project.id}`} isPage>
    ${(/** @type {Domain[]} */ domains, /** @type {any} */ { reload }) => {
      const add = html`<${Action}
        needs="POST /domains"
        label="Add domain"
        kind="primary"
        run=${async (/** @type {FormData} */ given) => {
          await call('POST', '/domains', { body: { domain: given.get('domain') } });
          reload();
          return 'Added: publish its records now';
        }}
      >
        <${Field} name="domain" label="Domain" placeholder="mail.example.com" required />
      <//>`;
      return html`<${PageHead} title="Domains" actions=${domains.length > 0 && add} /> ${
          domains.length === 0
            ? html`<${Empty}
                title="No sender domain yet"
                text="Emails go out from domains whose records show that they are yours"
                icon="globe-alt"
                guide="guides/domains"
                >${add}<//
              >`
            : [...domains]
                .sort((left, right) => isGood(left) - isGood(right))
                .map((domain) => html`<${DomainPart} key=${domain.id} domain=${domain} onChange=${reload} />`)
        }`;
    }}
  <//>`;
}
