/** What a key is for. Each endpoint says which roles may call it. */
export const KEY_ROLES = ['full', 'send', 'marketing', 'support', 'read', 'track'] as const;
export type KeyRole = (typeof KEY_ROLES)[number];

/** The roles that an endpoint names. `full` may call all that takes a secret key, so no endpoint names it. */
export type NamedRole = Exclude<KeyRole, 'full' | 'track'>;

/** Whether a role belongs to a public key (`pk_`). Every other role belongs to a secret key (`sk_`). */
export function isPublicRole(role: KeyRole): boolean {
  return role === 'track';
}
