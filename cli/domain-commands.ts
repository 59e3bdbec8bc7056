import type { Command } from 'commander';
import { checkSenderDomain, recordSourceOf } from '../shared/domain/domains/domain-checks.ts';
import { domainRecords, type DnsRecord } from '../shared/domain/domains/dns-records.ts';
import { toDomainName } from '../shared/domain/domains/domain-name.ts';
import type { SenderDomain } from '../shared/domain/domains/sender-domain.entity.ts';
import {
  createSenderDomain,
  findDomainByName,
  listSenderDomains,
  trustDomain,
  untrustDomain,
  withKey,
} from '../shared/domain/domains/sender-domains.ts';
import type { Em } from '../shared/database/sql.ts';
import { createDnsResolver } from '../shared/platform/dns/resolver.ts';
import { createDkimKeyring, type DkimKeyring } from '../shared/sending/compose/dkim/key-pair.ts';
import { badRequest } from '../shared/pure/app-error.ts';
import { addCommand, type CliContext } from './context.ts';
import { inProject, parseProjectId } from './project-id.ts';
import { formatTable } from './text-output.ts';

interface DomainView {
  id: string;
  projectId: string;
  domain: string;
  verified: boolean;
  /** Whether its email is signed with DKIM; a trusted domain sends unsigned until DNS verifies it. */
  signed: boolean;
  /** Missing while the domain has no key. */
  records?: DnsRecord[];
}

const NO_SECRET = 'APP_SECRET is required and must be that of the API: the DKIM key is sealed with it';

function keyringOf(context: CliContext): DkimKeyring | undefined {
  const secrets = context.appSecrets();
  return secrets && createDkimKeyring(secrets.appSecret, secrets.previousSecrets);
}

function requireKeyring(context: CliContext): DkimKeyring {
  const keyring = keyringOf(context);
  if (!keyring) throw badRequest(NO_SECRET);
  return keyring;
}

/** A domain with its DNS records. The records are left out when the environment has no secret to seal its key with. */
async function viewDomain(em: Em, context: CliContext, row: SenderDomain): Promise<DomainView> {
  const keyring = keyringOf(context);
  const { id, projectId, domain, verified, dnsVerified: signed } = row;
  const view = { id, projectId, domain, verified, signed };
  if (!keyring) return view;
  return { ...view, records: domainRecords(recordSourceOf(await withKey(em, keyring, row), context.inboundDomain())) };
}

function stateText({ verified, signed }: Pick<DomainView, 'verified' | 'signed'>): string {
  if (!verified) return 'is pending';
  return signed ? 'may send' : 'is trusted and sends unsigned, until the required records are published';
}

function recordsText(records: DnsRecord[] | undefined): string {
  if (!records) return NO_SECRET;
  const rows = records.map(({ type, name, value, required }) => [type, name, required ? 'required' : '', value]);
  return formatTable(['TYPE', 'NAME', '', 'VALUE'], rows);
}

function readDomainName(text: string): string {
  const name = toDomainName(text);
  if (name === undefined) throw badRequest(`"${text}" is not a domain name such as mail.example.com`);
  return name;
}

function addTrust(domain: Command, context: CliContext): void {
  addCommand(domain, 'trust <projectId> <domain>', 'Let a domain send without DNS; for tests').action(
    async (id: string, name: string, _options: object, command: Command) => {
      const trusted = await context.withDatabase(async (em) =>
        viewDomain(em, context, await trustDomain(em, parseProjectId(id), name)),
      );
      const text = `${trusted.domain} may now send for project ${trusted.projectId}.
Its email goes unsigned until these records are published and \`everpost domain verify\` has found them:
${recordsText(trusted.records)}`;
      context.answer(command, trusted, text);
    },
  );

  addCommand(domain, 'untrust <projectId> <domain>', 'Let a domain send only once DNS verifies it').action(
    async (id: string, name: string, _options: object, command: Command) => {
      const row = await context.withDatabase((em) => untrustDomain(em, parseProjectId(id), readDomainName(name)));
      const result = { id: row.id, projectId: row.projectId, domain: row.domain, verified: row.verified };
      const state = row.verified ? 'DNS has verified it: it goes on sending' : 'it sends again once DNS verifies it';
      context.answer(command, result, `${row.domain} is no longer trusted; ${state}.`);
    },
  );
}

/** `domain list | add | verify | trust | untrust`. */
export function addDomainCommands(program: Command, context: CliContext): void {
  const domain = program.command('domain').description('Sender domains');

  addCommand(domain, 'list <projectId>', 'List the domains of a project and the records of each', 'reads').action(
    async (id: string, _options: object, command: Command) => {
      const views = await inProject(context, id, async (em, projectId) => {
        const list: DomainView[] = [];
        for (const row of await listSenderDomains(em, projectId)) list.push(await viewDomain(em, context, row));
        return list;
      });
      const texts = views.map((view) => `${view.domain} ${stateText(view)}\n${recordsText(view.records)}`);
      context.answer(command, views, texts.join('\n\n') || 'There are no domains.');
    },
  );

  addCommand(domain, 'add <projectId> <domain>', 'Add a domain and print the DNS records to publish').action(
    async (id: string, name: string, _options: object, command: Command) => {
      const keyring = requireKeyring(context);
      const inboundDomain = context.inboundDomain();
      const added = await inProject(context, id, async (em, projectId) => {
        const input = { projectId, domain: readDomainName(name), returnPath: inboundDomain !== undefined };
        return viewDomain(em, context, await createSenderDomain(em, keyring, input));
      });
      context.answer(
        command,
        added,
        `Publish these records, then run \`everpost domain verify\`:\n${recordsText(added.records)}`,
      );
    },
  );

  addCommand(domain, 'verify <projectId> <domain>', 'Check the DNS records of a domain now').action(
    async (id: string, name: string, _options: object, command: Command) => {
      const keyring = requireKeyring(context);
      const resolver = createDnsResolver({ servers: context.dnsServers() });
      const result = await context.withDatabase(async (em) => {
        const row = await findDomainByName(em, parseProjectId(id), readDomainName(name));
        const check = await checkSenderDomain(em, { resolver, keyring, inboundDomain: context.inboundDomain() }, row);
        const view = await viewDomain(em, context, check?.domain ?? row);
        return { ...view, outcome: check?.outcome ?? 'unanswered', found: check?.domain.recordsFound ?? [] };
      });
      const found = result.found.join(', ') || 'none';
      context.answer(
        command,
        result,
        `${result.domain} ${stateText(result)}. Records found: ${found}.\n${recordsText(result.records)}`,
      );
    },
  );

  addTrust(domain, context);
}
