import { html } from '../html.mjs';
import { Table } from '../table.mjs';
import { layOut, NODE } from './graph-layout.mjs';

/** @typedef {import('../api-types.ts').WorkflowDefinition} WorkflowDefinition */
/** @typedef {import('./execution-counts.mjs').Counts} Counts */

const NAME_LENGTH = 24;

/** @param {string} text */
const cut = (text) => (text.length > NAME_LENGTH ? `${text.slice(0, NAME_LENGTH - 1)}…` : text);

/** @param {Record<string, number> | undefined} counts */
const textOf = (counts) =>
  Object.entries(counts ?? {})
    .map(([status, number]) => `${number} ${status.toLowerCase()}`)
    .join(', ');

/** @param {{ node: import('./graph-layout.mjs').PlacedStep, counts?: Record<string, number> }} props */
function Node({ node: { step, x, y }, counts }) {
  return html`<g class=${counts?.['FAILED'] ? 'node failed' : 'node'} transform=${`translate(${x} ${y})`}>
    <rect width=${NODE.width} height=${NODE.height} rx="8" />
    <text x="12" y="22" class="kind">${step.type.toLowerCase().replaceAll('_', ' ')}</text>
    <text x="12" y="43">${cut(step.name)}</text>
    <text x="12" y="63" class="tally">${textOf(counts)}</text>
  </g>`;
}

/** @param {{ edge: import('./graph-layout.mjs').PlacedEdge }} props */
function Edge({ edge: { from, to, branch } }) {
  const middle = (from.y + to.y) / 2;
  return html`<g class="edge">
    <path d=${`M${from.x} ${from.y} C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}`} marker-end="url(#arrow)" />
    ${branch && html`<text x=${(from.x + to.x) / 2 + 6} y=${middle}>${branch}</text>`}
  </g>`;
}

/** The steps as a drawing, and the same as a table. @param {{ workflow: WorkflowDefinition, counts: Counts }} props */
export function Graph({ workflow, counts }) {
  const { nodes, edges, width, height } = layOut(workflow);
  const nameOf = new Map(workflow.steps.map(({ id, name }) => [id, name]));
  const rows = nodes.map(({ step }) => [
    step.name,
    step.type.toLowerCase().replaceAll('_', ' '),
    step.outgoingTransitions
      .map(({ toStepId, branch }) => `${branch ? `${branch}: ` : ''}${nameOf.get(toStepId) ?? ''}`)
      .join(', '),
    textOf(counts.get(step.id)),
  ]);
  return html`
    <div class="graph" role="region" aria-label="The steps, drawn" tabindex="0">
      <svg
        viewBox=${`0 0 ${width} ${height}`}
        width=${width}
        height=${height}
        role="img"
        aria-label="The table below says the same"
      >
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
            <path d="M0 0 L8 4 L0 8 z" />
          </marker>
        </defs>
        ${edges.map((edge) => html`<${Edge} edge=${edge} />`)}
        ${nodes.map((node) => html`<${Node} key=${node.step.id} node=${node} counts=${counts.get(node.step.id)} />`)}
      </svg>
    </div>
    <details>
      <summary>The steps as a table</summary>
      <${Table}
        caption="Steps"
        columns=${['Step', 'Kind', 'Leads to', 'Executions']}
        rows=${rows}
        empty="It has no steps."
      />
    </details>
  `;
}
