import { Action } from '../action.mjs';
import { call } from '../api.mjs';
import { html } from '../html.mjs';

/** @typedef {import('../api-types.ts').Campaign & { paused?: boolean, pausedAt?: string | null }} Campaign */

/** The state to show: its status, or PAUSED. @param {Campaign} campaign */
export const stateOf = ({ status, paused }) => (paused ? 'PAUSED' : status);

/** The actions that the state of a campaign allows. @param {{ campaign: Campaign, onChange: () => void }} props */
export function CampaignActions({ campaign, onChange }) {
  const { id, name, status, paused } = campaign;
  /** @param {string} verb @param {string} said */
  const run = (verb, said) => async () => {
    await call('POST', `/campaigns/${id}/${verb}`, { body: {} });
    onChange();
    return said;
  };
  const pausePath = `/campaigns/${id}/pause`;
  const resumePath = `/campaigns/${id}/resume`;
  return html`<span class="choices">
    ${
      status === 'SENDING' &&
      !paused &&
      html`<${Action}
        key="pause"
        label="Pause"
        endpoint=${['POST', pausePath]}
        question=${`“${name}” stops at once and keeps its place. What is on its way already still arrives.`}
        run=${run('pause', 'Paused.')}
      />`
    }
    ${
      status === 'SENDING' &&
      paused &&
      html`<${Action}
        key="resume"
        label="Resume"
        endpoint=${['POST', resumePath]}
        question=${`“${name}” goes on with those who have not had it yet.`}
        run=${run('resume', 'It goes on.')}
      />`
    }
    ${
      (status === 'SENDING' || status === 'SCHEDULED') &&
      html`<${Action}
        key="cancel"
        label="Cancel for good"
        kind="danger"
        question=${`“${name}” ends for good. Who has not had it never gets it.`}
        run=${run('cancel', 'Cancelled.')}
      />`
    }
  </span>`;
}
