import { Copy } from '../action.mjs';
import { call } from '../api.mjs';
import { Time } from '../format.mjs';
import { Form } from '../form.mjs';
import { html } from '../html.mjs';
import { Load } from '../load.mjs';
import { Facts } from '../table.mjs';

/** @typedef {import('../api-types.ts').Project} Project */

const PATH = '/users/@me/projects';
/** @type {Record<NonNullable<Project['language']>, string>} */
const LANGUAGES = {
  ...{ en: 'English', de: 'Deutsch', fr: 'Français', es: 'Español', it: 'Italiano', nl: 'Nederlands' },
  ...{ pt: 'Português', ar: 'العربية', he: 'עברית', ja: '日本語' },
};
const SETTINGS = /** @type {const} */ (['displayName', 'postalAddress', 'logoUrl', 'language']);

/**
 * The settings that differ from those of the project; an empty field removes one.
 * @param {FormData} given
 * @param {Project} project
 */
function changesIn(given, project) {
  const values = SETTINGS.map((name) => [name, String(given.get(name) ?? '').trim() || null]);
  return Object.fromEntries(values.filter(([name, value]) => value !== project[/** @type {'language'} */ (name)]));
}

/** @param {{ project: Project, onSaved: () => void }} props */
function SettingsForm({ project, onSaved }) {
  /** @param {FormData} given */
  const save = async (given) => {
    await call('PATCH', `${PATH}/${project.id}`, { body: changesIn(given, project) });
    onSaved();
    return 'Saved.';
  };
  return html`<${Form} save=${save}>
    <label for="displayName">Name that recipients see</label>
    <input id="displayName" name="displayName" defaultValue=${project.displayName ?? ''} placeholder=${project.name} />
    <label for="postalAddress">Postal address, in the footer of marketing email</label>
    <textarea id="postalAddress" name="postalAddress" rows="4" defaultValue=${project.postalAddress ?? ''}></textarea>
    <label for="logoUrl">Logo, the https:// address of a picture</label>
    <input id="logoUrl" name="logoUrl" inputmode="url" spellcheck="false" defaultValue=${project.logoUrl ?? ''} />
    <label for="language">Language of recipients whose own is not known</label>
    <select id="language" name="language">
      <option value="" selected=${project.language === null}>English, unless one is chosen</option>
      ${Object.entries(LANGUAGES).map(
        ([code, name]) =>
          html`<option value=${code} lang=${code} selected=${project.language === code}>${name}</option>`,
      )}
    </select>
  <//>`;
}

/** What recipients see of the project. */
export function SettingsView() {
  return html`<h1>Settings</h1>
    <p>Shown in the footer of marketing email and on the pages to unsubscribe. An empty field removes a setting.</p>
    <${Load} path=${PATH}>
      ${(/** @type {Project[]} */ projects, /** @type {{ reload: () => void }} */ { reload }) =>
        projects.map(
          (project) =>
            html`<${SettingsForm} project=${project} onSaved=${reload} />
              <h2>The project</h2>
              <${Facts}
                rows=${[
                  ['Name', project.name],
                  ['Id', html`<code>${project.id}</code>`],
                  [
                    'Public key',
                    html`<code>${project.public}</code> <${Copy} text=${project.public} what="the public key" />`,
                  ],
                  ['Changed', html`<${Time} at=${project.updatedAt} />`],
                ]}
              />`,
        )}
    <//>`;
}
