import { readConfigOf, type StoredConfig } from '../../pure/automations/automation-config.ts';
import type { StepType } from '../../pure/automations/automation-status.ts';
import { splitWebhookUrl } from '../../pure/automations/webhook-url.ts';
import { queryOne, sql, type Em } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';

/** Whether the data of a contact or an event decides which host a step calls, or which address it writes to. */
function isTargetNamedByData(type: StepType, config: StoredConfig): boolean {
  if (type === 'WEBHOOK') return splitWebhookUrl(readConfigOf('WEBHOOK', config).url)?.head.startsWith('{{') ?? false;
  if (type !== 'SEND_EMAIL') return false;
  const { recipient } = readConfigOf('SEND_EMAIL', config);
  return recipient?.type === 'CUSTOM' && recipient.customEmail?.includes('{{') === true;
}

/**
 * Says why a project does not let a step do what its config says; undefined when it does. A visitor with the public key
 * can write data, so a project may refuse to let data decide where steps send something.
 */
export async function findTargetFault(
  em: Em,
  projectId: string,
  type: StepType,
  config: StoredConfig,
): Promise<string | undefined> {
  if (!isTargetNamedByData(type, config)) return undefined;
  const row = await queryOne(em, sql`select public_key_rules as rules from project where id = ${projectId}`, {
    rules: tables.project.publicKeyRules,
  });
  if (row?.rules?.dataTargets !== false) return undefined;
  return type === 'WEBHOOK'
    ? 'The host of config.url is named by data, which this project does not allow (publicKeyRules.dataTargets)'
    : 'config.recipient.customEmail is named by data, which this project does not allow (publicKeyRules.dataTargets)';
}
