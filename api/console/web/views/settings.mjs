import { call } from '../api.mjs';
import { Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Facts, PageHead, Section } from '../parts/basics.mjs';
import { KeyText } from '../parts/code.mjs';
import { Field, Form } from '../parts/form.mjs';
import { Load } from '../parts/load.mjs';

/** @typedef {import('../api-types.ts').Project} Project */

const PATH = '/users/@me/projects';
/** @type {Record<string, string>} */
const LANGUAGES = {
  '': 'English, unless one is chosen',
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  it: 'Italiano',
  nl: 'Nederlands',
  pt: 'Português',
  ar: 'العربية',
  he: 'עברית',
  ja: '日本語',
};
const SETTINGS = /** @type {const} */ (['displayName', 'postalAddress', 'logoUrl', 'brandColor', 'language']);

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
    return 'Saved';
  };
  const { displayName, postalAddress, logoUrl, brandColor, language, name } = project;
  return html`<${Form} needs="PATCH /users/@me/projects/:id" save=${save}>
    <${Field} name="displayName" label="Name that recipients see" value=${displayName} placeholder=${name} />
    <${Field}
      name="postalAddress"
      label="Postal address"
      hint="In the footer of marketing email"
      rows=${4}
      value=${postalAddress}
    />
    <${Field}
      name="logoUrl"
      label="Logo"
      hint="The https:// address of a picture"
      inputmode="url"
      spellcheck=${false}
      value=${logoUrl}
    />
    <${Field}
      name="brandColor"
      label="Colour"
      hint="Of buttons and links on the pages for recipients, such as #0f766e"
      spellcheck=${false}
      value=${brandColor}
    />
    <${Field}
      name="language"
      label="Language"
      hint="For recipients whose own is not known"
      options=${LANGUAGES}
      value=${language}
    />
  <//>`;
}

/** What do recipients see of the project? */
export function SettingsView() {
  return html`<${PageHead}
      title="Settings"
      facts="Shown in the footer of marketing email and on the pages for recipients"
    />
    <${Load} path=${PATH} shape="page">
      ${(/** @type {Project[]} */ projects, /** @type {{ reload: () => void }} */ { reload }) =>
        projects.map(
          (project) =>
            html`<div class="split">
              <${SettingsForm} project=${project} onSaved=${reload} />
              <${Section} title="Project">
                <${Facts}
                  rows=${[
                    ['Name', html`<bdi>${project.name}</bdi>`],
                    ['Id', html`<${KeyText} text=${project.id} />`],
                    ['Public key', html`<${KeyText} text=${project.public} what="the public key" />`],
                    ['Changed', html`<${Time} at=${project.updatedAt} isFull />`],
                  ]}
                />
              <//>
            </div>`,
        )}
    <//>`;
}
