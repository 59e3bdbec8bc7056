/** A step that cannot succeed however often it is tried. The message tells people what is wrong. */
export class StepFault extends Error {
  readonly output: Record<string, unknown> | null;

  constructor(message: string, output: Record<string, unknown> | null = null) {
    super(message);
    this.name = 'StepFault';
    this.output = output;
  }
}
