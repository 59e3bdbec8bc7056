import htm from './lib/htm.mjs';
import { h } from './lib/preact.mjs';

/** Builds elements from a template. Every value in it is text or an attribute, never markup. */
export const html = htm.bind(h);
