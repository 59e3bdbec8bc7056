import { LIMITS } from '../../limits.ts';
import { syntaxErrorAt, TemplateLimitError } from './errors.ts';
import { parseExpression, type Operand } from './expression.ts';
import type { Steps } from '../../steps.ts';
import { TAGS_PER_STEP, type BlockKind, type Token } from './tokenizer.ts';

/** `{{ … }}`: the first operand that has a value is printed. */
export interface OutputNode {
  type: 'output';
  operands: Operand[];
  isRaw: boolean;
}

export interface BlockNode {
  type: 'block';
  kind: BlockKind;
  operands: Operand[];
  body: TemplateNode[];
  /** The nodes after `{{else}}`. */
  otherwise: TemplateNode[];
}

export type TemplateNode = { type: 'text'; text: string } | OutputNode | BlockNode;

interface OpenBlock {
  node: BlockNode;
  offset: number;
  hasElse: boolean;
}

/**
 * Builds the tree of a template, with pauses. The offsets of the tokens refer to `source`.
 * @throws TemplateSyntaxError for a block that is not closed, closed by another name, nested too deeply, or has two
 * {{else}}
 * @throws TemplateLimitError for more names and texts than a template may hold
 */
export function* parseSteps(
  tokens: readonly Token[],
  source: string,
  { operandsMax = LIMITS.templateOperands }: { operandsMax?: number } = {},
): Steps<TemplateNode[]> {
  const root: TemplateNode[] = [];
  const open: OpenBlock[] = [];
  let target = root;
  let operandCount = 0;
  const read = (expression: string): Operand[] => {
    const operands = parseExpression(expression);
    operandCount += operands.length;
    if (operandCount <= operandsMax) return operands;
    throw new TemplateLimitError(`A template may have at most ${LIMITS.templateOperands} names and texts in its tags`);
  };
  for (const [index, token] of tokens.entries()) {
    if (index % TAGS_PER_STEP === TAGS_PER_STEP - 1) yield 'pause';
    const current = open.at(-1);
    switch (token.type) {
      case 'text':
        target.push(token);
        break;
      case 'output':
        target.push({ type: 'output', operands: read(token.expression), isRaw: token.isRaw });
        break;
      case 'open': {
        if (open.length >= LIMITS.templateBlockDepth) {
          throw syntaxErrorAt(source, token.offset, `Blocks are nested deeper than ${LIMITS.templateBlockDepth}`);
        }
        const node = newBlock(token.kind, read(token.path));
        target.push(node);
        open.push({ node, offset: token.offset, hasElse: false });
        target = node.body;
        break;
      }
      case 'else':
        if (!current) throw syntaxErrorAt(source, token.offset, '{{else}} is outside of a block');
        if (current.hasElse) throw syntaxErrorAt(source, token.offset, `{{#${current.node.kind}}} has two {{else}}`);
        current.hasElse = true;
        target = current.node.otherwise;
        break;
      case 'close': {
        if (!current) throw syntaxErrorAt(source, token.offset, `{{/${token.kind}}} does not close a block`);
        if (current.node.kind !== token.kind) {
          const message = `{{/${token.kind}}} does not match {{#${current.node.kind}}}`;
          throw syntaxErrorAt(source, token.offset, message);
        }
        open.pop();
        const parent = open.at(-1);
        target = parent ? listOf(parent) : root;
        break;
      }
    }
  }
  const unclosed = open.at(-1);
  if (unclosed) throw syntaxErrorAt(source, unclosed.offset, `{{#${unclosed.node.kind}}} is never closed`);
  return root;
}

/** The list to which the next node inside of a block is added. */
function listOf({ node, hasElse }: OpenBlock): TemplateNode[] {
  return hasElse ? node.otherwise : node.body;
}

function newBlock(kind: BlockKind, operands: Operand[]): BlockNode {
  return { type: 'block', kind, operands, body: [], otherwise: [] };
}
