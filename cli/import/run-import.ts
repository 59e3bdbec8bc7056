import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { findImportedTopics } from '../../shared/domain/contact-jobs/import-contacts.ts';
import { openImport, partContent, storePart, type OpenImport } from '../../shared/domain/contact-jobs/import-parts.ts';
import { findJob } from '../../shared/domain/jobs/jobs.ts';
import type { ImportFile } from '../../shared/domain/contact-jobs/imported-rows.ts';
import { storableText, type Em } from '../../shared/database/sql.ts';
import { allTopics, createTopic } from '../../shared/domain/topics/topics.ts';
import { AppError, badRequest } from '../../shared/pure/app-error.ts';
import { NAME_LENGTH_MAX } from '../../shared/pure/copy-name.ts';
import type { MovedList } from '../../shared/pure/moving/moved.ts';

const POLL_MS = 200;
const ERRORS_SHOWN = 100;

/** What a command imports. */
export interface ImportPlan {
  /** What it is, for the key of the import: the same source and options have the same key. */
  what: string;
  /** The rows. When `isRepeatable`, they can be read twice: all is read before anything is stored. */
  parts: () => AsyncGenerator<ImportFile>;
  isRepeatable: boolean;
  /** The lists that become topics, by their keys, as far as they are known. */
  lists?: ReadonlyMap<string, MovedList>;
  /** Gives the lists their keys when all are known. */
  orderLists?: () => void;
  keepsLeft: boolean;
  note: (text: string) => void;
}

export interface ImportTotals {
  rows: number;
  createdCount: number;
  updatedCount: number;
  failureCount: number;
  errors: unknown[];
  /** People who are not to be written to, by why. */
  leftCounts: Record<string, number>;
  createdTopics: string[];
}

const noTotals = (): ImportTotals => ({
  rows: 0,
  createdCount: 0,
  updatedCount: 0,
  failureCount: 0,
  errors: [],
  leftCounts: {},
  createdTopics: [],
});

function countRows(totals: ImportTotals, { rows }: ImportFile, { keepsLeft }: ImportPlan): void {
  totals.rows += rows.length;
  for (const row of rows) {
    if (row === null || 'error' in row || row.subscribed !== false) continue;
    // Of somebody of whom another row says why.
    if (keepsLeft && row.hasLeft && !row.left) continue;
    const why = row.left?.because ?? 'notSubscribed';
    totals.leftCounts[why] = (totals.leftCounts[why] ?? 0) + 1;
  }
}

/** Reads everything and stores nothing. @returns what there is; topics that would be created */
export async function checkImport(em: Em, projectId: string, plan: ImportPlan): Promise<ImportTotals> {
  const totals = noTotals();
  for await (const part of plan.parts()) {
    const missing = part.topicKeys.filter((key) => !plan.lists?.has(key));
    if (missing.length > 0) await findImportedTopics(em, projectId, missing);
    countRows(totals, part, plan);
    const refused = part.rows.filter((row) => row === null || 'error' in row);
    totals.failureCount += refused.length;
    totals.errors.push(...refused.slice(0, ERRORS_SHOWN - totals.errors.length));
    plan.note(`${totals.rows.toLocaleString('en')} rows are read`);
  }
  plan.orderLists?.();
  const known = new Set((await allTopics(em, projectId)).map(({ key }) => key));
  totals.createdTopics = [...(plan.lists?.keys() ?? [])].filter((key) => !known.has(key)).sort();
  return totals;
}

/** Creates the topics of lists that are not there. Readers see no two with one name. @returns their keys */
async function createTopics(em: Em, projectId: string, { lists = new Map() }: ImportPlan): Promise<string[]> {
  const topics = await allTopics(em, projectId);
  const [keys, names] = [new Set(topics.map(({ key }) => key)), new Set(topics.map(({ name }) => name))];
  // The key without a hash comes first, and its list keeps its name.
  const missing = [...lists].filter(([key]) => !keys.has(key)).sort(([one], [other]) => (one < other ? -1 : 1));
  for (const [key, list] of missing) {
    const own = storableText(list.name.trim().slice(0, NAME_LENGTH_MAX)) || key;
    let name = own;
    for (let n = 2; names.has(name); n++) name = `${own.slice(0, NAME_LENGTH_MAX - 6)} (${n})`;
    names.add(name);
    const visibility = list.isPublic ? 'public' : 'private';
    const { defaultSubscription } = list;
    await createTopic(em.fork(), projectId, { key, name, defaultSubscription, visibility });
  }
  return missing.map(([key]) => key);
}

/** Waits until the job of a part has ended, and adds its counts. @throws AppError when it failed */
async function settlePart(em: Em, projectId: string, jobId: string, totals: ImportTotals): Promise<void> {
  for (;;) {
    const { state, counts, errors, failedReason } = await findJob(em, projectId, jobId, ['IMPORT']);
    if (state === 'waiting' || state === 'active') {
      await delay(POLL_MS);
      continue;
    }
    for (const name of ['createdCount', 'updatedCount', 'failureCount'] as const) totals[name] += counts[name] ?? 0;
    totals.errors.push(...errors.slice(0, ERRORS_SHOWN - totals.errors.length));
    if (state === 'failed')
      throw badRequest(`The import of a part failed: ${failedReason ?? 'unknown'}. Run the command again`);
    return;
  }
}

/**
 * Imports part after part, so that later rows have precedence. While a part is imported, the next one is read. A part
 * that is stored is imported even if this process ends; the same command later goes on after it.
 */
export async function runImport(
  em: Em,
  projectId: string,
  plan: ImportPlan,
): Promise<ImportTotals & { importId: string }> {
  if (plan.isRepeatable) await checkImport(em, projectId, plan);
  const totals = noTotals();
  const parts = plan.parts();
  let open: (OpenImport & { key: string }) | undefined;
  let jobId: string | undefined;
  for (let next = await parts.next(); !next.done;) {
    const part = next.value;
    next = await parts.next();
    totals.createdTopics.push(...(await createTopics(em, projectId, plan)));
    await findImportedTopics(em, projectId, part.topicKeys);
    const content = partContent(part);
    if (!open) {
      const key = hash('sha256', `${plan.what}\n${hash('sha256', content)}`);
      open = { key, ...(await openImport(em, projectId, key)) };
      if (open.stored.size > 0) plan.note(`Going on with the import ${open.importId}`);
    }
    if (jobId !== undefined) await settlePart(em, projectId, jobId, totals);
    const { key } = open;
    jobId = await storePart(em, projectId, open, {
      key,
      content,
      isLast: next.done ?? false,
      keepsLeft: plan.keepsLeft,
    });
    countRows(totals, part, plan);
    plan.note(`${totals.rows.toLocaleString('en')} rows are stored`);
  }
  if (!open || jobId === undefined) throw new AppError('INTERNAL_SERVER_ERROR');
  await settlePart(em, projectId, jobId, totals);
  return { importId: open.importId, ...totals };
}
