import { z } from 'zod';
import { lookUpAddresses } from '../../shared/domain/contacts/contact-lookup.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';

const endpoint = endpointsOf('Contacts');

const EMAILS_MAX = 500;

const lookup = endpoint('lookUpContacts', 'POST /contacts/lookup', {
  roles: ['marketing', 'support', 'read'],
  effect: 'reads',
  summary: 'Tell which addresses have a contact',
  body: z.object({ emails: z.array(z.string().max(1_000)).max(EMAILS_MAX) }),
  replies: {
    200: {
      description: 'The addresses as they were sent, in their order',
      schema: z.object({ found: z.array(z.string()), notFound: z.array(z.string()) }),
    },
  },
  handle: async ({ em, project, body }) => ok(await lookUpAddresses(em, project.id, body.emails)),
});

export const lookupEndpoints: Endpoint[] = [lookup];
