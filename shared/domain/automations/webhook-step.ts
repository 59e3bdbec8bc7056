import { readConfigOf } from '../../pure/automations/automation-config.ts';
import { createRenderScope } from '../../pure/templates/render-scope.ts';
import { compileTemplate, createRenderMeter, type RenderScope } from '../../pure/templates/template-language.ts';
import { LIMITS } from '../../pure/limits.ts';
import { findUrlFault, splitWebhookUrl } from '../../pure/automations/webhook-url.ts';
import type { WebhookRequest } from '../../platform/webhook/webhook-client.ts';
import { createYields } from '../../platform/yielding.ts';
import type { LinkSigner } from '../../sending/compose/links.ts';
import { queryOne, sql, type Em } from '../../database/sql.ts';
import { nullable, number } from '../../database/tables.ts';
import { readWebhookSecret } from '../projects/projects.ts';
import type { WebhookSecrets } from '../projects/webhook-secrets.ts';
import { findTargetFault } from './data-targets.ts';
import { StepError } from './step-error.ts';
import type { PendingWebhook } from './execution-engine.ts';

/** Renders the texts within a value; other values stay as they are. */
async function renderValue(value: unknown, render: (source: string) => Promise<string>): Promise<unknown> {
  if (typeof value === 'string') return render(value);
  if (typeof value !== 'object' || value === null) return value;
  const rendered: [string, unknown][] = [];
  for (const [key, inner] of Object.entries(value)) rendered.push([key, await renderValue(inner, render)]);
  return Array.isArray(value) ? rendered.map(([, inner]) => inner) : Object.fromEntries(rendered);
}

/**
 * Values printed into a URL are encoded: they must not become another host, path or parameter. Only a placeholder at
 * the very start is printed unchanged, because it prints a URL.
 * @throws StepError
 */
function renderUrl(source: string, scope: RenderScope): string {
  const parts = splitWebhookUrl(source);
  if (!parts) throw new StepError('The URL of the step names no host before its placeholders');
  const encoded: RenderScope = { get: (name) => encodeValue(scope.get(name)) };
  const rendered = {
    head: compileTemplate(parts.head, 'text').render(scope).trim(),
    tail: compileTemplate(parts.tail, 'text').render(encoded),
  };
  const fault = findUrlFault(parts, rendered);
  if (fault !== undefined) throw new StepError(fault);
  return rendered.head + rendered.tail;
}

function encodeValue(value: unknown): unknown {
  if (typeof value === 'string') return encodeURIComponent(value.toWellFormed());
  if (Array.isArray(value)) return value.map(encodeValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, encodeValue(inner)]));
}

/** The body that a step sends when its config has none. */
function defaultBody({ state, contact }: PendingWebhook): unknown {
  return {
    contact: { id: contact.id, email: contact.email, subscribed: contact.subscribed, data: contact.data },
    workflow: { id: state.automationId, name: state.automationName },
    execution: { id: state.executionId, startedAt: state.startedAt.toISOString() },
    event: state.context,
  };
}

/** The `Content-Type` of a body. A text that is JSON is sent as JSON. */
function contentTypeOf(content: unknown): string {
  return typeof content === 'string' && !isJson(content) ? 'text/plain; charset=utf-8' : 'application/json';
}

/**
 * The number under which the execution first came to the step. A retry gives the step a new one, but its request has the
 * same id as before: a server that has taken it then recognises it.
 */
async function firstStepNumber(em: Em, { state, step }: PendingWebhook): Promise<number> {
  const first = await queryOne(
    em,
    sql`
      select min(step_number) as "stepNumber" from step_execution
      where execution_id = ${state.executionId} and step_id = ${step.id}`,
    { stepNumber: nullable(number) },
  );
  return first?.stepNumber ?? state.stepNumber;
}

/**
 * Makes the request of a WEBHOOK step. Every attempt has the same `id`: it names the execution and the number of the
 * step.
 * @throws StepError, TemplateSyntaxError, TemplateLimitError, AppError RESOURCE_NOT_FOUND
 */
export async function prepareWebhook(
  em: Em,
  pending: PendingWebhook,
  { links, webhookSecrets }: { links: LinkSigner; webhookSecrets: WebhookSecrets },
): Promise<WebhookRequest> {
  const { state, step, contact } = pending;
  const config = readConfigOf('WEBHOOK', step.config);
  const targetFault = await findTargetFault(em, state.projectId, 'WEBHOOK', step.config);
  if (targetFault !== undefined) throw new StepError(targetFault);
  const urls = links.recipientUrls({ contactId: contact.id, emailId: state.executionId, projectId: state.projectId });
  const scope = createRenderScope({ contact, urls, event: state.context });
  const meter = createRenderMeter();
  const yieldIfDue = createYields();
  const render = async (source: string): Promise<string> => {
    await yieldIfDue();
    return compileTemplate(source, 'text').render(scope, meter);
  };
  const hasBody = config.body !== undefined || ['POST', 'PUT', 'PATCH'].includes(config.method);
  const content = config.body === undefined ? defaultBody(pending) : await renderValue(config.body, render);
  const headers: Record<string, string> = { 'user-agent': 'Everpost', accept: '*/*' };
  if (hasBody) headers['content-type'] = contentTypeOf(content);
  for (const [name, value] of Object.entries(config.headers ?? {})) {
    headers[name.toLowerCase()] = headerBytes(await render(value));
  }
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const body = hasBody ? text : null;
  if (Buffer.byteLength(body ?? '') > LIMITS.webhookBodyBytes) {
    throw new StepError(`The body of the webhook has more than ${LIMITS.webhookBodyBytes} bytes`);
  }
  return {
    url: renderUrl(config.url, scope),
    method: config.method,
    headers,
    body,
    id: `msg_${state.executionId}_${await firstStepNumber(em, pending)}`,
    secrets: [await readWebhookSecret(em, state.projectId, webhookSecrets)],
  };
}

/**
 * A header value has octets (RFC 9110 section 5.5): text is sent as UTF-8, without characters that could end a line.
 */
function headerBytes(text: string): string {
  return Buffer.from(text.replaceAll(/[\0-\x08\x0a-\x1f\x7f]/g, '')).toString('latin1');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
