import { AppError } from '../../shared/pure/app-error.ts';

export type KeyKind = 'secret' | 'public';

const PREFIXES = { secret: 'sk_', public: 'pk_' } as const;
/** Keys with the mark of any installation (`KEY_MARK`), or without one. */
const KEY_PATTERN = /^(?:sk|pk)_(?:[a-z0-9]{1,8}_)?[0-9a-f]{64}$/;
const BEARER = /^bearer +(\S+)\s*$/i;

function invalidKey(message: string, suggestion: string): AppError {
  return new AppError('INVALID_API_KEY', { message, suggestion });
}

/** The error for a well-formed key that no project has. */
export function unknownKey(): AppError {
  return invalidKey('The API key is not known', 'Check the key; one that was ended or replaced works no longer');
}

/** The error for a key after its end. */
export function expiredKey(expiredAt: Date | null): AppError {
  return invalidKey(
    `The API key expired at ${expiredAt?.toISOString()}`,
    'Use a newer key, or give this one more time',
  );
}

/** The error for a secret key at an endpoint that takes the public one, when the project does not accept that. */
export function publicKeyOnly(path: string): AppError {
  return invalidKey(
    `${path} takes the public key (pk_…) only`,
    'Use the public key here, or call POST /events/track with the secret key',
  );
}

/**
 * Reads the key in an Authorization header. Where the endpoint takes the public key, a secret key is returned, too.
 * @throws AppError INVALID_API_KEY that says what is wrong with it
 */
export function readKey(authorization: string | undefined, keyKind: KeyKind): string {
  if (authorization === undefined || authorization.trim() === '') {
    throw invalidKey('No API key was given', 'Send the header Authorization: Bearer <API_KEY>');
  }
  const match = BEARER.exec(authorization);
  if (!match?.[1]) {
    throw invalidKey('The Authorization header does not use the Bearer scheme', 'Send Authorization: Bearer <API_KEY>');
  }
  const key = match[1];
  const wanted = PREFIXES[keyKind];
  if (!key.startsWith(wanted) && KEY_PATTERN.test(key)) {
    // Some projects accept a secret key there. Which project it is, is not known yet.
    if (keyKind === 'public') return key;
    throw invalidKey(
      'A public key may only call POST /v1/track and POST /v1/subscribe',
      'Use the secret key (sk_…) for this endpoint',
    );
  }
  if (!KEY_PATTERN.test(key)) {
    throw invalidKey(
      'The API key is not valid',
      `A key is ${wanted} followed by 64 hexadecimal digits; a mark may stand between them`,
    );
  }
  return key;
}

/** Whether a well-formed key is a public key. */
export function isPublicKey(key: string): boolean {
  return key.startsWith(PREFIXES.public);
}
