import { z } from 'zod';

/** An email address in an answer. It may have the letters of RFC 6531, like every address that was accepted. */
export const answeredAddress = z.string().meta({ format: 'idn-email', examples: ['ada@example.com'] });
