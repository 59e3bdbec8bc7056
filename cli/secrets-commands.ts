import type { Command } from 'commander';
import {
  PLAIN_WEBHOOK_SECRETS,
  createWebhookSecrets,
  type WebhookSecrets,
} from '../shared/domain/projects/webhook-secrets.ts';
import type { Em } from '../shared/database/sql.ts';
import { assertKnownSecret, forgetOtherSecrets, rememberSecret } from '../shared/domain/secrets/known-secrets.ts';
import { resealAll, type ResealCount } from '../shared/domain/secrets/reseal.ts';
import { ConfigError } from '../shared/platform/config.ts';
import type { AppSecrets } from '../shared/platform/sealed-values.ts';
import { addCommand, type CliContext } from './context.ts';
import { formatTable } from './text-output.ts';

/** The secrets of the environment. @throws ConfigError when there are none */
function requireSecrets(context: CliContext): AppSecrets {
  const secrets = context.appSecrets();
  if (!secrets) throw new ConfigError('APP_SECRET is required. Set it to the secret of the API and the workers.');
  return secrets;
}

/**
 * How a command reads and writes webhook secrets: in plain text when the environment has no APP_SECRET.
 * @throws ConfigError when the database does not know the APP_SECRET
 */
export async function webhookSecretsOf(context: CliContext, em: Em): Promise<WebhookSecrets> {
  const secrets = context.appSecrets();
  if (!secrets) return PLAIN_WEBHOOK_SECRETS;
  await assertKnownSecret(em, secrets);
  return createWebhookSecrets(secrets);
}

function row(name: string, count: ResealCount): string[] {
  return [name, String(count.resealed), String(count.unchanged), String(count.unreadable.length)];
}

/** `secrets reseal` and `secrets adopt`. */
export function addSecretsCommands(program: Command, context: CliContext): void {
  const group = program.command('secrets').description('Keys that are stored sealed under APP_SECRET');

  addCommand(group, 'reseal', 'Seal everything stored under APP_SECRET, after a rotation').action(
    async (_options: object, command: Command) => {
      const secrets = requireSecrets(context);
      const result = await context.withDatabase(async (em) => {
        await assertKnownSecret(em, secrets);
        const counts = await resealAll(em, secrets);
        const isComplete = [counts.dkimKeys, counts.webhookSecrets, counts.endpointSecrets].every(
          (count) => count.unreadable.length === 0,
        );
        if (isComplete) await forgetOtherSecrets(em, secrets.appSecret);
        return { ...counts, isComplete };
      });
      const rows = [
        row('DKIM keys', result.dkimKeys),
        row('Webhook secrets', result.webhookSecrets),
        row('Endpoint secrets', result.endpointSecrets),
      ];
      context.answer(command, result, formatTable(['STORED', 'RESEALED', 'UNCHANGED', 'UNREADABLE'], rows));
      if (result.isComplete) return;
      throw new ConfigError(
        `These cannot be read with APP_SECRET or APP_SECRETS_PREVIOUS: ` +
          `${[result.dkimKeys, result.webhookSecrets, result.endpointSecrets]
            .flatMap((count) => count.unreadable)
            .slice(0, 20)
            .join(', ')}. ` +
          'Name the secret they were stored under in APP_SECRETS_PREVIOUS and run the command again.',
      );
    },
  );

  addCommand(group, 'adopt', 'Let processes start with this APP_SECRET although the previous one is lost').action(
    async (_options: object, command: Command) => {
      const secrets = requireSecrets(context);
      await context.withDatabase((em) => rememberSecret(em, secrets.appSecret));
      context.answer(
        command,
        { adopted: true },
        'Processes may start with this APP_SECRET. Links in emails that were sent before do not work with it, and ' +
          '`everpost secrets reseal` lists the keys that cannot be read.',
      );
    },
  );
}
