import { NIL } from 'uuid';
import { z } from 'zod';
import { findTemplate } from '../../shared/domain/templates/templates.ts';
import { findEmailTopic } from '../../shared/domain/topics/email-topics.ts';
import type { Config } from '../../shared/platform/config.ts';
import { validationError } from '../../shared/pure/app-error.ts';
import { customDataSchema } from '../../shared/pure/contacts/custom-data-schema.ts';
import { TemplateLimitError, TemplateSyntaxError } from '../../shared/pure/templates/template-language.ts';
import { compileEmail } from '../../shared/sending/compose/compiled-email.ts';
import { linkSignerOf } from '../../shared/sending/compose/links.ts';
import { endpoint, ok, type Endpoint } from '../http/endpoint.ts';
import { idParams } from '../http/pagination.ts';

const previewBody = z.object({
  email: z.email().default('reader@example.com').meta({ description: 'The address of the recipient' }),
  data: customDataSchema.meta({ description: 'The data of the recipient' }),
});

const previewSchema = z
  .object({
    subject: z.string(),
    html: z.string().meta({ description: 'The HTML, with the footer of its type', examples: ['<p>Hello Ada</p>'] }),
    text: z.string(),
  })
  .meta({ id: 'TemplatePreview', description: 'A template, rendered' });

/** Creates the endpoint that renders a template without sending it. */
export function createPreviewEndpoint(config: Config): Endpoint {
  const links = linkSignerOf(config);
  return endpoint({
    operationId: 'previewTemplate',
    roles: ['marketing', 'read'],
    effect: 'reads',
    isHeavy: true,
    method: 'post',
    path: '/templates/:id/preview',
    tag: 'Templates',
    summary: 'Render a template for a recipient with this data; nothing is sent or stored',
    params: idParams,
    malformedIdCode: 'TEMPLATE_NOT_FOUND',
    body: previewBody,
    replies: { 200: { description: 'What a recipient would see', schema: previewSchema } },
    errors: ['TEMPLATE_NOT_FOUND'],
    async handle({ em, project, params, body: { email, data } }) {
      const { subject, body, text, preheader, type, topicId } = await findTemplate(em, project.id, params.id);
      const topic = await findEmailTopic(em, project.id, topicId);
      const { brand } = project;
      try {
        const compiled = await compileEmail({
          ...{ subject, html: body, text, preheader, type, topic, brand, isTracked: false },
        });
        const urls = links.recipientUrls({ contactId: NIL, emailId: NIL, projectId: project.id });
        const {
          subject: title,
          html,
          text: plain,
        } = compiled.render({
          contact: { id: NIL, email, subscribed: true, data },
          urls,
        });
        return ok({ subject: title, html, text: plain });
      } catch (error) {
        if (!(error instanceof TemplateLimitError || error instanceof TemplateSyntaxError)) throw error;
        throw validationError([{ field: 'body', message: error.message, code: 'custom' }]);
      }
    },
  });
}
