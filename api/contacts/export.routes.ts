import { z } from 'zod';
import { findAutomation } from '../../shared/domain/automations/automation-graphs.ts';
import { findExecution, listStepExecutions } from '../../shared/domain/automations/executions.ts';
import { listConsents } from '../../shared/domain/consent/consent-list.ts';
import { findContact } from '../../shared/domain/contacts/contacts.ts';
import type { Contact } from '../../shared/domain/contacts/contact.entity.ts';
import { listEmails, type EmailCursor } from '../../shared/domain/emails/email-lists.ts';
import { belongingsOf, eventsOf, executionsOf, storedContentOf } from '../../shared/domain/lifecycle/contact-export.ts';
import { pageOfSuppressions } from '../../shared/domain/suppressions/suppression-lists.ts';
import { findContactTopics } from '../../shared/domain/topics/topic-choices.ts';
import type { Em } from '../../shared/database/sql.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { executionDetailView } from '../automations/execution.view.ts';
import { emailView } from '../emails/email.view.ts';
import { eventView } from '../events/event.view.ts';
import { endpointsOf, type Endpoint } from '../http/endpoint.ts';
import { suppressionView } from '../suppressions/suppressions.schemas.ts';
import { consentView } from './consent.view.ts';
import { oneContactView } from './contact.view.ts';

const endpoint = endpointsOf('Contacts', 'CONTACT_NOT_FOUND');

const PAGE = 100;

/** A list of the export, some items at a time. */
type Items = AsyncGenerator<unknown[]>;

async function* consents(em: Em, { id }: Contact): Items {
  for (let before: string | undefined; ;) {
    const page = await listConsents(em.fork(), id, { limit: PAGE, before });
    yield page.consents.map(consentView);
    before = page.consents.at(-1)?.id;
    if (!page.hasMore) return;
  }
}

/** The content of an email may be megabytes, so one is read at a time. */
async function* emails(em: Em, { id: contactId, projectId }: Contact): Items {
  let after: EmailCursor | undefined;
  do {
    const page = await listEmails(em.fork(), projectId, { contactId, limit: PAGE, after });
    for (const email of page.emails) {
      yield [{ ...emailView(email), content: (await storedContentOf(em.fork(), email.id)) ?? null }];
    }
    after = page.next;
  } while (after);
}

async function* events(em: Em, { id }: Contact): Items {
  for await (const page of eventsOf(em, id)) yield page.map(eventView);
}

async function* executions(em: Em, { id, projectId }: Contact): Items {
  for await (const page of executionsOf(em, id)) {
    for (const { id: executionId, automationId } of page) {
      const { name } = await findAutomation(em.fork(), projectId, automationId);
      const execution = await findExecution(em.fork(), projectId, automationId, executionId);
      const steps = await listStepExecutions(em.fork(), executionId);
      yield [executionDetailView(execution, { id: automationId, name }, steps)];
    }
  }
}

async function* exportPieces(em: Em, contact: Contact): AsyncGenerator<string> {
  const { id, projectId } = contact;
  const { suppressions } = await pageOfSuppressions(em, projectId, { limit: 1, address: contact.email });
  const head = {
    contact: await oneContactView(em, projectId, contact),
    suppression: suppressions[0] ? suppressionView(suppressions[0]) : null,
    topics: await findContactTopics(em, projectId, id),
    ...(await belongingsOf(em, contact)),
  };
  yield JSON.stringify(head).slice(0, -1);
  const lists = { consents, emails, events, executions };
  for (const [name, list] of Object.entries(lists)) {
    yield `,"${name}":[`;
    let separator = '';
    for await (const items of list(em, contact)) {
      if (items.length === 0) continue;
      yield separator + items.map((item) => JSON.stringify(item)).join(',');
      separator = ',';
    }
    yield ']';
  }
  yield '}';
}

const exportContact = endpoint('exportContact', 'GET /contacts/:id/export', {
  roles: ['support', 'read'],
  isHeavy: true,
  isAudited: true,
  summary: 'Everything that is stored about a contact, as one JSON file',
  description:
    'For the right of access and to data portability (GDPR, articles 15 and 20): the contact, its suppression, topics, segments, former addresses, opt-ins, consents, emails with their stored content, events, and executions with their steps.',
  replies: { 200: { description: 'The file', schema: z.looseObject({}) } },
  async handle({ em, project, params }) {
    const contact = await findContact(em, project.id, params.id);
    const headers = {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Disposition': `attachment; filename="contact-${contact.id}.json"`,
    };
    return { status: 200, stream: { headers, pieces: exportPieces(em, contact), pieceBytes: LIMITS.pageBytes } };
  },
});

export const contactExportEndpoints: Endpoint[] = [exportContact];
