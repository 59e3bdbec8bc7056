import { html } from '../html.mjs';
import { count } from '../format.mjs';
import { wordOf } from '../parts/pill.mjs';
import { linkTo } from '../route.mjs';
import { peopleOnly } from './automations.mjs';
import { layOut, NODE } from './graph-layout.mjs';

/** @typedef {import('../api-types.ts').WorkflowDefinition} WorkflowDefinition */
/** @typedef {import('../api-types.ts').ExecutionCounts} ExecutionCounts */

const NAME_LENGTH = 26;

/** @param {string} text */
const cut = (text) => (text.length > NAME_LENGTH ? `${text.slice(0, NAME_LENGTH - 1)}…` : text);

/** @param {ExecutionCounts['counts']} counts those of one step */
const textOf = (counts) =>
  counts.map(({ status, executions }) => `${count(executions)} ${status.toLowerCase()}`).join(', ');

/** @param {{ node: import('./graph-layout.mjs').PlacedStep, counts: ExecutionCounts['counts'], href: string, isCurrent: boolean }} props */
function Node({ node: { step, x, y }, counts, href, isCurrent }) {
  const hasFailed = counts.some(({ status }) => status === 'FAILED');
  const tally = textOf(counts);
  return html`<a
    href=${href}
    class=${hasFailed ? 'failed' : undefined}
    aria-current=${isCurrent ? 'true' : undefined}
    transform=${`translate(${x} ${y})`}
  >
    <rect width=${NODE.width} height=${NODE.height} rx="10" />
    <text x="12" y="20" class="kind">${wordOf(step.type)}${peopleOnly(step.config)}${' '}</text>
    <text x="12" y="38">${cut(step.name)}${' '}</text>
    <text x="12" y="56" class="kind tally">${tally}</text>
  </a>`;
}

/** @param {{ edge: import('./graph-layout.mjs').PlacedEdge }} props */
function Edge({ edge: { from, to, branch } }) {
  const middle = (from.y + to.y) / 2;
  return html`<g class="edge">
    <path d=${`M${from.x} ${from.y} C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}`} marker-end="url(#arrow)" />
    ${branch && html`<text x=${(from.x + to.x) / 2 + 6} y=${middle}>${branch}</text>`}
  </g>`;
}

/** The steps with the executions at each; a click shows those of a step. @param {{ workflow: WorkflowDefinition, counts: ExecutionCounts, step: string }} props */
export function Graph({ workflow, counts: { counts }, step }) {
  const { nodes, edges, width, height } = layOut(workflow);
  return html`<div class="graph">
    <svg viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height}>
      <defs>
        <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0 L8 4 L0 8 z" />
        </marker>
      </defs>
      ${edges.map((edge) => html`<${Edge} edge=${edge} />`)}
      ${nodes.map((node) => {
        const { id } = node.step;
        const own = counts.filter((one) => one.stepId === id);
        const isCurrent = id === step;
        return html`<${Node}
          key=${id}
          node=${node}
          counts=${own}
          isCurrent=${isCurrent}
          href=${linkTo('automations', workflow.id, isCurrent ? {} : { step: id })}
        />`;
      })}
    </svg>
  </div>`;
}
