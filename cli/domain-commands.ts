import type { Command } from 'commander';
import { trustDomain } from '../shared/domain/domains/sender-domains.ts';
import { addCommand, type CliContext } from './context.ts';
import { parseProjectId } from './project-id.ts';

/** `domain trust`. */
export function addDomainCommands(program: Command, context: CliContext): void {
  const domain = program.command('domain').description('Sender domains');

  addCommand(domain, 'trust <projectId> <domain>', 'Verify a sender domain without DNS').action(
    async (id: string, name: string, _options: object, command: Command) => {
      const trusted = await context.withDatabase(async (em) => {
        const row = await trustDomain(em, parseProjectId(id), name);
        return { id: row.id, projectId: row.projectId, domain: row.domain, verified: row.verified };
      });
      context.answer(command, trusted, `${trusted.domain} may now send for project ${trusted.projectId}.`);
    },
  );
}
