import type { Command } from 'commander';
import { badRequest } from '../shared/pure/app-error.ts';
import { dnsDomainOf } from '../shared/pure/emails/email-address.ts';
import { ANY, limitsOf, provider as providerSchema, type LimitName } from '../shared/pure/traffic-rules.ts';
import { createDnsResolver } from '../shared/platform/dns/resolver.ts';
import { readShapingFile } from '../shared/platform/shaping-file.ts';
import { query, sql, type Em } from '../shared/database/sql.ts';
import { pick, tables } from '../shared/database/tables.ts';
import { drainSource, listSources, removeSource, type KnownSource } from '../shared/domain/emails/sources.ts';
import { usedUnits, type AllowanceState } from '../shared/sending/permit/allowance.ts';
import { providersIn, rulesOf } from '../shared/sending/permit/shaping.ts';
import { createProviderFinder } from '../shared/sending/verdict/mx-provider.ts';
import { addCommand, type CliContext } from './context.ts';
import { formatTable } from './text-output.ts';

/** A source, and whether workers have it where that is known. */
type ShownSource = KnownSource & { isInUse?: boolean };

function stateOf({ drainedAt, isInUse = true }: ShownSource): string {
  if (drainedAt) return 'drained';
  return isInUse ? 'in use' : 'gone';
}

function sourcesText(sources: readonly ShownSource[]): string {
  if (sources.length === 0) return 'No worker has told its sources yet.';
  const rows = sources.map((source) => {
    const { name, kind, pool, relay, seenAt } = source;
    return [name, kind, pool, relay, stateOf(source), seenAt.toISOString()];
  });
  return formatTable(['SOURCE', 'KIND', 'POOL', 'SERVER', 'STATE', 'LAST SEEN'], rows);
}

/** `source list | drain | resume | remove`. */
export function addSourceCommands(program: Command, context: CliContext): void {
  const source = program.command('source').description('The ways out for mail: relays and addresses of SMTP_URL');
  addCommand(source, 'list', 'List the sources that workers have, and their pools', 'reads').action(
    async (_options: object, command: Command) => {
      const sources = await context.withDatabase(listSources);
      context.answer(command, sources, sourcesText(sources));
    },
  );
  const change = (name: string, text: string, work: (em: Em, source: string) => Promise<KnownSource>): void => {
    addCommand(source, `${name} <source>`, text).action(async (named: string, _options: object, command: Command) => {
      const changed = await context.withDatabase((em) => work(em, named));
      const text = name === 'remove' ? `Source ${named} is forgotten.` : sourcesText([changed]);
      context.answer(command, changed, text);
    });
  };
  change(
    'drain',
    'Let a source carry no more mail; what waits goes over the others of its pool, or waits',
    (em, name) => drainSource(em, name, true),
  );
  change('resume', 'Let a drained source carry mail again', (em, name) => drainSource(em, name, false));
  change('remove', 'Forget a source that is no longer in SMTP_URL', removeSource);
}

interface ShownLimit {
  source: string;
  limit: LimitName;
  value: number;
  /** What counts at the limit now; null where nobody counts it. */
  used: number | null;
  isUsedUp: boolean;
  rule: string;
  because: string | null;
}

function usedOf(state: AllowanceState | undefined, limit: LimitName): number | null {
  if (limit === 'messagesPerConnection') return null;
  if (!state) return 0;
  const nowMs = Date.now();
  const shares = Object.values(state.shares).filter(({ untilMs }) => untilMs > nowMs);
  if (limit === 'connections') return shares.reduce((sum, { connections }) => sum + connections, 0);
  if (limit === 'perSecond') return shares.reduce((sum, { perSecond }) => sum + perSecond, 0);
  return usedUnits(state, limit, nowMs);
}

/** `shaping show`. */
export function addShapingCommands(program: Command, context: CliContext): void {
  const shaping = program.command('shaping').description('Traffic rules: what each source may send to a provider');
  addCommand(
    shaping,
    'show <provider>',
    'Show the rules for a domain, where each comes from, and its use',
    'reads',
  ).action(async (named: string, _options: object, command: Command) => {
    const file = readShapingFile(context.environment()['SHAPING_FILE']);
    const domain = dnsDomainOf(named);
    if (domain === ANY || !providerSchema.safeParse(domain).success) {
      throw badRequest(`${named} is no domain such as gmail.com`);
    }
    const find = createProviderFinder(createDnsResolver({ servers: context.dnsServers() }), providersIn(file));
    const provider = await find(named);
    const { sources, states } = await context.withDatabase(async (em) => ({
      sources: await listSources(em),
      states: await query(
        em,
        sql`select subject, state from allowance where provider = ${provider}`,
        pick(tables.allowance, 'subject', 'state'),
      ),
    }));
    const limits = sources.flatMap(({ name, kind }): ShownLimit[] => {
      const effective = limitsOf(rulesOf(file, kind === 'mx' ? 'mx' : 'relay'), name, provider);
      const state = states.find(({ subject }) => subject === name)?.state;
      return Object.entries(effective).map(([limit, { value, rule }]) => {
        const used = usedOf(state, limit as LimitName);
        return {
          source: name,
          limit: limit as LimitName,
          value,
          used,
          isUsedUp: used !== null && used >= value,
          rule: `${rule.provider} over ${rule.source === '*' ? 'any source' : rule.source}`,
          because: rule.because ?? (file.rules.includes(rule) ? 'SHAPING_FILE' : null),
        };
      });
    });
    const rows = limits.map(({ source, limit, value, used, isUsedUp, rule, because }) => [
      source,
      limit,
      String(value),
      used === null ? '' : String(used),
      isUsedUp ? 'used up' : '',
      rule,
      because ?? '',
    ]);
    const text =
      rows.length === 0
        ? `No rule limits mail to ${provider}.`
        : formatTable(['SOURCE', 'LIMIT', 'MOST', 'NOW', 'STATE', 'RULE FOR', 'WHY'], rows);
    context.answer(command, { provider, limits }, `Provider: ${provider}\n${text}`);
  });
}
