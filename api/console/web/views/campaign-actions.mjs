import { call, doing } from '../api.mjs';
import { count } from '../format.mjs';
import { html } from '../html.mjs';
import { Action, Menu } from '../parts/dialog.mjs';
import { Field } from '../parts/form.mjs';
import { goTo } from '../route.mjs';

/** @typedef {import('../api-types.ts').Campaign} Campaign */

/** The state to show: its status, or PAUSED. @param {Campaign} campaign */
export const stateOf = ({ status, paused }) => (paused ? 'PAUSED' : status);

/** How many contacts would get it, asked from the API. @param {string} path of the campaign */
async function askForRecipients(path) {
  const { recipients, canBeSent, problems, duration, warmUp } = await call('POST', `${path}/check`, { body: {} });
  const faults = problems.map((/** @type {any} */ { message }) => message).join(' ');
  const takes = duration && !warmUp ? ` It takes at least ${Math.ceil(duration.seconds / 60)} min.` : '';
  return {
    text: `${count(recipients.receiving)} of ${count(recipients.matching)} contacts get it.${takes} ${faults}`,
    isImpossible: !canBeSent,
  };
}

/** The actions that the state of a campaign allows. @param {{ campaign: Campaign, onChange: () => void }} props */
export function CampaignActions({ campaign, onChange }) {
  const { id, name, status, paused, waiting } = campaign;
  const path = `/campaigns/${id}`;
  /** @param {string} verb @param {string} said */
  const run = (verb, said) => doing(['POST', `${path}/${verb}`, {}], said, onChange);
  const duplicate = async () => {
    const copy = await call('POST', `${path}/duplicate`, { body: {} });
    goTo('campaigns', copy.id);
    return 'Duplicated';
  };
  const test = async (/** @type {FormData} */ given) => {
    await call('POST', `${path}/test`, { body: { email: given.get('email') } });
    return `A test is on its way to ${String(given.get('email'))}`;
  };
  const isActive = status === 'SENDING' || status === 'SCHEDULED';
  return html`
    ${status === 'DRAFT' && html`<${Action} needs="POST /campaigns/:id/send" key="send" label="Send now" kind="primary" title=${`Send ${name}`} ask=${() => askForRecipients(path)} run=${run('send', 'It goes out')} />`}
    ${
      status === 'SENDING' &&
      (paused
        ? html`<${Action}
            needs="POST /campaigns/:id/resume"
            key="resume"
            label="Resume"
            kind="primary"
            icon="play"
            title=${`Resume ${name}`}
            text="It goes on with those who have not had it yet."
            run=${run('resume', 'It goes on')}
          />`
        : html`<${Action}
            needs="POST /campaigns/:id/pause"
            key="pause"
            label="Pause"
            icon="pause"
            title=${`Pause ${name}`}
            text="It stops at once and keeps its place. What is on its way already still arrives."
            run=${run('pause', 'Paused')}
          />`)
    }
    ${
      status === 'SENDING' &&
      /complain/.test(waiting?.reason ?? '') &&
      html`<${Action}
        needs="POST /campaigns/:id/continue"
        key="continue"
        label="Continue"
        title=${`Continue ${name}`}
        text="It goes on whatever the rate of complaints is."
        run=${run('continue', 'It goes on')}
      />`
    }
    <${Menu} label="More">
      <${Action} needs="POST /campaigns/:id/test" label="Send a test" title="Send a test" run=${test}
        ><${Field} name="email" label="To" type="email" required
      /><//>
      <${Action}
        needs="POST /campaigns/:id/duplicate"
        label="Duplicate"
        text="Content and audience go into a new draft."
        run=${duplicate}
      />
      ${isActive && html`<${Action} needs="POST /campaigns/:id/cancel" label="Cancel for good" kind="danger" title=${`Cancel ${name}`} text="It ends for good. Who has not had it never gets it." run=${run('cancel', 'Cancelled')} />`}
    <//>
  `;
}

/** Sends a campaign again to those in some states who can really get it. @param {{ campaign: Campaign, states: string[], label: string, onChange: () => void }} props */
export function Resend({ campaign: { id, name }, states, label, onChange }) {
  const ask = async () => {
    const { matching, receiving } = await call('POST', `/campaigns/${id}/resend/check`, { body: { states } });
    const left = matching - receiving;
    const rest =
      left === 0
        ? ''
        : ` The other ${count(left)} unsubscribed, paused, left the topic, were deleted or are suppressed.`;
    return { text: `${count(receiving)} of ${count(matching)} can get it.${rest}`, isImpossible: receiving === 0 };
  };
  const run = async (/** @type {FormData} */ _given, /** @type {string} */ key) => {
    await call('POST', `/campaigns/${id}/resend`, { body: { states }, headers: { 'Idempotency-Key': key } });
    onChange();
    return 'It is being sent again';
  };
  return html`<${Action}
    needs="POST /campaigns/:id/resend"
    key=${states.join()}
    label=${label}
    title=${`Send ${name} again`}
    ask=${ask}
    run=${run}
  />`;
}
