import { InvalidArgumentError, Option, type Command } from 'commander';
import { listDomainNames, trustDomain } from '../shared/domain/domains/sender-domains.ts';
import { inTransaction, type Em } from '../shared/database/sql.ts';
import type { Project } from '../shared/domain/projects/project.entity.ts';
import {
  createProject,
  findProject,
  listProjects,
  readWebhookSecret,
  rotateProjectKeys,
  rotateWebhookSecret,
  type ProjectSettings,
} from '../shared/domain/projects/projects.ts';
import { warningsOfPools } from '../shared/domain/emails/sources.ts';
import { brandOf } from '../shared/domain/projects/brand.ts';
import { deleteProject } from '../shared/domain/lifecycle/delete-project.ts';
import { endWorkflowsOf } from './temporal/end-workflows.ts';
import { checkTemporal } from '../shared/durable/temporal/client.ts';
import { updateProject } from '../shared/domain/lifecycle/update-project.ts';
import { badRequest } from '../shared/pure/app-error.ts';
import { brandSettingsSchema, type BrandSettings } from '../shared/pure/brand.ts';
import { LANGUAGES } from '../shared/pure/languages/languages.ts';
import { publicKeyRulesSchema, type PublicKeyRules } from '../shared/pure/public-key-rules.ts';
import { CLIENT_ADDRESSES, TRACKING_MODES, type ClientAddresses, type TrackingMode } from '../shared/pure/project.ts';
import { PLAIN_WEBHOOK_SECRETS } from '../shared/domain/projects/webhook-secrets.ts';
import { addCommand, type CliContext } from './context.ts';
import {
  addDoubleOptInOptions,
  changedDoubleOptIn,
  formatDoubleOptIn,
  type DoubleOptInOptions,
} from './double-opt-in-options.ts';
import { addPoolOptions, changedPools, formatPools, type PoolOptions } from './pool-options.ts';
import { addProjectFileCommands } from './project-file-commands.ts';
import { parseProjectId } from './project-id.ts';
import { webhookSecretsOf } from './secrets-commands.ts';
import { DEFAULT_SPEED, formatSpeed, parseSpeed } from './speed-option.ts';
import { formatFields, formatTable } from './text-output.ts';

const NAME_LENGTH_MAX = 100;
/** The value of `--public-key-fields` for every field. */
const ALL_FIELDS = 'all';

type ProjectView = Awaited<ReturnType<typeof viewProject>>;
type BrandOptions = Partial<Record<keyof typeof BRAND_OPTIONS, string>>;

interface SetOptions extends DoubleOptInOptions, PoolOptions, BrandOptions {
  trackAcceptsSecretKey?: boolean;
  publicKeyFields?: string;
  publicKeySubscribed?: boolean;
  publicKeyResubscribe?: boolean;
  dataTargets?: boolean;
  tracking?: TrackingMode;
  clientAddresses?: ClientAddresses;
  emailsPerSecond?: number | typeof DEFAULT_SPEED;
}

async function viewProject(em: Em, project: Project) {
  return {
    id: project.id,
    name: project.name,
    publicKey: project.publicKey,
    disabled: project.disabled,
    tracking: project.tracking,
    clientAddresses: project.clientAddresses,
    emailsPerSecond: project.emailsPerSecond ?? null,
    pools: project.pools ?? null,
    trackAcceptsSecretKey: project.trackAcceptsSecretKey,
    publicKeyRules: project.publicKeyRules ?? null,
    doubleOptIn: project.doubleOptIn ?? null,
    ...brandOf(project),
    domains: await listDomainNames(em, project.id),
    createdAt: project.createdAt,
    updatedAt: project.updatedAt,
  };
}

function parseName(text: string): string {
  const name = text.trim();
  if (name === '') throw new InvalidArgumentError('It must not be empty.');
  if (name.length > NAME_LENGTH_MAX) throw new InvalidArgumentError(`It has more than ${NAME_LENGTH_MAX} characters.`);
  return name;
}

/** Reads one of some words, in any case and with hyphens for underscores. */
function parseWord<const Word extends string>(words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const wanted = text.toUpperCase().replaceAll('-', '_');
    const word = words.find((candidate) => candidate === wanted);
    if (!word) throw new InvalidArgumentError(`It must be one of ${words.join(', ')}.`);
    return word;
  };
}

function collect(domain: string, previous: string[]): string[] {
  return [...previous, domain];
}

function formatRules(rules: PublicKeyRules | null): string {
  if (!rules) return 'everything it can do';
  const { fields, subscribed, resubscribe, dataTargets } = rules;
  const stored = fields?.length === 0 ? 'no field' : (fields?.join(', ') ?? 'all fields');
  const subscriptions = subscribed ? `set subscribed${resubscribe ? '' : ', not after an opt-out'}` : '';
  const parts = [`store ${stored}`, subscriptions, dataTargets ? 'name targets of steps' : ''];
  return parts.filter((part) => part !== '').join('; ');
}

/** The rules after a command: those given, and the others as they are; undefined when none is given. */
function changedRules(options: SetOptions, before: PublicKeyRules | null): PublicKeyRules | undefined {
  const { publicKeyFields, publicKeySubscribed: subscribed, publicKeyResubscribe: resubscribe, dataTargets } = options;
  const given = { subscribed, resubscribe, dataTargets };
  if (publicKeyFields === undefined && Object.values(given).every((value) => value === undefined)) return undefined;
  const names = publicKeyFields?.split(',').flatMap((name) => name.trim() || []);
  const fields = publicKeyFields === ALL_FIELDS ? null : (names ?? before?.fields ?? null);
  const stated = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return publicKeyRulesSchema.parse({ ...before, fields, ...stated });
}

function formatProject(view: ProjectView): string {
  return formatFields({
    Project: view.name,
    Id: view.id,
    'Public key': view.publicKey,
    State: view.disabled ? 'disabled' : 'enabled',
    Tracking: view.tracking,
    'Addresses kept': view.clientAddresses,
    Speed: formatSpeed(view.emailsPerSecond),
    Pools: formatPools(view.pools),
    'Keys of /v1/track': view.trackAcceptsSecretKey ? 'public and secret' : 'public',
    'Public key may': formatRules(view.publicKeyRules),
    Confirmation: formatDoubleOptIn(view.doubleOptIn),
    'Display name': view.displayName ?? view.name,
    'Postal address': view.postalAddress?.replaceAll('\n', ', ') ?? 'none',
    Logo: view.logoUrl ?? 'none',
    Colour: view.brandColor ?? 'none',
    Language: view.language ?? 'en',
    Domains: view.domains.join(', ') || 'none',
  });
}

const BRAND_OPTIONS = {
  displayName: '--display-name',
  postalAddress: '--postal-address',
  logoUrl: '--logo-url',
  brandColor: '--brand-color',
  language: '--language',
} as const;

/**
 * The given settings of the brand; an empty text removes a setting.
 * @throws AppError BAD_REQUEST that names the option
 */
function readBrandSettings(options: SetOptions): BrandSettings {
  const names = Object.keys(BRAND_OPTIONS) as (keyof typeof BRAND_OPTIONS)[];
  const given = names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name] || null] as const]));
  const read = brandSettingsSchema.safeParse(Object.fromEntries(given));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const name = names.find((known) => known === issue?.path[0]);
  throw badRequest(`${name ? BRAND_OPTIONS[name] : 'The settings'}: ${issue?.message ?? 'Not valid'}`);
}

const UNSIGNED =
  'Email from trusted domains goes unsigned: `everpost domain list <projectId>` prints the DNS records that change this.';
const SHOWN_ONCE = 'The secret key is shown only now; keep it safe.';

/** `project create | list | rename | enable | disable | delete | keys | webhook-secret | set | export | import`. */
export function addProjectCommands(program: Command, context: CliContext): void {
  const project = program.command('project').description('Projects, their keys and settings');
  addCreate(project, context);
  addList(project, context);
  addSettings(project, context);
  addKeys(project, context);
  addDelete(project, context);
  addProjectFileCommands(project, context);
}

async function changeSettings(
  context: CliContext,
  command: Command,
  id: string,
  settings: ProjectSettings | ((before: Project) => ProjectSettings),
): Promise<void> {
  const view = await context.withDatabase(async (em) => {
    const projectId = parseProjectId(id);
    const changed = typeof settings === 'function' ? settings(await findProject(em, projectId)) : settings;
    const project = await updateProject(em, projectId, changed);
    if (changed.pools) (await warningsOfPools(em, project)).forEach(context.note);
    return viewProject(em, project);
  });
  context.answer(command, view, formatProject(view));
}

function addCreate(project: Command, context: CliContext): void {
  addCommand(project, 'create', 'Create a project and print its keys')
    .requiredOption('--name <name>', 'name of the project', parseName)
    .option('--trusted-domain <domain>', 'sender domain to verify without DNS; may be repeated', collect, [])
    .action(async ({ name, trustedDomain }: { name: string; trustedDomain: string[] }, command: Command) => {
      const created = await context.withDatabase((connection) =>
        inTransaction(connection, async (em) => {
          const webhookSecrets = await webhookSecretsOf(context, em);
          const { project: row, keys } = await createProject(em, name, context.keyMark());
          if (webhookSecrets !== PLAIN_WEBHOOK_SECRETS) await rotateWebhookSecret(em, row.id, webhookSecrets);
          for (const domain of trustedDomain) await trustDomain(em, row.id, domain);
          return { id: row.id, name: row.name, ...keys, domains: await listDomainNames(em, row.id) };
        }),
      );
      const text = formatFields({
        Project: created.name,
        Id: created.id,
        'Public key': created.publicKey,
        'Secret key': created.secretKey,
        Domains: created.domains.join(', ') || 'none',
      });
      const unsigned = created.domains.length > 0 ? `\n${UNSIGNED}` : '';
      context.answer(command, created, `${text}\n${SHOWN_ONCE}${unsigned}`);
    });
}

function addList(project: Command, context: CliContext): void {
  addCommand(project, 'list', 'List all projects, oldest first', 'reads').action(
    async (_options: object, command: Command) => {
      const views = await context.withDatabase(async (em) => {
        const result: ProjectView[] = [];
        for (const row of await listProjects(em)) result.push(await viewProject(em, row));
        return result;
      });
      const rows = views.map((view) => [
        view.id,
        view.name,
        view.disabled ? 'disabled' : 'enabled',
        view.tracking,
        view.domains.join(', '),
      ]);
      const text =
        rows.length === 0
          ? 'There are no projects.'
          : formatTable(['ID', 'NAME', 'STATE', 'TRACKING', 'DOMAINS'], rows);
      context.answer(command, views, text);
    },
  );
}

function addSettings(project: Command, context: CliContext): void {
  addCommand(project, 'enable <id>', 'Let a disabled project be used again').action(
    (id: string, _options: object, command: Command) => changeSettings(context, command, id, { disabled: false }),
  );
  addCommand(project, 'disable <id>', 'Refuse every request of a project').action(
    (id: string, _options: object, command: Command) => changeSettings(context, command, id, { disabled: true }),
  );

  addCommand(project, 'rename <id> <name>', 'Give a project another name').action(
    (id: string, name: string, _options: object, command: Command) =>
      changeSettings(context, command, id, { name: parseName(name) }),
  );

  addPoolOptions(addDoubleOptInOptions(addCommand(project, 'set <id>', 'Change settings of a project')))
    .addOption(
      new Option('--tracking <mode>', `opens and links are tracked: ${TRACKING_MODES.join(', ')}`).argParser(
        parseWord(TRACKING_MODES),
      ),
    )
    .option(
      '--client-addresses <how>',
      `what the record of consent keeps of the addresses of clients: ${CLIENT_ADDRESSES.join(', ')}`,
      parseWord(CLIENT_ADDRESSES),
    )
    .option(
      '--emails-per-second <number>',
      'sending speed; 0 = unlimited, "default" = that of the instance',
      parseSpeed,
    )
    .option('--track-accepts-secret-key', 'POST /v1/track takes the secret key, too, for libraries that hold one key')
    .option('--no-track-accepts-secret-key', 'POST /v1/track takes the public key only')
    .option('--public-key-fields <names>', 'data that the public key stores on contacts: a,b; "" = none; "all"')
    .option('--public-key-subscribed', '`subscribed` of a request with the public key is followed')
    .option('--no-public-key-subscribed', 'it is ignored')
    .option('--public-key-resubscribe', 'the public key may subscribe again who has opted out')
    .option('--no-public-key-resubscribe', 'it may not')
    .option('--data-targets', 'contact data and events may name the host a step calls and the address it writes to')
    .option('--no-data-targets', 'they may not')
    .option('--display-name <name>', 'what recipients see as the sender on pages and in footers; "" = the name')
    .option('--postal-address <text>', 'the address in the footer of MARKETING email; "" = none')
    .option('--logo-url <url>', 'an https:// picture above footer and pages; "" = none')
    .option('--brand-color <color>', 'the colour of buttons and links on pages, such as "#0f766e"; "" = none')
    .option('--language <code>', `for recipients whose own is not known: ${LANGUAGES.join(', ')}; "" = en`)
    .action((id: string, options: SetOptions, command: Command) => {
      const { tracking, clientAddresses, emailsPerSecond, trackAcceptsSecretKey } = options;
      const settings: ProjectSettings = {
        ...readBrandSettings(options),
        ...(tracking !== undefined && { tracking }),
        ...(clientAddresses !== undefined && { clientAddresses }),
        ...(trackAcceptsSecretKey !== undefined && { trackAcceptsSecretKey }),
        ...(emailsPerSecond !== undefined && {
          emailsPerSecond: emailsPerSecond === DEFAULT_SPEED ? null : emailsPerSecond,
        }),
      };
      const isEmpty = Object.keys(settings).length === 0 && changedPools(options, null) === undefined;
      if (isEmpty && !changedRules(options, null) && !changedDoubleOptIn(options, null))
        throw badRequest('Nothing to set: `everpost project set --help` lists the settings');
      return changeSettings(context, command, id, (before) => {
        const publicKeyRules = changedRules(options, before.publicKeyRules ?? null);
        const doubleOptIn = changedDoubleOptIn(options, before.doubleOptIn ?? null);
        const pools = changedPools(options, before.pools ?? null);
        return {
          ...settings,
          ...(publicKeyRules && { publicKeyRules }),
          ...(doubleOptIn && { doubleOptIn }),
          ...(pools !== undefined && { pools }),
        };
      });
    });
}

function addDelete(project: Command, context: CliContext): void {
  addCommand(project, 'delete <id>', 'Delete a project and all its data; this cannot be undone')
    .option('--yes <name>', 'the name of the project, to confirm')
    .action(async (id: string, { yes }: { yes?: string }, command: Command) => {
      const deleted = await context.withTemporal((client) =>
        context.withDatabase(async (em) => {
          const { id: projectId, name } = await findProject(em, parseProjectId(id));
          if (yes !== name) {
            throw badRequest(
              `This deletes contacts, emails, campaigns, workflows and all other data of ${name} permanently`,
              { suggestion: `To do it, repeat the command with --yes ${JSON.stringify(name)}` },
            );
          }
          // Without Temporal the workflows could not be terminated, so nothing is deleted.
          await checkTemporal(client);
          const rows = await deleteProject(em, projectId, () => endWorkflowsOf(client, projectId));
          return { id: projectId, name, rows };
        }),
      );
      context.answer(command, deleted, `Deleted ${deleted.name} with ${deleted.rows} records.`);
    });
}

function addKeys(project: Command, context: CliContext): void {
  addCommand(project, 'keys <id>', 'Print the public key of the project', { writesWith: 'rotate' })
    .option('--rotate', 'replace the two keys that come with the project; the old ones stop working at once')
    .action(async (id: string, { rotate }: { rotate?: boolean }, command: Command) => {
      if (!rotate) {
        const row = await context.withDatabase((em) => findProject(em, parseProjectId(id)));
        const shown = { id: row.id, name: row.name, publicKey: row.publicKey };
        const text = formatFields({ Project: row.name, 'Public key': row.publicKey });
        context.answer(command, shown, `${text}\nWith --rotate both keys are replaced at once.`);
        return;
      }
      const rotated = await context.withDatabase(async (em) => {
        const { project: row, keys } = await rotateProjectKeys(em, parseProjectId(id), context.keyMark());
        return { id: row.id, name: row.name, ...keys };
      });
      const text = formatFields({
        Project: rotated.name,
        'Public key': rotated.publicKey,
        'Secret key': rotated.secretKey,
      });
      context.answer(command, rotated, `${text}\n${SHOWN_ONCE}`);
    });

  addCommand(project, 'webhook-secret <id>', 'Print the key that signs webhooks', { writesWith: 'rotate' })
    .option('--rotate', 'replace it first; receivers need the new one at once')
    .action(async (id: string, { rotate }: { rotate?: boolean }, command: Command) => {
      const result = await context.withDatabase(async (em) => {
        const projectId = parseProjectId(id);
        const readSecret = rotate ? rotateWebhookSecret : readWebhookSecret;
        const webhookSecrets = await webhookSecretsOf(context, em);
        return { id: projectId, webhookSecret: await readSecret(em, projectId, webhookSecrets) };
      });
      context.answer(command, result, result.webhookSecret);
    });
}
