import { query, sql, type Em } from '../../shared/database/sql.ts';
import { tables } from '../../shared/database/tables.ts';
import { createTemplate } from '../../shared/domain/templates/templates.ts';
import { findTemplateFault } from '../../shared/domain/templates/template-syntax.ts';
import { AppError } from '../../shared/pure/app-error.ts';
import { NAME_LENGTH_MAX } from '../../shared/pure/copy-name.ts';
import type { MovedTemplate } from '../../shared/pure/moving/moved.ts';
import type { ToolName } from '../../shared/pure/moving/tools.ts';
import { translateTemplate } from '../../shared/pure/moving/translate.ts';

/** What became of a template. */
export interface TemplateReport {
  name: string;
  outcome: 'created' | 'translatable' | 'exists' | 'not translated';
  /** Each part that could not be translated, with its place, or why the template was refused. */
  problems: string[];
}

async function translate(tool: ToolName, field: 'subject' | 'body', source: string) {
  const { text, problems } = translateTemplate(tool, source);
  const found = problems.map((problem) => `${field}, line ${problem.line}: ${problem.found}`);
  const fault = found.length > 0 ? undefined : await findTemplateFault(field, text, field === 'body' ? 'html' : 'text');
  return { text, problems: fault ? [`${field}, line ${fault.line}: ${fault.message}`] : found };
}

/**
 * Translates templates of another tool and creates those that could be translated whole. One whose name is there
 * already is left alone, so that a repetition changes nothing.
 * @param from the sender; without one nothing is created
 */
export async function importTemplates(
  em: Em,
  projectId: string,
  tool: ToolName,
  templates: AsyncIterable<MovedTemplate>,
  from: string | undefined,
): Promise<TemplateReport[]> {
  const stored = await query(em, sql`select name from template where project_id = ${projectId}`, {
    name: tables.template.name,
  });
  const names = new Set(stored.map(({ name }) => name));
  const reports: TemplateReport[] = [];
  for await (const template of templates) {
    const name = template.name.trim().slice(0, NAME_LENGTH_MAX) || 'Template';
    const subject = await translate(tool, 'subject', template.subject || name);
    const body = await translate(tool, 'body', template.body);
    const problems = [...subject.problems, ...body.problems];
    const outcome = problems.length > 0 ? 'not translated' : names.has(name) ? 'exists' : 'translatable';
    const report: TemplateReport = { name, outcome, problems };
    reports.push(report);
    if (outcome !== 'translatable' || from === undefined) continue;
    names.add(name);
    const content = { name, subject: subject.text, body: body.text, from, type: template.type };
    await createTemplate(em.fork(), projectId, content).then(
      () => (report.outcome = 'created'),
      (error: unknown) => {
        if (!(error instanceof AppError)) throw error;
        report.problems.push(error.message);
      },
    );
  }
  return reports;
}
