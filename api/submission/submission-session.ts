import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import { AppError } from '../../shared/pure/app-error.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { SubmissionQueue } from '../../shared/domain/emails/submission-queue.ts';
import { readSubmittedMessage } from '../../shared/sending/compose/submitted-message.ts';
import { needsUtf8 } from '../../shared/sending/transport/wire-address.ts';
import type { Load } from '../http/load.ts';
import { recipientAddressSchema, senderAddressSchema } from '../send/sender-address.ts';
import { NEVER, type LoggedIn, type Logins } from './logins.ts';
import { readMessage, type ReadMessage } from './message-reader.ts';
import { refusal } from './refusals.ts';

/** What all sessions share. */
export interface SessionDeps {
  config: Config;
  load: Load;
  logins: Logins;
  queue: SubmissionQueue;
}

/** The commands of a message. Each throws the refusal of its command. */
export interface Sessions {
  beginMessage: (from: SMTPServerAddress, session: SMTPServerSession) => Promise<void>;
  addRecipient: (to: SMTPServerAddress, session: SMTPServerSession) => void;
  /** @param onRead called when the message has been read @returns the text of the reply, once the message is stored */
  takeMessage: (stream: SMTPServerDataStream, session: SMTPServerSession, onRead: () => void) => Promise<string>;
}

const KNOWN = 'This message was accepted before, and is sent once';

/** Stores a message unless it was stored before. @returns the text of the reply */
async function store(
  { caller: { project, key, lookup }, recipients: addresses, isUtf8 }: LoggedIn,
  { raw, isEightBit }: ReadMessage,
  deps: SessionDeps,
): Promise<string> {
  const { config } = deps;
  if (!raw) throw refusal(552, `5.3.4 The message is larger than ${config.MESSAGE_MAX_BYTES} bytes`);
  const read = readSubmittedMessage(raw, config.EMAIL_HEADERS_ALLOWED);
  const sender = senderAddressSchema.safeParse(read.from.address);
  if (!sender.success) {
    const [code, status] = needsUtf8(read.from.address) ? [553, '5.6.7'] : [550, '5.1.7'];
    throw refusal(code, `${status} The address in the From header cannot be used: ${sender.error.issues[0]?.message}`);
  }
  const message = { ...read, from: { ...read.from, address: sender.data } };
  try {
    const by = { keyId: key.id, keyHash: lookup };
    const submission = { ...by, project, message, isEightBit, isUtf8, recipients: [...addresses] };
    return `Accepted as ${await deps.queue(submission)}`;
  } catch (error) {
    if (error instanceof AppError && error.details?.['originalStatusCode']) return KNOWN;
    throw error;
  }
}

/** Creates the commands of the sessions of a process. */
export function createSessions(deps: SessionDeps): Sessions {
  const { config, load, logins } = deps;
  return {
    async beginMessage({ args }, session) {
      const known = await logins.beginMessage(session);
      known.announced = Number((args || {})['SIZE'] ?? 0);
      known.isUtf8 = 'SMTPUTF8' in (args || {});
      known.recipients = new Set();
    },
    addRecipient({ address }, session) {
      const { recipients } = logins.of(session);
      const recipient = recipientAddressSchema.safeParse(address);
      if (!recipient.success) throw refusal(553, `5.1.3 ${recipient.error.issues[0]?.message}`);
      if (recipients.size >= LIMITS.recipients && !recipients.has(recipient.data)) {
        throw refusal(452, `4.5.3 A message has at most ${LIMITS.recipients} recipients, send it again to the others`);
      }
      recipients.add(recipient.data);
    },
    async takeMessage(stream, session, onRead) {
      const known = logins.of(session);
      const message = await readMessage(stream, {
        projectId: known.caller.project.id,
        octets: load.octets,
        bytesMax: config.MESSAGE_MAX_BYTES,
        announced: known.announced,
      });
      onRead();
      const { askedAt } = known;
      // After a refusal the key is asked for before the next message is read.
      known.askedAt = NEVER;
      try {
        const reply = await store(known, message, deps);
        known.askedAt = askedAt;
        return reply;
      } finally {
        message.release();
      }
    },
  };
}
