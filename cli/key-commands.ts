import { InvalidArgumentError, Option, type Command } from 'commander';
import { toDomainName } from '../shared/domain/domains/domain-name.ts';
import type { Key } from '../shared/domain/projects/key.entity.ts';
import { createKey, endKey, listKeys } from '../shared/domain/projects/keys.ts';
import { lineSchema } from '../shared/pure/brand.ts';
import { KEY_ROLES, type KeyRole } from '../shared/pure/key-roles.ts';
import { LIMITS } from '../shared/pure/limits.ts';
import { addCommand, type CliContext } from './context.ts';
import { inProject, parseId } from './project-id.ts';
import { formatFields, formatTable } from './text-output.ts';

function parseKeyName(text: string): string {
  const { data } = lineSchema(LIMITS.keyNameLength).safeParse(text);
  if (data !== undefined) return data;
  throw new InvalidArgumentError(
    `It must be one line of 1 to ${LIMITS.keyNameLength} characters, without control characters.`,
  );
}

function parseMoment(text: string): Date {
  const moment = new Date(text);
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(moment.getTime())) {
    throw new InvalidArgumentError(
      'It must be a date such as 2027-01-31, or a date-time such as 2027-01-31T12:00:00Z.',
    );
  }
  return moment;
}

function collectDomain(text: string, previous: string[]): string[] {
  const domain = toDomainName(text);
  if (domain === undefined) throw new InvalidArgumentError('It must be a domain name such as mail.example.com.');
  return [...previous, domain];
}

function viewKey({ id, projectId, name, role, senderDomains, expiresAt, lastUsedAt, createdAt }: Key) {
  const dates = { expiresAt: expiresAt ?? null, lastUsedAt: lastUsedAt ?? null, createdAt };
  return { id, projectId, name, role, senderDomains: senderDomains ?? null, ...dates };
}

interface CreateOptions {
  name: string;
  role: KeyRole;
  senderDomain: string[];
  expires?: Date;
}

/** `key create | list | end`. */
export function addKeyCommands(program: Command, context: CliContext): void {
  const group = program.command('key').description('Keys with names and roles');

  addCommand(group, 'create <projectId>', 'Create a key and print it, once')
    .requiredOption('--name <name>', 'where it is used', parseKeyName)
    .addOption(new Option('--role <role>', 'what it may call').choices(KEY_ROLES).makeOptionMandatory())
    .option('--sender-domain <domain>', 'a send key may send from this domain only; may be repeated', collectDomain, [])
    .option('--expires <date>', 'from when on it is refused', parseMoment)
    .action(async (id: string, options: CreateOptions, command: Command) => {
      const { name, role, senderDomain, expires } = options;
      const senderDomains = senderDomain.length > 0 ? senderDomain : null;
      const { key, secret } = await inProject(context, id, (em, projectId) =>
        createKey(em, projectId, { name, role, senderDomains, expiresAt: expires ?? null }, context.keyMark()),
      );
      const text = formatFields({ Name: key.name, Id: key.id, Role: key.role, Key: secret });
      context.answer(command, { ...viewKey(key), key: secret }, `${text}\nThe key is shown only now; keep it safe.`);
    });

  addCommand(group, 'list <projectId>', 'List the keys of a project, oldest first', 'reads').action(
    async (id: string, _options: object, command: Command) => {
      const keys = (await inProject(context, id, listKeys)).map(viewKey);
      const rows = keys.map((key) => [
        key.id,
        key.name,
        key.role,
        key.senderDomains?.join(', ') ?? '',
        key.lastUsedAt?.toISOString() ?? 'never',
        key.expiresAt?.toISOString() ?? 'never',
      ]);
      const head = ['ID', 'NAME', 'ROLE', 'SENDER DOMAINS', 'LAST USED', 'EXPIRES'];
      context.answer(command, keys, rows.length === 0 ? 'The project has no keys.' : formatTable(head, rows));
    },
  );

  addCommand(group, 'end <projectId> <keyId>', 'End a key: it is refused from now on').action(
    async (id: string, keyText: string, _options: object, command: Command) => {
      const keyId = parseId(keyText, 'The project has no key with this id', '`everpost key list` shows them');
      const key = await inProject(context, id, (em, projectId) => endKey(em, projectId, keyId, true));
      context.answer(command, { ...viewKey(key), ended: true }, `${key.name} (${key.role}) is refused from now on.`);
    },
  );
}
