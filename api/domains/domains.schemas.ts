import { z } from 'zod';
import { domainNameSchema } from '../../shared/domain/domains/domain-name.ts';

export const createDomainBody = z.object({
  domain: domainNameSchema.meta({
    description: 'The domain after the @ of sender addresses',
    examples: ['mail.example.com'],
  }),
  projectId: z.uuid().optional().describe('The project of the key, which is also the default'),
});

export const projectIdParams = z.object({
  projectId: z.union([z.uuid(), z.literal('current')]).describe('The project of the key, or `current`'),
});
