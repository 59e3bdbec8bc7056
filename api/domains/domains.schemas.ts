import { z } from 'zod';
import { toDomainName } from '../../shared/domain/domains/domain-name.ts';

export const createDomainBody = z.object({
  domain: z
    .string()
    .transform((text, context) => {
      const name = toDomainName(text);
      if (name === undefined) {
        context.addIssue({
          code: 'custom',
          message: 'Not a domain name such as mail.example.com',
          params: { code: 'invalid_string' },
          input: text,
        });
      }
      return name ?? z.NEVER;
    })
    .meta({ description: 'The domain as it stands after the @ of sender addresses', examples: ['mail.example.com'] }),
  projectId: z.uuid().optional().meta({ description: 'The project of the key, which is also the default' }),
});

export const projectIdParams = z.object({ projectId: z.uuid() });
