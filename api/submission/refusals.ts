import { isDatabaseUnavailable } from '../../shared/database/database-errors.ts';
import { AppError } from '../../shared/pure/app-error.ts';

/**
 * A reply that refuses a command: its code, and an enhanced status code (RFC 3463) with a sentence. Replies are ASCII
 * (RFC 5321 section 4.2), also where the sentence names a domain in other letters.
 */
export function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text.replaceAll(/[^\x20-\x7e]/g, '?')), { responseCode });
}

/** A reply that this file has made. */
export function isRefusal(error: unknown): error is Error {
  return error instanceof Error && 'responseCode' in error;
}

export const TRY_LATER = '4.3.0 Everpost cannot store messages at the moment, try again later';

function sentenceOf({ message, errors, suggestion }: AppError): string {
  const said = errors?.map((error) => `${error.field}: ${error.message}`).join(', ') ?? message;
  return suggestion === undefined ? said : `${said}. ${suggestion}`;
}

/** The reply to an error of a command; undefined for an error that must be logged, which is answered with `TRY_LATER`. */
export function refusalOf(error: unknown): Error | undefined {
  if (isRefusal(error)) return error;
  if (isDatabaseUnavailable(error)) return refusal(451, TRY_LATER);
  if (!(error instanceof AppError)) return undefined;
  const sentence = sentenceOf(error);
  switch (error.code) {
    case 'INVALID_API_KEY':
      // A password that is empty, or has spaces, is no key in a header either.
      if (error.message.includes('Authorization'))
        return refusal(535, '5.7.8 The password must be a secret key (sk_...)');
      return refusal(535, `5.7.8 ${error.message}: the password is a secret key of the project (sk_...)`);
    case 'PROJECT_DISABLED':
    case 'ROLE_REFUSED':
    case 'SENDER_DOMAIN_REFUSED':
      return refusal(550, `5.7.1 ${sentence}`);
    case 'RATE_LIMIT_EXCEEDED':
      return refusal(451, `4.7.0 ${sentence}`);
    case 'IDEMPOTENCY_KEY_REUSED':
      return refusal(451, '4.3.0 This message is being stored for another connection, try again later');
    default:
      return error.statusCode >= 500 ? refusal(451, TRY_LATER) : refusal(550, `5.6.0 ${sentence}`);
  }
}
