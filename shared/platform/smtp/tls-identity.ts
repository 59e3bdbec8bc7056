import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { ConfigError, type Config } from '../config.ts';
import type { Logger } from '../logger.ts';

/** A private key and the chain of certificates for it, in PEM. */
interface TlsIdentity {
  key: Buffer;
  cert: Buffer;
}

export interface ReloadedTls {
  /** The last usable pair. */
  readonly identity: TlsIdentity;
  /** Returns the identity if the files have changed. Reads them at most every `reloadMs`, and never throws. */
  renewed: () => Promise<TlsIdentity | undefined>;
}

/** The listeners that have key and certificate of their own. */
type Listener = 'INBOUND' | 'SUBMISSION';

export interface TlsOptions {
  /** Whose variables name the files. */
  listener: Listener;
  files: { key: string; cert: string };
  logger: Logger;
  /** The shortest time between two checks of the files, in milliseconds. */
  reloadMs?: number;
}

const RELOAD_MS = 10_000;

async function readOrFail(variable: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new ConfigError(`${variable}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
}

async function load({ listener, files: { key: keyFile, cert: certFile } }: TlsOptions): Promise<TlsIdentity> {
  const keyVariable = `${listener}_TLS_KEY_FILE`;
  const certVariable = `${listener}_TLS_CERT_FILE`;
  const key = await readOrFail(keyVariable, keyFile);
  const cert = await readOrFail(certVariable, certFile);
  try {
    createSecureContext({ cert });
  } catch {
    throw new ConfigError(`${certVariable}: ${certFile} holds no certificate in PEM`);
  }
  try {
    createSecureContext({ key });
  } catch {
    throw new ConfigError(`${keyVariable}: ${keyFile} holds no private key in PEM without a passphrase`);
  }
  try {
    createSecureContext({ key, cert });
  } catch {
    throw new ConfigError(`${keyVariable}: ${keyFile} is not the key of the certificate in ${certFile}`);
  }
  return { key, cert };
}

/** A text that changes when a file is rewritten or replaced; empty while the file is missing. */
async function versionOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : '';
}

/** The paths of key and certificate; undefined when TLS is not configured. */
export function tlsFilesOf(config: Config, listener: Listener): TlsOptions['files'] | undefined {
  const { [`${listener}_TLS_KEY_FILE` as const]: key, [`${listener}_TLS_CERT_FILE` as const]: cert } = config;
  return key === undefined || cert === undefined ? undefined : { key, cert };
}

/**
 * Reads key and certificate, and reads them again when they have changed, so that a renewal needs no restart. If the
 * new files cannot be used, for example because only one of them is replaced yet, the old identity stays.
 * @throws ConfigError when they cannot be used at the start
 */
export async function openTls(options: TlsOptions): Promise<ReloadedTls> {
  const { files, logger, reloadMs = RELOAD_MS } = options;
  const versions = async () => (await Promise.all([versionOf(files.key), versionOf(files.cert)])).join('\n');
  let seen = await versions();
  let identity = await load(options);
  let nextCheckAt = Date.now() + reloadMs;
  let loggedFault = '';

  return {
    get identity() {
      return identity;
    },
    async renewed() {
      if (Date.now() < nextCheckAt) return undefined;
      nextCheckAt = Date.now() + reloadMs;
      const current = await versions();
      if (current === seen) return undefined;
      try {
        identity = await load(options);
      } catch (error) {
        const { message } = error as Error;
        if (message !== loggedFault) logger.error({ reason: message }, 'the new TLS identity cannot be used');
        loggedFault = message;
        return undefined;
      }
      seen = current;
      loggedFault = '';
      logger.info({ listener: options.listener }, 'the TLS identity was renewed');
      return identity;
    },
  };
}
