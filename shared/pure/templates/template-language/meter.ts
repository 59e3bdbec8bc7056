import { LIMITS } from '../../limits.ts';
import { TemplateLimitError } from './errors.ts';

/**
 * The cost of rendering one email so far: all its parts and headers together. A step takes about a tenth of a
 * microsecond.
 */
export interface RenderMeter {
  steps: number;
  /** The texts that were made from HTML values, by the HTML. The emails of one request share them. */
  readonly conversions: Map<string, string>;
}

/** A meter without any cost yet. */
export function createRenderMeter(conversions = new Map<string, string>()): RenderMeter {
  return { steps: 0, conversions };
}

/** Adds to the cost. @throws TemplateLimitError when the cost is above `LIMITS.renderSteps` */
export function spend(meter: RenderMeter, steps: number): void {
  meter.steps += steps;
  if (meter.steps <= LIMITS.renderSteps) return;
  throw new TemplateLimitError(`Rendering the email takes more than ${LIMITS.renderSteps} steps`);
}

/** The cost of a conversion. HTML is laid out, which takes long; longer HTML is only stripped of its tags. */
function conversionSteps(length: number): number {
  return Math.min(4 * length, 128_000) + Math.ceil(length / 2);
}

/** Converts HTML into text, the same HTML only once. @throws TemplateLimitError */
export function convertOnce(meter: RenderMeter, html: string, htmlToText: (html: string) => string): string {
  const known = meter.conversions.get(html);
  spend(meter, known === undefined ? conversionSteps(html.length) : 1);
  const text = known ?? htmlToText(html);
  meter.conversions.set(html, text);
  return text;
}
