import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { appendFile, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { simpleParser } from 'mailparser';

/** One message as the list shows it; the message itself is a file. */
export interface MailSummary {
  id: string;
  /** ISO 8601, UTC. */
  receivedAt: string;
  /** Envelope as the SMTP client gave it (RFC 5321). */
  envelope: { from: string; to: string[] };
  /** Header fields as text (RFC 5322), empty when absent. */
  from: string;
  to: string;
  subject: string;
  bytes: number;
}

/** Opens the folder of a mailbox. It keeps at most `messagesMax` messages, and deletes the oldest beyond that. */
export function openMailboxStore(folder: string, messagesMax: number) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const indexFile = path.join(folder, 'index.jsonl');
  const kept = readIndex(indexFile).slice(-messagesMax);
  // Rewritten at each start, so that lines of deleted messages do not pile up.
  writeFileSync(`${indexFile}.new`, kept.map((summary) => `${JSON.stringify(summary)}\n`).join(''), { mode: 0o600 });
  renameSync(`${indexFile}.new`, indexFile);

  const messages = new Map(kept.map((summary) => [summary.id, summary]));
  const fileOf = (id: string): string => path.join(folder, `${id}.eml`);
  let sequence = 0;

  return {
    /** Resolves when the message is on disk; only then may the SMTP client be told that it was accepted. */
    async add(envelope: MailSummary['envelope'], source: Buffer): Promise<MailSummary> {
      const now = new Date();
      const id = `${now.getTime().toString(36)}-${process.pid.toString(36)}-${(sequence++).toString(36)}`;
      const summary = {
        id,
        receivedAt: now.toISOString(),
        envelope,
        bytes: source.length,
        ...(await readHeader(source)),
      };
      try {
        await writeFile(fileOf(id), source, { mode: 0o600 });
        await appendFile(indexFile, `${JSON.stringify(summary)}\n`);
      } catch (error) {
        // The sender sends a refused message again, so no part of it may stay.
        await rm(fileOf(id), { force: true });
        throw error;
      }
      messages.set(id, summary);
      for (const oldest of messages.keys()) {
        if (messages.size <= messagesMax) break;
        messages.delete(oldest);
        await rm(fileOf(oldest), { force: true });
      }
      return summary;
    },
    /** Newest first; `search` is looked for in subject, header and envelope addresses, ignoring case. */
    list(page: number, pageSize: number, search: string): { total: number; messages: MailSummary[] } {
      const wanted = search.toLowerCase();
      const newestFirst = [...messages.values()].reverse();
      const matching = wanted ? newestFirst.filter((summary) => searchText(summary).includes(wanted)) : newestFirst;
      return { total: matching.length, messages: matching.slice((page - 1) * pageSize, page * pageSize) };
    },
    find: (id: string): MailSummary | undefined => messages.get(id),
    source: (id: string): Promise<Buffer> => readFile(fileOf(id)),
    async clear() {
      messages.clear();
      await writeFile(indexFile, '', { mode: 0o600 });
      const files = (await readdir(folder)).filter((name) => name.endsWith('.eml') && !messages.has(name.slice(0, -4)));
      await Promise.all(files.map((name) => rm(path.join(folder, name), { force: true })));
    },
  };
}

export type MailboxStore = ReturnType<typeof openMailboxStore>;

function readIndex(indexFile: string): MailSummary[] {
  if (!existsSync(indexFile)) return [];
  const folder = path.dirname(indexFile);
  return readFileSync(indexFile, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return line ? [JSON.parse(line) as MailSummary] : [];
      } catch {
        // A crash cut this line off.
        return [];
      }
    })
    .filter(({ id }) => existsSync(path.join(folder, `${id}.eml`)));
}

async function readHeader(source: Buffer): Promise<Pick<MailSummary, 'from' | 'to' | 'subject'>> {
  const end = source.indexOf('\r\n\r\n');
  const mail = await simpleParser(end < 0 ? source : source.subarray(0, end + 4));
  const to = Array.isArray(mail.to) ? mail.to.map((list) => list.text).join(', ') : mail.to?.text;
  return { from: mail.from?.text ?? '', to: to ?? '', subject: mail.subject ?? '' };
}

function searchText({ subject, from, to, envelope }: MailSummary): string {
  return [subject, from, to, envelope.from, ...envelope.to].join('\n').toLowerCase();
}
