import { AppError } from '../../pure/app-error.ts';
import { createWebhookSecret } from '../../platform/webhook/signature.ts';
import type { BrandSettings } from '../../pure/brand.ts';
import type { DoubleOptIn } from '../../pure/double-opt-in.ts';
import type { PublicKeyRules } from '../../pure/public-key-rules.ts';
import type { ClientAddresses, TrackingMode } from '../../pure/project.ts';
import type { ProjectPools, ProjectRule } from '../../pure/traffic-rules.ts';
import { query, sql, type Em } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';
import { generateKey, hashKey } from './keys.ts';
import { ProjectEntity, type Project } from './project.entity.ts';
import { PLAIN_WEBHOOK_SECRETS, type WebhookSecrets } from './webhook-secrets.ts';

export interface ProjectKeys {
  publicKey: string;
  secretKey: string;
}

function generateKeys(keyMark: string | undefined): ProjectKeys {
  return { publicKey: generateKey('track', keyMark), secretKey: generateKey('full', keyMark) };
}

/**
 * Creates a project. Only the return value has the secret key; its hash is stored.
 * @param keyMark the mark in its keys, if the installation has one
 */
export async function createProject(
  em: Em,
  name: string,
  keyMark?: string,
): Promise<{ project: Project; keys: ProjectKeys }> {
  const keys = generateKeys(keyMark);
  const project = em.create(ProjectEntity, {
    name,
    publicKey: keys.publicKey,
    secretKeyHash: hashKey(keys.secretKey),
  });
  await em.flush();
  return { project, keys };
}

/** Loads a project. @throws AppError RESOURCE_NOT_FOUND */
export async function findProject(em: Em, projectId: string): Promise<Project> {
  const project = await em.findOne(ProjectEntity, { id: projectId });
  if (!project) throw new AppError('RESOURCE_NOT_FOUND', { message: 'Project not found' });
  return project;
}

/** All projects, oldest first. */
export async function listProjects(em: Em): Promise<Project[]> {
  return em.find(ProjectEntity, {}, { orderBy: { createdAt: 'asc', id: 'asc' } });
}

/**
 * Replaces the two keys that come with the project; the old ones stop working with the commit. Further keys stay.
 * @param keyMark the mark in the new keys, if the installation has one
 * @throws AppError RESOURCE_NOT_FOUND
 */
export async function rotateProjectKeys(
  em: Em,
  projectId: string,
  keyMark: string | undefined,
): Promise<{ project: Project; keys: ProjectKeys }> {
  const project = await findProject(em, projectId);
  const keys = generateKeys(keyMark);
  project.publicKey = keys.publicKey;
  project.secretKeyHash = hashKey(keys.secretKey);
  await em.flush();
  return { project, keys };
}

export interface ProjectSettings extends BrandSettings {
  disabled?: boolean;
  tracking?: TrackingMode;
  /** How much of a client's address the record of consent keeps. */
  clientAddresses?: ClientAddresses;
  name?: string;
  trackAcceptsSecretKey?: boolean;
  /** What the public key may do; null means everything that it can do. */
  publicKeyRules?: PublicKeyRules | null;
  /** How subscriptions through forms are confirmed; null means the defaults. */
  doubleOptIn?: DoubleOptIn | null;
  /** The throttle in emails a second; 0 means unlimited, null means the instance's default. */
  emailsPerSecond?: number | null;
  /** The pool of sources of each stream of its mail; null means the usual ones. */
  pools?: ProjectPools | null;
  /** Its own traffic rules; null means none. */
  trafficRules?: ProjectRule[] | null;
}

/** The signing key of the project's webhooks. @throws AppError RESOURCE_NOT_FOUND, SealError */
export async function readWebhookSecret(
  em: Em,
  projectId: string,
  secrets: WebhookSecrets = PLAIN_WEBHOOK_SECRETS,
): Promise<string> {
  const [row] = await query(em, sql`select webhook_secret as stored from project where id = ${projectId}`, {
    stored: tables.project.webhookSecret,
  });
  if (!row) throw new AppError('RESOURCE_NOT_FOUND', { message: 'Project not found' });
  return secrets.open(row.stored, projectId);
}

/**
 * Replaces the signing key of the project's webhooks. They are signed with the new key at once.
 * @throws AppError RESOURCE_NOT_FOUND
 */
export async function rotateWebhookSecret(
  em: Em,
  projectId: string,
  secrets: WebhookSecrets = PLAIN_WEBHOOK_SECRETS,
): Promise<string> {
  const secret = createWebhookSecret();
  const stored = secrets.seal(secret, projectId);
  await query(em, sql`update project set webhook_secret = ${stored}, updated_at = now() where id = ${projectId}`);
  return readWebhookSecret(em, projectId, secrets);
}
