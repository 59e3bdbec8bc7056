import { randomBytes, hash } from 'node:crypto';
import { AppError, validationError } from '../../pure/app-error.ts';
import { isPublicRole, type KeyRole } from '../../pure/key-roles.ts';
import { assertRoom } from '../../database/row-limit.ts';
import { query, sql, inTransaction, type Em } from '../../database/sql.ts';
import { KeyEntity, type Key } from './key.entity.ts';

/** What a caller chooses about a key. */
export interface KeySettings {
  name: string;
  /** Only for the role `send`: the only domains that it may send from, in their stored form. */
  senderDomains: string[] | null;
  expiresAt: Date | null;
}

/** SHA-256 of a key, hex: the form in which keys are stored and looked up. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

/**
 * A new key: `pk_` for the public roles or `sk_`, the mark of the installation if it has one, and 64 hex digits (32
 * random bytes).
 */
export function generateKey(role: KeyRole, keyMark: string | undefined): string {
  const mark = keyMark === undefined ? '' : `${keyMark}_`;
  return `${isPublicRole(role) ? 'pk' : 'sk'}_${mark}${randomBytes(32).toString('hex')}`;
}

/** Lets no other change of the project's keys happen until the transaction ends. */
async function lockKeys(tx: Em, projectId: string): Promise<void> {
  await query(tx, sql`select from project where id = ${projectId} for no key update`);
}

/** The settings as they are stored. @throws AppError VALIDATION_ERROR that names the field */
function readSettings<Settings extends Partial<KeySettings>>(role: KeyRole, settings: Settings): Settings {
  const { senderDomains, expiresAt } = settings;
  if (senderDomains && role !== 'send') {
    const message = 'Only a key with the role "send" can be limited to sender domains';
    throw validationError([{ field: 'senderDomains', message, code: 'custom' }]);
  }
  if (expiresAt && expiresAt.getTime() <= Date.now()) {
    throw validationError([{ field: 'expiresAt', message: 'Must be in the future', code: 'too_small' }]);
  }
  return senderDomains ? { ...settings, senderDomains: [...new Set(senderDomains)] } : settings;
}

/** All keys of a project, oldest first, expired ones too. */
export async function listKeys(em: Em, projectId: string): Promise<Key[]> {
  return em.find(KeyEntity, { projectId }, { orderBy: { createdAt: 'asc', role: 'asc', id: 'asc' } });
}

/** Loads a key. @throws AppError RESOURCE_NOT_FOUND */
export async function findKey(em: Em, projectId: string, keyId: string): Promise<Key> {
  const key = await em.findOne(KeyEntity, { id: keyId, projectId });
  if (!key) throw new AppError('RESOURCE_NOT_FOUND', { message: 'The project has no key with this id' });
  return key;
}

/**
 * Creates a key. Only the return value has the key itself.
 * @param keyMark the mark in it, if the installation has one
 * @throws AppError VALIDATION_ERROR that names the field, also beyond the limit
 */
export async function createKey(
  em: Em,
  projectId: string,
  input: KeySettings & { role: KeyRole },
  keyMark: string | undefined,
): Promise<{ key: Key; secret: string }> {
  const settings = readSettings(input.role, input);
  return inTransaction(em, async (tx) => {
    await lockKeys(tx, projectId);
    await assertRoom(tx, projectId, 'api_key');
    const secret = generateKey(input.role, keyMark);
    const key = tx.create(KeyEntity, { ...settings, projectId, keyHash: hashKey(secret) });
    await tx.flush();
    return { key, secret };
  });
}

/** Refuses what would lock the owner out, now or later, because only full keys create keys. */
async function assertOtherFullKey(tx: Em, { id, projectId, role, expiresAt }: Key): Promise<void> {
  if (role !== 'full') return;
  const suffices = [{ expiresAt: null }, ...(expiresAt ? [{ expiresAt: { $gte: expiresAt } }] : [])];
  const others = await tx.count(KeyEntity, { projectId, role, id: { $ne: id }, $or: suffices });
  if (others > 0) return;
  throw new AppError('CONFLICT', {
    message: 'No other key with the role "full" works as long as this one, and only full keys can create keys',
    suggestion: 'Create another full key first',
  });
}

/**
 * Changes what is given of a key. The full key that works longest gets no earlier end.
 * @throws AppError RESOURCE_NOT_FOUND, VALIDATION_ERROR, CONFLICT for that key
 */
export async function updateKey(em: Em, projectId: string, keyId: string, changes: Partial<KeySettings>): Promise<Key> {
  return inTransaction(em, async (tx) => {
    await lockKeys(tx, projectId);
    const key = await findKey(tx, projectId, keyId);
    const settings = readSettings(key.role, changes);
    const { expiresAt } = changes;
    const isSooner = expiresAt && (!key.expiresAt || expiresAt < key.expiresAt);
    if (isSooner) await assertOtherFullKey(tx, key);
    tx.assign(key, settings);
    await tx.flush();
    return key;
  });
}

/**
 * Ends a key: every request from now on is refused.
 * @param mayBeLast whether it may be the full key that works longest: an operator can always create another
 * @throws AppError RESOURCE_NOT_FOUND, CONFLICT for that key
 */
export async function endKey(em: Em, projectId: string, keyId: string, mayBeLast = false): Promise<Key> {
  return inTransaction(em, async (tx) => {
    await lockKeys(tx, projectId);
    const key = await findKey(tx, projectId, keyId);
    if (!mayBeLast) await assertOtherFullKey(tx, key);
    await tx.remove(key).flush();
    return key;
  });
}
