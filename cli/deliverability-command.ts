import { InvalidArgumentError, type Command } from 'commander';
import { readDeliverability, type DeliverabilityQuery } from '../shared/domain/emails/deliverability.ts';
import { createDnsResolver } from '../shared/platform/dns/resolver.ts';
import { createProviderFinder } from '../shared/sending/verdict/mx-provider.ts';
import { percentOf } from '../shared/pure/deliverability.ts';
import { LIMITS } from '../shared/pure/limits.ts';
import { addCommand, type CliContext } from './context.ts';
import { formatTable } from './text-output.ts';

const DAYS_DEFAULT = 7;

function parseDays(text: string): number {
  const days = Number(text);
  if (Number.isInteger(days) && days >= 1 && days <= LIMITS.deliverabilityDays) return days;
  throw new InvalidArgumentError(`must be 1 to ${LIMITS.deliverabilityDays}`);
}

function textOf({ results }: Awaited<ReturnType<typeof readDeliverability>>): string {
  if (results.length === 0) return 'No provider has answered in this time.';
  const rows = results.map(({ source, provider, totals }) => {
    const { offered = 0, accepted = 0, complaints = 0, deliveryMs = 0 } = totals;
    const { deferredSpeed = 0, deferredReputation = 0, deferredOther = 0 } = totals;
    const { refusedMailbox = 0, refusedReputation = 0, refusedOther = 0 } = totals;
    const percents = [
      deferredSpeed,
      deferredReputation,
      deferredOther,
      refusedMailbox,
      refusedReputation,
      refusedOther,
    ].map((count) => (count === 0 ? '' : `${percentOf(count, offered)} %`));
    const seconds = accepted === 0 ? '' : `${Math.round(deliveryMs / accepted / 1_000)} s`;
    return [source ?? '', provider, String(offered), String(accepted), ...percents, String(complaints), seconds];
  });
  const deferred = ['TOO FAST', 'REPUTATION', 'LATER'];
  const head = ['SOURCE', 'PROVIDER', 'OFFERED', 'ACCEPTED', ...deferred, 'NO MAILBOX', 'BLOCKED', 'REFUSED'];
  const sentences = results.flatMap(({ signs }) => signs.map(({ sentence }) => `${sentence}.`));
  const setbacks = results.flatMap(({ source, provider, warmUpReason }) =>
    warmUpReason === null ? [] : [`Warm-up of ${source} at ${provider}: ${warmUpReason}.`],
  );
  return [formatTable([...head, 'COMPLAINTS', 'TIME'], rows), ...sentences, ...setbacks].join('\n');
}

/** `deliverability`: what providers make of our mail, over all projects. */
export function addDeliverabilityCommand(program: Command, context: CliContext): void {
  addCommand(program, 'deliverability', 'Show what providers make of our mail: deferred, refused, complaints', 'reads')
    .option('--days <number>', 'the latest days in UTC, with today', parseDays, DAYS_DEFAULT)
    .option('--provider <name>', 'one provider only, also by a domain of its people')
    .option('--source <name>', 'one source only')
    .action(async (asked: DeliverabilityQuery, command: Command) => {
      const providerOf = createProviderFinder(createDnsResolver({ servers: context.dnsServers() }), () => false);
      const answer = await context.withDatabase((em) => readDeliverability(em, asked, providerOf));
      context.answer(command, answer, textOf(answer));
    });
}
