import { call } from '../api.mjs';
import { count, Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Component } from '../lib/preact.mjs';
import { Facts, PageHead, Skeleton } from '../parts/basics.mjs';
import { Code } from '../parts/code.mjs';
import { Action } from '../parts/dialog.mjs';
import { Field } from '../parts/form.mjs';
import { Frame } from '../parts/frame.mjs';
import { Load, Trouble } from '../parts/load.mjs';
import { Pill, wordOf } from '../parts/pill.mjs';
import { goTo, linkTo } from '../route.mjs';

/** @typedef {import('../api-types.ts').Template} Template */

const PAUSE_MS = 300;

/** The names of its placeholders, for data to fill in. @param {Template} template */
function placeholdersOf({ subject, body }) {
  const found = [...`${subject} ${body}`.matchAll(/\{\{\{?\s*([a-z]\w*)/gi)].map(([, name]) => name ?? '');
  return [...new Set(found)].filter((name) => !/Url$|^(if|else|each|end|email)$/.test(name)).slice(0, 20);
}

/** @param {string} text */
function dataOf(text) {
  return text.trim() === '' ? {} : JSON.parse(text);
}

/**
 * The email as it would be with the data that is typed, and a test of it.
 * @extends {Component<{ template: Template }, { data: string, shown?: any, error?: unknown }>}
 */
class Preview extends Component {
  /** @type {number | undefined} */
  timer;
  state = {
    data: JSON.stringify(Object.fromEntries(placeholdersOf(this.props.template).map((name) => [name, name])), null, 2),
    shown: /** @type {any} */ (undefined),
    error: /** @type {unknown} */ (undefined),
  };

  componentDidMount() {
    void this.render_();
  }

  componentWillUnmount() {
    clearTimeout(this.timer);
  }

  render_ = async () => {
    try {
      const shown = await call('POST', `/templates/${this.props.template.id}/preview`, {
        body: { data: dataOf(this.state.data) },
      });
      this.setState({ shown, error: undefined });
    } catch (error) {
      this.setState({ error });
    }
  };

  /** @param {any} event */
  type = ({ currentTarget: { value } }) => {
    this.setState({ data: value });
    clearTimeout(this.timer);
    this.timer = window.setTimeout(this.render_, PAUSE_MS);
  };

  /** @param {FormData} given @param {string} key */
  send = async (given, key) => {
    const data = Object.entries(dataOf(this.state.data)).map(([name, value]) => [name, { value, persistent: false }]);
    const body = { to: given.get('to'), template: this.props.template.id, data: Object.fromEntries(data) };
    const { emails } = await call('POST', '/v1/send', { body, headers: { 'Idempotency-Key': key } });
    goTo('emails', emails[0].email);
    return 'The test is on its way';
  };

  render() {
    const { data, shown, error } = this.state;
    return html`<div class="split">
      <div>
        ${error !== undefined && html`<${Trouble} error=${error} />`}
        ${
          shown
            ? html`<p class="line">
                  <strong><bdi>${shown.subject}</bdi></strong>
                </p>
                <${Frame} content=${shown.html} label="The email" />
                <details class="line">
                  <summary>Text part</summary>
                  <${Code} label="Text" samples=${{ 'text/plain': shown.text }} wraps />
                </details>`
            : error === undefined && html`<${Skeleton} shape="page" />`
        }
      </div>
      <aside aria-label="Data">
        <div class="field">
          <label for="data">Data, as JSON</label>
          <textarea id="data" rows="10" spellcheck="false" value=${data} onInput=${this.type}></textarea>
        </div>
        <p class="line">
          <${Action}
            needs="POST /v1/send"
            label="Send a test"
            kind="primary"
            title="Send a test"
            text="It is sent with the data that is shown."
            run=${this.send}
          >
            <${Field} name="to" label="To" type="email" required />
          <//>
        </p>
      </aside>
    </div>`;
  }
}

/** How does it look, and where is it used? @param {import('../main.mjs').ViewProps} props */
export function TemplateView({ route: { id } }) {
  const path = `/templates/${encodeURIComponent(id)}`;
  return html`<${Load} path=${path} isPage>
    ${(/** @type {Template} */ template) => html`
      <${PageHead}
        title=${template.name}
        pill=${html`<${Pill} state=${template.type} word=${wordOf(template.type)} />`}
        facts=${html`<bdi>${template.subject}</bdi> · from ${template.from} · changed <${Time} at=${template.updatedAt} isSentence />`}
        actions=${html`<a class="button" href=${linkTo('emails', '', { templateId: id })}>Emails</a>`}
      />
      <${Preview} template=${template} />
      <${Load} path=${`${path}/usage`} rows=${1}>
        ${(/** @type {any} */ { workflowSteps, emailsSent }) =>
          html`<section aria-label="Use">
            <${Facts}
              rows=${[
                ['Emails', count(emailsSent)],
                [
                  'Used in',
                  workflowSteps.length > 0 &&
                    workflowSteps.map(
                      (/** @type {any} */ { workflowId, workflowName, name }) =>
                        html`<a href=${linkTo('automations', workflowId)}><bdi>${workflowName ?? name}</bdi></a> `,
                    ),
                ],
              ]}
            />
          </section>`}
      <//>
    `}
  <//>`;
}
