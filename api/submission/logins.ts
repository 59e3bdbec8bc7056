import { setTimeout as delay } from 'node:timers/promises';
import type { SMTPServerAuthentication, SMTPServerSession } from 'smtp-server';
import { AppError } from '../../shared/pure/app-error.ts';
import type { GuestLimits } from '../../shared/platform/smtp/guest-limits.ts';
import { assertRole } from '../http/admit.ts';
import type { Authenticator, Caller } from '../http/authenticator.ts';
import { refusal } from './refusals.ts';

export interface LoginDeps {
  authenticator: Authenticator;
  limits: GuestLimits;
  /** The pause after a wrong password; each further one of a connection takes longer. */
  wrongKeyMs: number;
}

/** What a session knows beyond the state of the protocol. */
export interface LoggedIn {
  caller: Caller;
  /** The size that the client has announced for its message. */
  announced: number;
  /** Whether the client has declared that its message may have UTF-8 in addresses and header (RFC 6531). */
  isUtf8: boolean;
  recipients: Set<string>;
  /** When the key was asked for that the last message passed with. */
  askedAt: number;
}

/** The logins of sessions. */
export interface Logins {
  /** @throws the refusal of a password that is no key, or that cannot be checked now */
  logIn: (auth: SMTPServerAuthentication, session: SMTPServerSession) => Promise<void>;
  /** @throws the refusal of a session that is not logged in */
  of: (session: SMTPServerSession) => LoggedIn;
  /**
   * Begins a message. Its key is asked for, unless that was done a moment ago: whoever stores the message sees whether the
   * key has ended since.
   * @throws the refusal of a connection that has sent enough, or of a key that may not send now
   */
  beginMessage: (session: SMTPServerSession) => Promise<LoggedIn>;
  end: (session: SMTPServerSession) => void;
}

export const LOG_IN_FIRST = '5.7.0 Log in first, with a secret key of the project as the password';

/** What a key that submits must be allowed to call. */
const SEND = { roles: ['send'], method: 'post', path: '/v1/send' } as const;

const WRONG_KEYS_MAX = 3;
/** Then the client connects again, so that long connections spread over new processes. */
const MESSAGES_PER_CONNECTION = 1_000;
/** Connections of one project that are logged in. */
const CONNECTIONS_PER_PROJECT = 100;
/**
 * How long a connection sends without asking for its key. With a question for each message, a tenth of the CPU time of
 * small messages goes into the questions (`npm run bench -- submission`).
 */
const ASKED_MS = 1_000;
export const NEVER = -Infinity;

interface Session extends LoggedIn {
  key: string;
  messages: number;
  /** The messages that are no requests of the project yet. */
  uncounted: number;
}

/** Creates the logins of the sessions of a process. */
export function createLogins({ authenticator, limits, wrongKeyMs }: LoginDeps): Logins {
  const loggedIn = new Map<string, Session>();
  const wrongKeys = new Map<string, number>();

  /** Finds who has a key. It counts as so many requests of the project. */
  const authenticate = (key: string, requests: number): Promise<Caller> =>
    authenticator.authenticate({ authorization: `Bearer ${key}`, client: undefined, requests }, 'secret', SEND.path);

  /** Whether the next message need not ask. All connections together send no more than the limit leaves. */
  const isAdmitted = ({ askedAt, uncounted, caller: { rate } }: Session): boolean =>
    performance.now() < askedAt + ASKED_MS && uncounted <= (rate?.remaining ?? 0) / CONNECTIONS_PER_PROJECT;

  /** @throws AppError PROJECT_DISABLED, ROLE_REFUSED, RATE_LIMIT_EXCEEDED */
  function assertMaySend(caller: Caller): void {
    const { project, rate } = caller;
    if (project.disabled) throw new AppError('PROJECT_DISABLED');
    assertRole(SEND, caller);
    if (!rate?.isExceeded) return;
    const message = `More than ${rate.limit} messages and requests in this minute`;
    throw new AppError('RATE_LIMIT_EXCEEDED', { message, suggestion: `Try again in ${rate.resetSeconds} seconds` });
  }

  async function refuseKey({ id, remoteAddress }: SMTPServerSession, error: AppError): Promise<never> {
    limits.countRefusal(remoteAddress);
    const count = (wrongKeys.get(id) ?? 0) + 1;
    wrongKeys.set(id, count);
    await delay(count * wrongKeyMs, undefined, { ref: false });
    if (count >= WRONG_KEYS_MAX) throw refusal(421, `4.7.0 ${count} wrong passwords, the connection ends`);
    throw error;
  }

  function find({ id }: SMTPServerSession): Session {
    const session = loggedIn.get(id);
    if (!session) throw refusal(530, LOG_IN_FIRST);
    return session;
  }

  return {
    of: find,
    async logIn({ password }, session) {
      const { id, remoteAddress } = session;
      const key = password ?? '';
      if (!limits.hasProof(remoteAddress) && !limits.mayGuess(remoteAddress)) {
        throw refusal(421, '4.7.0 Too many wrong passwords from your network, try again later');
      }
      const caller = await authenticate(key, 1).catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'INVALID_API_KEY') return refuseKey(session, error);
        throw error;
      });
      const ofProject = [...loggedIn.values()].filter((each) => each.caller.project.id === caller.project.id).length;
      if (ofProject >= CONNECTIONS_PER_PROJECT) {
        throw refusal(421, `4.7.0 The project has ${ofProject} connections, try again when others have ended`);
      }
      limits.prove(remoteAddress, id);
      const empty = { announced: 0, isUtf8: false, recipients: new Set<string>(), messages: 0, uncounted: 0 };
      loggedIn.set(id, { ...empty, key, caller, askedAt: NEVER });
    },
    async beginMessage(session) {
      const known = find(session);
      if (known.messages >= MESSAGES_PER_CONNECTION) {
        throw refusal(421, `4.7.0 ${MESSAGES_PER_CONNECTION} messages went over this connection, open another one`);
      }
      known.messages += 1;
      known.uncounted += 1;
      if (isAdmitted(known)) return known;
      const { key, uncounted } = known;
      Object.assign(known, { uncounted: 0, askedAt: NEVER });
      const askedAt = performance.now();
      known.caller = await authenticate(key, uncounted);
      assertMaySend(known.caller);
      known.askedAt = askedAt;
      return known;
    },
    end({ id }) {
      const { key, uncounted } = loggedIn.get(id) ?? { key: '', uncounted: 0 };
      if (uncounted > 0) authenticate(key, uncounted).catch(() => undefined);
      loggedIn.delete(id);
      wrongKeys.delete(id);
    },
  };
}
