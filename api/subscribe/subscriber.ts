import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../shared/pure/app-error.ts';
import type { ClientAddresses } from '../../shared/pure/project.ts';
import type { PublicKeyRules } from '../../shared/pure/public-key-rules.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import type { Em } from '../../shared/database/sql.ts';
import { evidenceOf } from '../../shared/domain/consent/records.ts';
import { assertTrustedRedirect } from '../../shared/domain/opt-ins/redirects.ts';
import { subscribe } from '../../shared/domain/opt-ins/subscribe.ts';
import { clientOf } from '../../shared/platform/client-address.ts';
import { createGuests } from '../../shared/platform/guests.ts';
import type { Share } from '../../shared/platform/share.ts';
import type { KeyKind } from '../http/api-key.ts';
import type { FormTokens } from './form-token.ts';
import type { SubscribeBody } from './subscribe.schemas.ts';

/** How long the requests of a project are gathered that are answered together. */
const ANSWER_MS = 250;
/** People take longer to read a form and to write an address. */
const FORM_MS_MIN = 2_000;
const HOUR_MS = 3_600_000;

export interface Subscription {
  project: { id: string; publicKeyRules: PublicKeyRules | null; clientAddresses: ClientAddresses };
  keyKind: KeyKind;
  clientAddress: string | undefined;
  body: SubscribeBody;
}

/**
 * Takes a request of a form, and resolves as late for every address.
 * @throws AppError RATE_LIMIT_EXCEEDED, VALIDATION_ERROR for what the request asks, never for whom
 */
export type Subscriber = (subscription: Subscription) => Promise<void>;

export interface SubscriberDeps {
  em: () => Em;
  /** The connections to PostgreSQL. */
  slots: Pick<Share, 'run'>;
  formTokens: FormTokens;
}

function tooMany(): AppError {
  return new AppError('RATE_LIMIT_EXCEEDED', {
    message: `More than ${LIMITS.subscriptionsPerClientAndHour} subscriptions from this address in an hour`,
    details: { retryAfter: HOUR_MS / 1_000 / LIMITS.subscriptionsPerClientAndHour },
  });
}

/**
 * Creates the function that waits until the requests of a project that came together are done, however they ended. What is
 * known of an address makes a difference of milliseconds, and more while many come. So no answer depends on its own
 * address alone.
 */
function createTogether(): (projectId: string, work: Promise<unknown>) => Promise<unknown> {
  const groups = new Map<string, { works: Promise<unknown>[]; done: Promise<unknown> }>();
  return (projectId, work) => {
    let group = groups.get(projectId);
    if (!group) {
      const works: Promise<unknown>[] = [];
      const done = delay(ANSWER_MS).then(() => {
        groups.delete(projectId);
        return Promise.all(works);
      });
      groups.set(projectId, (group = { works, done }));
    }
    // The caller hears of a refusal, after the wait.
    group.works.push(work.catch(() => undefined));
    return group.done;
  };
}

/** Creates the function that takes requests of forms. Clients with the public key have shares. */
export function createSubscriber({ em, slots, formTokens }: SubscriberDeps): Subscriber {
  const answeredTogether = createTogether();
  const guests = createGuests({ units: LIMITS.subscriptionsPerClientAndHour, refillMs: HOUR_MS });

  /** Whether a program has filled the form, as far as one can tell. */
  function isByMachine({ comment, formToken }: SubscribeBody, projectId: string): boolean {
    if (comment !== undefined && comment !== '') return true;
    return formToken !== undefined && !((formTokens.ageOf(formToken, projectId) ?? 0) >= FORM_MS_MIN);
  }

  return async ({ project, keyKind, clientAddress, body }) => {
    const isPublic = keyKind === 'public';
    const client = isPublic && clientAddress !== undefined ? clientOf(clientAddress) : undefined;
    if (client !== undefined && !guests.spend(client, 1)) throw tooMany();
    const { redirectUrl } = body;
    const work = slots.run(project.id, async () => {
      if (redirectUrl !== undefined) await assertTrustedRedirect(em(), project.id, redirectUrl);
      if (isByMachine(body, project.id)) return;
      const { email, topics, data, language, wording } = body;
      await subscribe(em(), {
        projectId: project.id,
        email,
        topics,
        data,
        language,
        wording,
        mayJoinPrivate: !isPublic,
        rules: project.publicKeyRules,
        evidence: evidenceOf(clientAddress, project.clientAddresses),
      });
    });
    await answeredTogether(project.id, work);
    await work;
  };
}
