import { NIL } from 'uuid';
import { z } from 'zod';
import { findTemplate } from '../../shared/domain/templates/templates.ts';
import { findEmailTopic } from '../../shared/domain/topics/email-topics.ts';
import { validationError } from '../../shared/pure/app-error.ts';
import { customDataSchema } from '../../shared/pure/contacts/custom-data-schema.ts';
import { TemplateLimitError, TemplateSyntaxError } from '../../shared/pure/templates/template-language.ts';
import { compileEmail } from '../../shared/sending/compose/compiled-email.ts';
import { endpointsOf, ok } from '../http/endpoint.ts';
import { model } from '../../shared/pure/model.ts';

const endpoint = endpointsOf('Templates', 'TEMPLATE_NOT_FOUND');

const previewBody = z.object({
  email: z.email().default('reader@example.com').describe('The address of the recipient'),
  data: customDataSchema.describe('The data of the recipient'),
});

const previewSchema = model('TemplatePreview', 'A template, rendered', {
  subject: z.string(),
  html: z.string().meta({ description: 'The HTML, with the footer of its type', examples: ['<p>Hello Ada</p>'] }),
  text: z.string(),
});

/** Renders a template without sending it. */
export const previewEndpoint = endpoint('previewTemplate', 'POST /templates/:id/preview', {
  roles: ['marketing', 'read'],
  effect: 'reads',
  isHeavy: true,
  summary: 'Render a template for a recipient with this data; nothing is sent or stored',
  body: previewBody,
  replies: { 200: { description: 'What a recipient would see', schema: previewSchema } },
  async handle({ em, project, params, body: { email, data }, deps: { links } }) {
    const { subject, body, text, preheader, type, topicId } = await findTemplate(em, project.id, params.id);
    const topic = await findEmailTopic(em, project.id, topicId);
    const { brand } = project;
    try {
      const compiled = await compileEmail({
        subject,
        html: body,
        text,
        preheader,
        type,
        topic,
        brand,
        isTracked: false,
      });
      const urls = links.recipientUrls({ contactId: NIL, emailId: NIL, projectId: project.id });
      const rendered = compiled.render({ contact: { id: NIL, email, subscribed: true, data }, urls });
      return ok({ subject: rendered.subject, html: rendered.html, text: rendered.text });
    } catch (error) {
      if (!(error instanceof TemplateLimitError || error instanceof TemplateSyntaxError)) throw error;
      throw validationError([{ field: 'body', message: error.message, code: 'custom' }]);
    }
  },
});
