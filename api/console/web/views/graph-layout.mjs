/** @typedef {import('../api-types.ts').WorkflowDefinition} WorkflowDefinition */
/** @typedef {WorkflowDefinition['steps'][number]} Step */
/** @typedef {{ step: Step, x: number, y: number }} PlacedStep */
/** @typedef {{ from: { x: number, y: number }, to: { x: number, y: number }, branch: string | null }} PlacedEdge */

/** Sizes in the units of the drawing. */
export const NODE = { width: 210, height: 68 };
const GAP = { x: 32, y: 44 };
const MARGIN = 12;

/**
 * The row of each step: below every step that leads to it. The number of rounds is bounded in case there is a loop.
 * @param {WorkflowDefinition} workflow
 */
function rowsOf({ steps, transitions }) {
  const rows = new Map(steps.map(({ id }) => [id, 0]));
  for (let round = 0; round < steps.length; round += 1) {
    let isSettled = true;
    for (const { fromStepId, toStepId } of transitions) {
      const below = (rows.get(fromStepId) ?? 0) + 1;
      if ((rows.get(toStepId) ?? 0) >= below) continue;
      rows.set(toStepId, below);
      isSettled = false;
    }
    if (isSettled) break;
  }
  return rows;
}

/** Places the steps in rows, from the trigger downwards. @param {WorkflowDefinition} workflow */
export function layOut(workflow) {
  const rowOf = rowsOf(workflow);
  /** @type {Step[][]} */
  const rows = [];
  for (const step of workflow.steps) (rows[rowOf.get(step.id) ?? 0] ??= []).push(step);
  const filled = rows.filter((row) => row !== undefined);
  const widest = Math.max(1, ...filled.map((row) => row.length));
  const lengthOf = (/** @type {number} */ number) => number * NODE.width + (number - 1) * GAP.x;
  const width = lengthOf(widest) + 2 * MARGIN;
  const nodes = filled.flatMap((row, n) => {
    const left = (width - lengthOf(row.length)) / 2;
    const y = MARGIN + n * (NODE.height + GAP.y);
    return row.map((step, column) => ({ step, x: left + column * (NODE.width + GAP.x), y }));
  });
  const nodeOf = new Map(nodes.map((node) => [node.step.id, node]));
  const edges = workflow.transitions.flatMap(({ fromStepId, toStepId, branch }) => {
    const [from, to] = [nodeOf.get(fromStepId), nodeOf.get(toStepId)];
    if (!from || !to) return [];
    const middle = NODE.width / 2;
    return [{ from: { x: from.x + middle, y: from.y + NODE.height }, to: { x: to.x + middle, y: to.y }, branch }];
  });
  return { nodes, edges, width, height: 2 * MARGIN + filled.length * (NODE.height + GAP.y) - GAP.y };
}
