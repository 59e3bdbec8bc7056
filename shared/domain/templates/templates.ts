import type { FilterQuery } from '@mikro-orm/core';
import { AppError } from '../../pure/app-error.ts';
import { copyName } from '../../pure/copy-name.ts';
import type { EmailType } from '../../pure/emails/email-types.ts';
import { holdSenderDomain } from '../domains/sender-domains.ts';
import { recordPage, type RecordPage } from '../../database/record-page.ts';
import { assertRoom } from '../../database/row-limit.ts';
import { likePattern, query, queryCount, sql, inTransaction, type Em } from '../../database/sql.ts';
import { assertEmailTopic } from '../topics/email-topics.ts';
import { assertTemplateSyntax } from './template-syntax.ts';
import { contentOf, TemplateEntity, type Content, type Template } from './template.entity.ts';

export type NewTemplate = Pick<Content, 'name' | 'subject' | 'body' | 'from' | 'type'> & Partial<Content>;

export interface TemplateListQuery {
  page: number;
  pageSize: number;
  type?: EmailType;
  search?: string;
  sort: 'name' | 'createdAt' | 'updatedAt';
  dir: 'asc' | 'desc';
}

/** One page of a project's templates. */
export async function listTemplates(em: Em, projectId: string, list: TemplateListQuery): Promise<RecordPage<Template>> {
  const where: FilterQuery<Template> = { projectId };
  if (list.type !== undefined) where.type = list.type;
  if (list.search !== undefined) {
    const matches = { $ilike: likePattern(list.search) };
    where.$or = [{ name: matches }, { description: matches }, { subject: matches }];
  }
  const [rows, total] = await em.fork().findAndCount(TemplateEntity, where, {
    fields: ['id'],
    orderBy: [{ [list.sort]: list.dir }, { id: list.dir }],
    limit: list.pageSize,
    offset: (list.page - 1) * list.pageSize,
  });
  const page = { table: 'template', projectId, ids: rows.map(({ id }) => id), total } as const;
  return recordPage<Template>(em, page, (part, ids) => part.find(TemplateEntity, { projectId, id: { $in: ids } }));
}

/** Loads a template. @throws AppError TEMPLATE_NOT_FOUND */
export async function findTemplate(em: Em, projectId: string, templateId: string): Promise<Template> {
  const template = await em.findOne(TemplateEntity, { id: templateId, projectId });
  if (!template) throw new AppError('TEMPLATE_NOT_FOUND');
  return template;
}

/**
 * Creates a template.
 * @throws AppError SENDER_DOMAIN_REFUSED, TOPIC_NOT_FOUND, BAD_REQUEST for a fault of its syntax, VALIDATION_ERROR
 *   beyond a limit, or for a topic of TRANSACTIONAL content
 */
export async function createTemplate(em: Em, projectId: string, content: NewTemplate): Promise<Template> {
  return inTransaction(em, async (tx) => {
    await assertTemplateSyntax(content);
    await assertEmailTopic(tx, projectId, content);
    await holdSenderDomain(tx, projectId, content.from);
    await assertRoom(tx, projectId, 'template');
    const template = tx.create(TemplateEntity, { projectId, ...content });
    await tx.flush();
    return template;
  });
}

/**
 * Changes the fields that are given. The sender domain is checked only if the sender changes.
 * @throws AppError TEMPLATE_NOT_FOUND, SENDER_DOMAIN_REFUSED, TOPIC_NOT_FOUND, BAD_REQUEST for a fault of its syntax,
 *   VALIDATION_ERROR beyond a limit, or for a topic of TRANSACTIONAL content
 */
export async function updateTemplate(
  em: Em,
  projectId: string,
  templateId: string,
  changes: Partial<NewTemplate>,
): Promise<Template> {
  return inTransaction(em, async (tx) => {
    await query(tx, sql`select from template where id = ${templateId} and project_id = ${projectId} for no key update`);
    const template = await findTemplate(tx, projectId, templateId);
    await assertTemplateSyntax(changes);
    const { type = template.type, topicId = template.topicId } = changes;
    await assertEmailTopic(tx, projectId, { type, topicId });
    if (changes.from !== undefined && changes.from !== template.from) {
      await holdSenderDomain(tx, projectId, changes.from);
    }
    tx.assign(template, changes);
    await tx.flush();
    return template;
  });
}

/** Deletes a template. @throws AppError TEMPLATE_NOT_FOUND */
export async function deleteTemplate(em: Em, projectId: string, templateId: string): Promise<void> {
  const deletedCount = await em.nativeDelete(TemplateEntity, { id: templateId, projectId });
  if (deletedCount === 0) throw new AppError('TEMPLATE_NOT_FOUND');
}

/** Makes a copy named "<name> (Copy)". @throws AppError TEMPLATE_NOT_FOUND, VALIDATION_ERROR for too many templates */
export async function duplicateTemplate(em: Em, projectId: string, templateId: string): Promise<Template> {
  return inTransaction(em, async (tx) => {
    const original = await findTemplate(tx, projectId, templateId);
    await assertRoom(tx, projectId, 'template');
    await assertEmailTopic(tx, projectId, original);
    const copy = tx.create(TemplateEntity, { projectId, ...contentOf(original), name: copyName(original.name) });
    await tx.flush();
    return copy;
  });
}

/** The number of sent emails that were made from a template. @throws AppError TEMPLATE_NOT_FOUND */
export async function countTemplateEmails(em: Em, projectId: string, templateId: string): Promise<number> {
  await findTemplate(em, projectId, templateId);
  return queryCount(
    em,
    sql`
      select count(*) from email
      where template_id = ${templateId} and project_id = ${projectId} and sent_at is not null`,
  );
}

/** The names of templates, by their ids. Ids of templates that do not exist are left out. */
export async function findTemplateNames(
  em: Em,
  projectId: string,
  templateIds: string[],
): Promise<Map<string, string>> {
  const templates = await em.find(TemplateEntity, { projectId, id: { $in: templateIds } }, { fields: ['id', 'name'] });
  return new Map(templates.map((template) => [template.id, template.name]));
}
