import { LIMITS } from '../../limits.ts';
import { TemplateLimitError } from './errors.ts';

/**
 * What rendering one email has cost: all its parts and headers together. A step is about a tenth of a microsecond.
 * `conversions` are the texts made from HTML so far; emails of one request share them.
 */
export interface RenderMeter {
  steps: number;
  readonly conversions: Map<string, string>;
}

/** A meter at zero. */
export function createRenderMeter(conversions = new Map<string, string>()): RenderMeter {
  return { steps: 0, conversions };
}

/** @throws TemplateLimitError when the email has cost more than it may */
export function spend(meter: RenderMeter, steps: number): void {
  meter.steps += steps;
  if (meter.steps <= LIMITS.renderSteps) return;
  throw new TemplateLimitError(`Rendering the email takes more than ${LIMITS.renderSteps} steps`);
}

/** Laying HTML out takes much longer than printing it; from some length on it is only stripped of its tags. */
function conversionSteps(length: number): number {
  return Math.min(4 * length, 128_000) + Math.ceil(length / 2);
}

/** Converts HTML that stands in a value; the same text is converted once. @throws TemplateLimitError */
export function convertOnce(meter: RenderMeter, html: string, htmlToText: (html: string) => string): string {
  const known = meter.conversions.get(html);
  spend(meter, known === undefined ? conversionSteps(html.length) : 1);
  const text = known ?? htmlToText(html);
  meter.conversions.set(html, text);
  return text;
}
