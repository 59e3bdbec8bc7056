import type { Command } from 'commander';
import { ContactEntity } from '../shared/domain/contacts/contact.entity.ts';
import { listEmails, type ListedEmail } from '../shared/domain/emails/email-lists.ts';
import { readEmailStory, type EmailStory } from '../shared/domain/emails/email-timeline.ts';
import { pageOfSuppressions, type ListedSuppression } from '../shared/domain/suppressions/suppression-lists.ts';
import { AppError } from '../shared/pure/app-error.ts';
import { normalizeAddress, spellingsOf } from '../shared/pure/emails/email-address.ts';
import { addCommand, type CliContext } from './context.ts';
import { inProject, parseId, parseProjectId } from './project-id.ts';
import { formatFields, formatTable } from './text-output.ts';

/** How many emails `contact why` shows, the newest first. */
const EMAILS_SHOWN = 10;

function storyText({ email, waiting, timeline }: EmailStory): string {
  const fields = formatFields({
    Email: email.id,
    To: email.to ?? '(erased)',
    Subject: email.subject ?? '(erased)',
    State: email.status,
    Words: email.error ?? 'none',
    'Waits for': waiting
      ? `${waiting.reason}${waiting.until ? `, until ${waiting.until.toISOString()}` : ''}`
      : 'nothing',
  });
  const rows = timeline.map(({ at, type, server, words }) => [at.toISOString(), type, server ?? '', words ?? '']);
  return rows.length === 0 ? fields : `${fields}\n\n${formatTable(['WHEN', 'WHAT', 'SERVER', 'WORDS'], rows)}`;
}

interface Standing {
  address: string;
  contact: { id: string; subscribed: boolean } | null;
  suppression: ListedSuppression | null;
  emails: ListedEmail[];
}

function standingText({ address, contact, suppression, emails }: Standing): string {
  const fields = formatFields({
    Address: address,
    Contact: contact
      ? `${contact.id}, ${contact.subscribed ? 'subscribed' : 'not subscribed: gets no marketing email'}`
      : 'none',
    Suppressed: suppression
      ? `since ${suppression.createdAt.toISOString()}: ${suppression.reason} ${suppression.words ?? ''}`.trim()
      : 'no',
  });
  if (emails.length === 0) return `${fields}\n\nNo email has been made for it.`;
  const rows = emails.map(({ id, createdAt, status, error }) => [id, createdAt.toISOString(), status, error ?? '']);
  return `${fields}\n\n${formatTable(['EMAIL', 'MADE', 'STATE', 'WORDS'], rows)}`;
}

/** `email show` and `contact why`. */
export function addEmailCommands(program: Command, context: CliContext): void {
  const email = program.command('email').description('Emails and what became of them');
  addCommand(
    email,
    'show <projectId> <emailId>',
    'Show an email, what happened to it, and why it waits',
    'reads',
  ).action(async (id: string, emailId: string, _options: object, command: Command) => {
    const story = await context.withDatabase((em) =>
      readEmailStory(em, parseProjectId(id), parseId(emailId, 'Email not found')),
    );
    context.answer(command, story, storyText(story));
  });

  const contact = program.command('contact').description('Contacts and their email');
  addCommand(contact, 'why <projectId> <address>', 'Say why an address gets email, or does not', 'reads').action(
    async (id: string, text: string, _options: object, command: Command) => {
      const address = normalizeAddress(text);
      const standing = await inProject(context, id, async (em, projectId): Promise<Standing> => {
        const found = await em.findOne(ContactEntity, { projectId, email: spellingsOf(address) });
        const { suppressions } = await pageOfSuppressions(em, projectId, { limit: 1, address });
        const { emails } = await listEmails(em, projectId, { address, limit: EMAILS_SHOWN, period: {} });
        const suppression = suppressions[0] ?? null;
        return { address, contact: found && { id: found.id, subscribed: found.subscribed }, suppression, emails };
      });
      if (!standing.contact && !standing.suppression && standing.emails.length === 0) {
        throw new AppError('CONTACT_NOT_FOUND', { message: `This project knows nothing of ${address}` });
      }
      context.answer(command, standing, standingText(standing));
    },
  );
}
