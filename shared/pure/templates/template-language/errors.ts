/** Where and why a template cannot be compiled. Line and column count from 1, columns in UTF-16 units. */
interface TemplateFault {
  message: string;
  line: number;
  column: number;
}

/** The part of a message that has a fault. */
export type MessagePart = 'subject' | 'html' | 'text' | 'preheader';

/**
 * A template that cannot be compiled: an unclosed, mismatched or unknown block. The API turns it into a validation
 * error for one of its fields. `part` is set when a whole message was compiled.
 */
export class TemplateSyntaxError extends Error {
  readonly line: number;
  readonly column: number;
  readonly part: MessagePart | undefined;

  constructor(fault: TemplateFault, part?: MessagePart) {
    super(fault.message);
    this.name = 'TemplateSyntaxError';
    this.line = fault.line;
    this.column = fault.column;
    this.part = part;
  }
}

/** A template, its output or the work of rendering it is beyond a limit. `part` is set when a message was compiled. */
export class TemplateLimitError extends Error {
  readonly part: MessagePart | undefined;

  constructor(message: string, part?: MessagePart) {
    super(message);
    this.name = 'TemplateLimitError';
    this.part = part;
  }
}

/** A syntax error at an offset (UTF-16 units) of the template's source. */
export function syntaxErrorAt(source: string, offset: number, message: string): TemplateSyntaxError {
  let line = 1;
  let lineStart = 0;
  for (let next = source.indexOf('\n'); next !== -1 && next < offset; next = source.indexOf('\n', next + 1)) {
    line += 1;
    lineStart = next + 1;
  }
  return new TemplateSyntaxError({ message, line, column: offset - lineStart + 1 });
}
