import { z } from 'zod';

/**
 * An email address in an answer. Like every accepted address, it may contain letters beyond ASCII (RFC 6531), which the
 * format `email` refuses; many validators do not know the format `idn-email`.
 */
export const answeredAddress = z.string().meta({ pattern: '^.+@.+$', examples: ['ada@example.com'] });
