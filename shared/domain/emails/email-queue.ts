import { AppError } from '../../pure/app-error.ts';
import { createYields } from '../../platform/yielding.ts';
import type { Share } from '../../platform/share.ts';
import { inTransaction, type Em } from '../../database/sql.ts';
import { createProjectWriter, type ProjectWriterDeps } from '../../database/project-writer.ts';
import { keepTracesOf } from '../../durable/outbox/trace-contexts.ts';
import { upsertContactRows, type ContactRow, type UpsertedContact } from '../contacts/contacts.ts';
import { findRefusedSenders } from '../domains/sender-domains.ts';
import {
  claimIdempotencyKeys,
  settleIdempotencyKeys,
  type IdempotencyClaim,
  type OriginalRequest,
  type WantedClaim,
} from '../idempotency/idempotency.ts';
import { withReplyAddress, type ReplyAddressUse } from './reply-addresses.ts';
import { assertScheduledLimit } from './scheduled-emails.ts';
import { storeEmails, storeLargeFiles, type SentEmail, type StoredFile } from './stored-email.ts';

/** A request or a message that brings emails. */
export interface QueueInput {
  projectId: string;
  /** The addresses of its recipients, and what else no other input of a group may have. */
  keys: string[];
  /** About the memory that its emails take. */
  octets: number;
  /** The claim of its idempotency key, which is settled with its emails. */
  claim?: IdempotencyClaim | undefined;
  /** The trace of its request, if it has one. */
  traceParent?: string | undefined;
  /** Whether it shares no statements with others. */
  isAlone: boolean;
  /** A reply address that the project gets with the emails. */
  replyTo?: ReplyAddressUse;
}

/** An input whose content is known. */
export interface Resolved {
  input: QueueInput;
  /** The address in the header From. */
  from: string;
  /** Whether it takes so much memory to compile it that only a few are compiled at a time. */
  isLarge?: boolean;
  compile: () => Promise<Ready>;
}

/** An input that can be stored. */
export interface Ready {
  input: QueueInput;
  /** A key to claim in the transaction that stores the emails; nothing is stored when it is taken. */
  wanted?: WantedClaim | undefined;
  isScheduled?: boolean;
  files: StoredFile[];
  /** Begins to render. The parts are stored one after the other; a repeated transaction begins again. */
  parts: () => Part[];
  /** The index of each email in the answer, in the order of the parts; the same order when it is missing. */
  order?: number[];
}

/** Some recipients of an input. Their data, and their contacts, are in memory at the same time. */
export interface Part {
  /** What is done to the contacts, each once. */
  contacts: ContactRow[];
  /** Renders the emails. @throws AppError when the input is refused */
  render: (tx: Em, contactOf: ReadonlyMap<string, UpsertedContact>) => Promise<Iterable<SizedEmail>>;
}

/** An email, and about the memory that it takes. */
export type SizedEmail = SentEmail & { contactId: string; bytes: number };

export interface QueuedEmail {
  contact: { id: string; email: string };
  emailId: string;
}

/** The emails of an input, or the error that refuses it. */
export type Outcome = QueuedEmail[] | AppError;

/** At 32 inputs the statements are a small part of the costs; more would keep the event loop busy for longer. */
export const INPUTS_MAX = 32;
/** Inputs with more recipients go alone: sharing a few statements would save them little. */
export const RECIPIENTS_MAX = 10;
/** Bytes of rendered emails that one statement stores; a larger email goes alone. */
const BYTES_TOGETHER = 1_048_576;
/** The outcome of an input in a group that turned out to be large. */
const ALONE = new Error('this input is queued alone');

export interface EmailQueueOptions<Input> extends ProjectWriterDeps {
  /** Finds the content of inputs of one project. An error refuses its input. */
  resolve: (em: Em, inputs: Input[]) => Promise<(Resolved | Error)[]>;
  /** Stores a group with fewer statements. @returns undefined when that is not possible now; then nothing is stored */
  storeAtOnce?: (em: Em, inputs: Input[], lockMs: number | undefined) => Promise<Outcome[] | undefined>;
  /** Admits a few large inputs at a time. */
  largeWork?: Share;
  /** See `GatherOptions`. */
  returnMs?: number;
}

export const isReady = (prepared: Ready | Error): prepared is Ready => !(prepared instanceof Error);

/**
 * Creates a queue of emails. Small inputs of a project that arrive together share their statements and a commit, and
 * each has an outcome of its own. One that arrives alone is queued at once, a large one by itself: contacts, files,
 * emails, what delivers them, and the result of its key, all or nothing.
 */
export function createEmailQueue<Input extends QueueInput>(options: EmailQueueOptions<Input>) {
  const { em, slots, resolve, storeAtOnce, largeWork, returnMs } = options;

  async function write(own: Em, inputs: Input[], isGroup: boolean, lockMs?: number): Promise<(Outcome | Error)[]> {
    const found = await resolve(own, inputs);
    const resolved = found.map((each) => (isGroup && !(each instanceof Error) && each.isLarge ? ALONE : each));
    const store = async (): Promise<(Outcome | Error)[]> => {
      const prepared = await prepareInputs(own, inputs[0]?.projectId ?? '', resolved);
      const ready = prepared.filter(isReady);
      const stored = ready.length > 0 ? await inTransaction(own, (tx) => storeTogether(tx, ready, { lockMs })) : [];
      const outcomes = new Map(ready.map((each, index) => [each, stored[index] ?? []]));
      return prepared.map((each) => (isReady(each) ? (outcomes.get(each) ?? []) : each));
    };
    const isLarge = resolved.some((each) => !(each instanceof Error) && each.isLarge);
    return isLarge && largeWork ? largeWork.run(inputs[0]?.projectId ?? '', store) : store();
  }

  const queueInGroup = createProjectWriter<Input, Outcome | Error>({
    em,
    slots,
    itemsMax: INPUTS_MAX,
    parallel: 2,
    returnMs,
    write: async (own, inputs, lockMs) =>
      (await storeAtOnce?.(own, inputs, lockMs)) ?? write(own, inputs, true, lockMs),
    octetsOf: ({ octets }) => octets,
    keysOf: ({ keys }) => keys,
  });

  async function queueAlone(input: Input): Promise<QueuedEmail[]> {
    const store = async (own: Em): Promise<QueuedEmail[]> => {
      const [outcome = []] = await write(own, [input], false);
      if (outcome instanceof Error) throw outcome;
      return outcome;
    };
    return slots.run(input.projectId, () =>
      input.replyTo ? withReplyAddress(em(), input.replyTo, store) : store(em()),
    );
  }

  /** @returns the emails of an input @throws the error that refuses it */
  return async (input: Input): Promise<QueuedEmail[]> => {
    const outcome = input.isAlone ? ALONE : await queueInGroup(input);
    if (outcome === ALONE) return queueAlone(input);
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
}

/** Checks senders, then compiles: a refused input costs no more than the statements. */
export async function prepareInputs(
  em: Em,
  projectId: string,
  inputs: (Resolved | Error)[],
): Promise<(Ready | Error)[]> {
  const senders = inputs.flatMap((each) => (each instanceof Error ? [] : each.from));
  const refused = senders.length > 0 ? await findRefusedSenders(em, projectId, senders) : new Map<string, Error>();
  const yieldIfDue = createYields();
  const prepared: (Ready | Error)[] = [];
  for (const each of inputs) {
    prepared.push(each instanceof Error ? each : (refused.get(each.from) ?? (await attempt(each.compile))));
    await yieldIfDue();
  }
  return prepared;
}

/** The result of some work, or the error that it threw. */
export async function attempt<T>(work: () => T | Promise<T>): Promise<T | Error> {
  try {
    return await work();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

interface StoreOptions {
  lockMs?: number | undefined;
  /** Collects the inputs that are refused; the caller undoes the transaction then. Otherwise the error is thrown. */
  refused?: Map<Ready, AppError>;
}

/** Stores inputs of one project, all or nothing. @returns the emails of each, or why nothing of it was stored */
export async function storeTogether(tx: Em, inputs: Ready[], options: StoreOptions): Promise<Outcome[]> {
  const projectId = inputs[0]?.input.projectId ?? '';
  if (inputs.some(({ isScheduled }) => isScheduled)) await assertScheduledLimit(tx, projectId);
  const reused = await claimKeys(tx, inputs, options.lockMs);
  const free = inputs.filter((each) => !reused.has(each));
  const files = await storeLargeFiles(
    tx,
    free.flatMap((each) => each.files),
  );
  const queued = new Map<Ready, QueuedEmail[]>(free.map((each) => [each, []]));
  const left = free.map((ready) => ({ ready, parts: ready.parts() }));
  for (let next = 0; left.some(({ parts }) => parts.length > next); next++) {
    const parts = left.flatMap(({ ready, parts }) => parts.slice(next, next + 1).map((part) => ({ ready, part })));
    await storeParts(tx, parts, queued, { ...options, projectId, files });
  }
  await settleIdempotencyKeys(
    tx,
    free.flatMap(({ input }) => input.claim ?? []),
    200,
  );
  await keepTracesOf(
    tx,
    free.map((each) => ({
      traceParent: each.input.traceParent,
      subjectIds: (queued.get(each) ?? []).map(({ emailId }) => emailId),
    })),
  );
  return inputs.map((each) => reused.get(each) ?? inOrder(each, queued.get(each) ?? []));
}

/** Claims keys with their results, because both are stored with the work. @returns the inputs whose key is taken */
async function claimKeys(tx: Em, inputs: Ready[], lockMs?: number): Promise<Map<Ready, AppError>> {
  const wanting = inputs.filter(({ wanted }) => wanted);
  if (wanting.length === 0) return new Map();
  const outcomes = await claimIdempotencyKeys(
    tx,
    wanting.flatMap(({ wanted }) => wanted ?? []),
    { lockMs, statusCode: 200 },
  );
  return new Map(
    wanting.flatMap((each, index) => {
      const outcome = outcomes[index];
      return outcome && 'original' in outcome ? [[each, keyTaken(outcome.original)] as const] : [];
    }),
  );
}

function keyTaken({ statusCode }: OriginalRequest): AppError {
  return new AppError('IDEMPOTENCY_KEY_REUSED', { details: { originalStatusCode: statusCode } });
}

function inOrder({ order }: Ready, emails: QueuedEmail[]): QueuedEmail[] {
  if (!order) return emails;
  const sorted: QueuedEmail[] = [];
  for (const [index, email] of emails.entries()) sorted[order[index] ?? index] = email;
  return sorted;
}

/** Writes the contacts, renders the emails and stores them, the first ones with the files, adding them to `queued`. */
async function storeParts(
  tx: Em,
  parts: { ready: Ready; part: Part }[],
  queued: ReadonlyMap<Ready, QueuedEmail[]>,
  { projectId, files, lockMs, refused }: StoreOptions & { projectId: string; files: StoredFile[] },
): Promise<void> {
  const rows = parts.flatMap(({ part }) => part.contacts);
  const contacts = await upsertContactRows(tx, projectId, rows, lockMs);
  const contactOf = new Map(contacts.map((contact) => [contact.email, contact]));
  const yieldIfDue = createYields();
  let rendered: SizedEmail[] = [];
  let bytes = 0;
  async function storeRendered(): Promise<void> {
    if (rendered.length > 0) await storeEmails(tx, projectId, rendered, { files: files.splice(0) });
    rendered = [];
    bytes = 0;
  }
  for (const { ready, part } of parts) {
    try {
      for (const email of await part.render(tx, contactOf)) {
        if (bytes + email.bytes > BYTES_TOGETHER) await storeRendered();
        rendered.push(email);
        bytes += email.bytes;
        queued.get(ready)?.push({ contact: { id: email.contactId, email: email.to.address }, emailId: email.emailId });
        await yieldIfDue();
      }
    } catch (error) {
      if (!refused || !(error instanceof AppError)) throw error;
      refused.set(ready, error);
    }
  }
  await storeRendered();
}
