import { z } from 'zod';
import { AppError } from '../../shared/pure/app-error.ts';
import { checkSenderDomain } from '../../shared/domain/domains/domain-checks.ts';
import {
  createSenderDomain,
  deleteSenderDomain,
  findSenderDomain,
  listSenderDomains,
  withKey,
} from '../../shared/domain/domains/sender-domains.ts';
import { created, endpointsOf, noContent, ok, type Endpoint } from '../http/endpoint.ts';
import { domainSchema, domainView } from './domain.view.ts';
import { domainNameSchema } from '../../shared/domain/domains/domain-name.ts';

const createDomainBody = z.object({
  domain: domainNameSchema.meta({
    description: 'The domain after the @ of sender addresses',
    examples: ['mail.example.com'],
  }),
  projectId: z.uuid().optional().describe('The project of the key, which is also the default'),
});

const projectIdParams = z.object({
  projectId: z.union([z.uuid(), z.literal('current')]).describe('The project of the key, or `current`'),
});

const endpoint = endpointsOf('Domains', 'DOMAIN_NOT_FOUND');

function assertOwnProject(requestProjectId: string, projectId: string): void {
  if (projectId !== 'current' && projectId.toLowerCase() !== requestProjectId) {
    throw new AppError('RESOURCE_NOT_FOUND', { message: 'Project not found' });
  }
}

const list = endpoint('listDomains', 'GET /domains/project/:projectId', {
  roles: ['marketing', 'read'],
  summary: 'List the sender domains of the project, verified and pending',
  params: projectIdParams,
  malformedIdCode: 'RESOURCE_NOT_FOUND',
  replies: { 200: { description: 'The domains in alphabetical order', schema: z.array(domainSchema) } },
  errors: ['RESOURCE_NOT_FOUND'],
  async handle({ em, project, params, deps: { keyring, config } }) {
    assertOwnProject(project.id, params.projectId);
    const views = [];
    for (const domain of await listSenderDomains(em, project.id)) {
      views.push(domainView(await withKey(em, keyring, domain), config.INBOUND_DOMAIN));
    }
    return ok(views);
  },
});

const create = endpoint('createDomain', 'POST /domains', {
  roles: [],
  summary: 'Add a sender domain',
  description:
    'The answer has the DNS records to set up. They are looked up every five minutes; the domain is verified once the required ones are found.',
  body: createDomainBody,
  replies: { 201: { description: 'The domain, pending', schema: domainSchema } },
  errors: ['CONFLICT', 'RESOURCE_NOT_FOUND'],
  async handle({ em, project, body, deps: { keyring, config } }) {
    if (body.projectId !== undefined) assertOwnProject(project.id, body.projectId);
    const inboundDomain = config.INBOUND_DOMAIN;
    const input = { projectId: project.id, domain: body.domain, returnPath: inboundDomain !== undefined };
    const domain = await createSenderDomain(em, keyring, input);
    return created(domainView(await withKey(em, keyring, domain), inboundDomain));
  },
});

const verify = endpoint('verifyDomain', 'GET /domains/:id/verify', {
  roles: [],
  effect: 'writes',
  summary: 'Check the DNS records of a domain now',
  description:
    'A verified domain falls back to pending when three checks in a row find a required record missing. A check that gets no answer from DNS changes nothing.',
  isRemote: true,
  replies: { 200: { description: 'The domain after the check', schema: domainSchema } },
  async handle({ em, project, params, deps: { resolver, keyring, config } }) {
    const inboundDomain = config.INBOUND_DOMAIN;
    const checks = { resolver, keyring, inboundDomain };
    const check = await checkSenderDomain(em, checks, await findSenderDomain(em, project.id, params.id));
    if (!check) throw new AppError('DOMAIN_NOT_FOUND');
    return ok(domainView(check.domain, inboundDomain));
  },
});

const remove = endpoint('deleteDomain', 'DELETE /domains/:id', {
  roles: [],
  summary: 'Remove a sender domain and its key',
  replies: { 204: { description: 'Removed' } },
  errors: ['CONFLICT'],
  handle: ({ em, project, params }) => noContent(deleteSenderDomain(em, project.id, params.id)),
});

/** The domain endpoints, in the order of the interface document. */
export const domainEndpoints: Endpoint[] = [list, create, verify, remove];
