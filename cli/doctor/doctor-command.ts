import { lookup } from 'node:dns/promises';
import type { Command } from 'commander';
import { findKnownNamespace } from '../../shared/domain/lifecycle/known-namespace.ts';
import { ConfigError } from '../../shared/platform/config.ts';
import { createDnsResolver } from '../../shared/platform/dns/resolver.ts';
import { appSecretsOf } from '../../shared/platform/sealed-values.ts';
import { parseSmtpUrl } from '../../shared/sending/transport/smtp-url.ts';
import { isMxUrl } from '../../shared/sending/transport/mx-url.ts';
import { addCommand, type CliContext } from '../context.ts';
import { configProbe, readWhatIsUsable, type ReadConfig } from './config-probe.ts';
import { databaseProbe } from './database-probe.ts';
import { findingsAbout, type Finding, type Level, type Probe } from './finding.ts';
import { inboundProbe } from './inbound-probe.ts';
import { mxProbe, sourceAddresses } from './mx-probe.ts';
import { publicUrlProbe } from './public-url-probe.ts';
import { isPublicAddress, relayProbe } from './relay-probe.ts';
import { runProbes } from './run-probes.ts';
import { temporalProbe } from './temporal-probe.ts';

const DNS_TIMEOUT_MS = 3_000;

/** The public addresses of relays, as far as their names resolve. */
async function relayAddresses(urls: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    urls.map(async (url) => {
      try {
        if (isMxUrl(url)) return sourceAddresses(url);
        return (await lookup(parseSmtpUrl(url).host, { all: true })).map(({ address }) => address);
      } catch {
        return [];
      }
    }),
  );
  return found.flat().filter(isPublicAddress);
}

function temporalProbeOf(context: CliContext): Probe {
  try {
    return temporalProbe(context.temporalOptions(), () => context.withDatabase(findKnownNamespace));
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    const finding = findingsAbout('Temporal').fail(words, 'Correct the variables that begin with TEMPORAL_.');
    return { area: 'Temporal', run: () => Promise.resolve([finding]) };
  }
}

function probesOf(context: CliContext, read: ReadConfig, portHost: string | undefined): Probe[] {
  const { config, isFaulty } = read;
  const resolver = createDnsResolver({ servers: config.DNS_SERVERS, timeoutMs: DNS_TIMEOUT_MS });
  const { SMTP_URL: relays } = config;
  const mxUrls = relays.filter(isMxUrl);
  const relayProbes = relays.filter((url) => !isMxUrl(url)).map((url) => relayProbe(url, resolver, config));
  if (mxUrls.length > 0) relayProbes.push(mxProbe(mxUrls, resolver, config, portHost));
  const noRelay: Probe = {
    area: 'relay',
    run: () =>
      Promise.resolve([
        findingsAbout('relay').fail(
          'SMTP_URL names no relay, so workers do not start',
          'Set it, for example smtp://relay.example:587.',
        ),
      ]),
  };
  return [
    configProbe(read),
    ...(isFaulty('DATABASE_URL')
      ? []
      : [
          databaseProbe({
            databaseUrl: config.DATABASE_URL,
            poolSize: config.DATABASE_POOL_SIZE,
            secrets: isFaulty('APP_SECRET') ? undefined : appSecretsOf(config),
            inboundDomain: config.INBOUND_DOMAIN,
            shapingFile: config.SHAPING_FILE,
            tlsReportFrom: config.TLS_REPORT_FROM,
          }),
        ]),
    temporalProbeOf(context),
    ...(relays.length > 0 || isFaulty('SMTP_URL') ? relayProbes : [noRelay]),
    inboundProbe(config.INBOUND_DOMAIN, resolver, () => relayAddresses(relays)),
    ...(isFaulty('PUBLIC_URL') ? [] : [publicUrlProbe(config)]),
  ];
}

function lineOf({ level, area, message, action }: Finding): string {
  const line = `${level.padEnd(4)}  ${area}: ${message}`;
  return action === undefined ? line : `${line}\n      → ${action}`;
}

/** `doctor`: checks everything that Everpost depends on, and changes nothing. */
export function addDoctorCommand(program: Command, context: CliContext): void {
  addCommand(
    program,
    'doctor',
    'Look at configuration, database, Temporal, relays and DNS, and say what to do',
    'reads',
  )
    .option('--port-25 <host>', 'also connect from each source of mx:// to port 25 of this host')
    .action(async ({ port25 }: { port25?: string }, command: Command) => {
      const checks = await runProbes(probesOf(context, readWhatIsUsable(context.environment()), port25));
      const count = (level: Level) => checks.filter((finding) => finding.level === level).length;
      const counts = { ok: count('ok'), warn: count('warn'), fail: count('fail') };
      const summary = `${counts.ok} ok, ${counts.warn} to look at, ${counts.fail} failed`;
      context.answer(command, { checks, ...counts }, [...checks.map(lineOf), '', summary].join('\n'));
      if (counts.fail > 0) throw new ConfigError(`${counts.fail} of ${checks.length} checks failed.`);
    });
}
