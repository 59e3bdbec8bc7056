import { z } from 'zod';
import { AppError } from '../../shared/pure/app-error.ts';
import { brandSettingsSchema } from '../../shared/pure/brand.ts';
import { CLIENT_ADDRESSES } from '../../shared/pure/project.ts';
import { doubleOptInSchema } from '../../shared/pure/double-opt-in.ts';
import { publicKeyRulesSchema } from '../../shared/pure/public-key-rules.ts';
import { projectRulesSchema } from '../../shared/pure/traffic-rules.ts';
import { LANGUAGES } from '../../shared/pure/languages/languages.ts';
import type { Project } from '../../shared/domain/projects/project.entity.ts';
import { brandOf } from '../../shared/domain/projects/brand.ts';
import { settingsOf } from '../../shared/domain/opt-ins/opt-in.ts';
import { findProject, rotateProjectKeys } from '../../shared/domain/projects/projects.ts';
import { updateProject } from '../../shared/domain/lifecycle/update-project.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import { ownKeySchema } from '../keys/keys.schemas.ts';
import { model } from '../../shared/pure/model.ts';
import { viewOf } from '../http/view.ts';

const endpoint = endpointsOf('Projects', 'RESOURCE_NOT_FOUND');

const clientAddressesSchema = z
  .enum(CLIENT_ADDRESSES)
  .describe(
    "How much of a client's address the record of consent keeps: all of it, its network (/24 of IPv4, /48 of IPv6), or nothing",
  );

const rotatedKeysSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  public: z.string().meta({ examples: ['pk_…'] }),
  secret: z.string().meta({ examples: ['sk_…'], description: 'Shown here only' }),
  displayName: z.string().nullable(),
  postalAddress: z.string().nullable(),
  logoUrl: z.string().nullable(),
  brandColor: z.string().nullable(),
  language: z.enum(LANGUAGES).nullable(),
  publicKeyRules: publicKeyRulesSchema.nullable(),
  clientAddresses: clientAddressesSchema,
  doubleOptIn: doubleOptInSchema,
  trafficRules: projectRulesSchema.nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

export const projectSchema = rotatedKeysSchema
  .omit({ secret: true })
  .meta({ id: 'Project', description: 'The project of the key' });

const ownProjectSchema = model('OwnProject', 'The project of the key, and the key', {
  ...projectSchema.shape,
  key: ownKeySchema,
});

const projectView = viewOf(projectSchema, (project: Project) => ({
  public: project.publicKey,
  ...brandOf(project),
  doubleOptIn: settingsOf(project.doubleOptIn ?? null),
}));

/** A key knows no project but its own. @throws AppError RESOURCE_NOT_FOUND */
function assertOwn(project: { id: string }, id: string): void {
  if (id !== project.id) throw new AppError('RESOURCE_NOT_FOUND', { message: 'Project not found' });
}

const list = endpoint('listProjects', 'GET /users/@me/projects', {
  roles: ['send', 'marketing', 'support', 'read'],
  summary: 'The project that the key belongs to, and the key',
  replies: { 200: { description: 'A list of one project', schema: z.array(ownProjectSchema) } },
  handle: async ({ em, project, key: { id, name, role } }) =>
    ok([{ ...projectView(await findProject(em, project.id)), key: { id, name, role } }]),
});

const patch = endpoint('updateProject', 'PATCH /users/@me/projects/:id', {
  roles: [],
  summary: 'Change what recipients see of the project, what its public key may do, and what is kept',
  description:
    'Names, address, logo and language are shown in the footer of MARKETING email and on the pages to unsubscribe. `publicKeyRules`, `doubleOptIn` and `trafficRules` are replaced as a whole. null removes a setting.',
  body: brandSettingsSchema.extend({
    publicKeyRules: publicKeyRulesSchema.nullable().optional(),
    clientAddresses: clientAddressesSchema.optional(),
    doubleOptIn: doubleOptInSchema.nullable().optional(),
    trafficRules: projectRulesSchema.nullable().optional(),
  }),
  replies: { 200: { description: 'The project after the change', schema: projectSchema } },
  async handle({ em, project, params, body }) {
    assertOwn(project, params.id);
    return ok(projectView(await updateProject(em, project.id, body)));
  },
});

const regenerateKeys = endpoint('regenerateProjectKeys', 'POST /users/@me/projects/:id/regenerate-keys', {
  roles: [],
  summary: 'Replace the two keys that come with the project; the old ones stop working at once',
  description: 'Keys of `POST /keys` stay as they are.',
  replies: { 200: { description: 'The project with its new keys', schema: rotatedKeysSchema } },
  async handle({ em, project, params, deps: { config } }) {
    assertOwn(project, params.id);
    const { project: rotated, keys } = await rotateProjectKeys(em, project.id, config.KEY_MARK);
    return ok({ ...projectView(rotated), secret: keys.secretKey });
  },
});

export const projectEndpoints: Endpoint[] = [list, patch, regenerateKeys];
