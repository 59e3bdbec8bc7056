import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { DAY_MS } from '../../shared/pure/days.ts';
import { inspectConfig, type Config, type ConfigFault } from '../../shared/platform/config.ts';
import { findingsAbout, type Finding, type Probe } from './finding.ts';

const AREA = 'configuration';
const { ok, fail } = findingsAbout(AREA);
const CERTIFICATE_DAYS_MIN = 14;
/** The first version of Node.js that runs TypeScript without a flag. */
const NODE_MIN = [22, 18] as const;
/** Placeholders for required variables, so that the others can be read. They are never used. */
const STAND_INS = { DATABASE_URL: 'postgres://none', APP_SECRET: '-'.repeat(32) };

export interface ReadConfig {
  /** The readable values; faulty variables have their defaults. */
  config: Config;
  faults: ConfigFault[];
  isFaulty: (variable: string) => boolean;
}

/** Reads as much of the configuration as possible, so that one wrong variable does not hide everything else. */
export function readWhatIsUsable(environment: NodeJS.ProcessEnv): ReadConfig {
  const faults: ConfigFault[] = [];
  let usable = environment;
  for (;;) {
    const inspected = inspectConfig(usable);
    if ('config' in inspected) {
      const names = new Set(faults.map(({ variable }) => variable));
      return { config: inspected.config, faults, isFaulty: (variable) => names.has(variable) };
    }
    faults.push(...inspected.faults);
    const wrong = new Set(inspected.faults.flatMap(({ variable }) => [variable, variable.split('.')[0] ?? '']));
    // Half of a pair is useless without the other half, so both are left out.
    const others = Object.entries(usable).filter(([name]) => !wrong.has(name) && !isHalfOf(name, wrong));
    usable = { ...Object.fromEntries(others), ...standInsFor(wrong) };
  }
}

function isHalfOf(name: string, wrong: ReadonlySet<string>): boolean {
  return (
    (name.startsWith('INBOUND_TLS_') && [...wrong].some((other) => other.startsWith('INBOUND_TLS_'))) ||
    (name.startsWith('INBOUND_PROXY_') && [...wrong].some((other) => other.startsWith('INBOUND_PROXY_')))
  );
}

function standInsFor(wrong: ReadonlySet<string>): Partial<typeof STAND_INS> {
  return Object.fromEntries(Object.entries(STAND_INS).filter(([name]) => wrong.has(name)));
}

function nodeFinding(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isRecent = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  if (isRecent) return ok(`Node.js ${process.versions.node}`);
  return fail(`Node.js is ${process.versions.node}`, `Install Node.js ${NODE_MIN.join('.')} or newer.`);
}

async function certificateFinding(file: string): Promise<Finding> {
  const { ok, warn, fail } = findingsAbout('inbound TLS');
  try {
    const days = Math.floor((new X509Certificate(await readFile(file)).validToDate.getTime() - Date.now()) / DAY_MS);
    if (days < 0) return fail('the certificate for STARTTLS has expired', 'Renew INBOUND_TLS_CERT_FILE.');
    if (days < CERTIFICATE_DAYS_MIN) {
      return warn(`the certificate for STARTTLS expires in ${days} days`, 'Renew INBOUND_TLS_CERT_FILE.');
    }
    return ok(`the certificate for STARTTLS is valid for ${days} more days`);
  } catch {
    return fail(
      'the certificate for STARTTLS cannot be read',
      'INBOUND_TLS_CERT_FILE must name a readable file in PEM.',
    );
  }
}

/** A message as the predicate of a sentence that begins with the variable. */
function asPredicate(message: string): string {
  return message === 'Required' ? 'is required' : message.slice(0, 1).toLowerCase() + message.slice(1);
}

/** Whether the variables can be used, the version of Node.js, and the certificate for inbound mail. */
export function configProbe({ config, faults }: ReadConfig): Probe {
  return {
    area: AREA,
    async run() {
      const findings = faults.map(({ variable, message }) =>
        fail(
          `${variable} ${asPredicate(message)}`,
          'Correct it: the API and the workers do not start with it. The README lists all variables.',
        ),
      );
      if (faults.length === 0) findings.push(ok('all variables can be used'));
      findings.push(nodeFinding());
      if (config.INBOUND_TLS_CERT_FILE !== undefined) {
        findings.push(await certificateFinding(config.INBOUND_TLS_CERT_FILE));
      }
      return findings;
    },
  };
}
