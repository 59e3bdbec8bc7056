import { z } from 'zod';

/** An email address in an answer. Like every accepted address, it may contain letters beyond ASCII (RFC 6531). */
export const answeredAddress = z.string().meta({ format: 'idn-email', examples: ['ada@example.com'] });
