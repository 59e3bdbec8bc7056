import { z } from 'zod';

/** An email address in an answer: whatever was taken, with the letters of RFC 6531. */
export const answeredAddress = z.string().meta({ format: 'idn-email', examples: ['ada@example.com'] });
