import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { ConfigError, type Config } from '../../shared/platform/config.ts';
import type { Logger } from '../../shared/platform/logger.ts';

/** A private key and the chain of certificates for it, in PEM. */
export interface TlsIdentity {
  key: Buffer;
  cert: Buffer;
}

export interface InboundTls {
  /** The last usable pair. */
  readonly identity: TlsIdentity;
  /** Returns the identity if the files have changed. Reads them at most every `reloadMs`, and never throws. */
  renewed: () => Promise<TlsIdentity | undefined>;
}

export interface InboundTlsOptions {
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

async function load({ key: keyFile, cert: certFile }: InboundTlsOptions['files']): Promise<TlsIdentity> {
  const key = await readOrFail('INBOUND_TLS_KEY_FILE', keyFile);
  const cert = await readOrFail('INBOUND_TLS_CERT_FILE', certFile);
  try {
    createSecureContext({ cert });
  } catch {
    throw new ConfigError(`INBOUND_TLS_CERT_FILE: ${certFile} holds no certificate in PEM`);
  }
  try {
    createSecureContext({ key });
  } catch {
    throw new ConfigError(`INBOUND_TLS_KEY_FILE: ${keyFile} holds no private key in PEM without a passphrase`);
  }
  try {
    createSecureContext({ key, cert });
  } catch {
    throw new ConfigError(`INBOUND_TLS_KEY_FILE: ${keyFile} is not the key of the certificate in ${certFile}`);
  }
  return { key, cert };
}

/** A text that changes when a file is rewritten or replaced; empty while the file is missing. */
async function versionOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : '';
}

/** The paths of key and certificate; undefined when STARTTLS is not configured. */
export function tlsFilesOf(config: Config): InboundTlsOptions['files'] | undefined {
  const { INBOUND_TLS_KEY_FILE: key, INBOUND_TLS_CERT_FILE: cert } = config;
  return key === undefined || cert === undefined ? undefined : { key, cert };
}

/**
 * Reads key and certificate, and reads them again when they have changed, so that a renewal needs no restart. If the
 * new files cannot be used, for example because only one of them is replaced yet, the old identity stays.
 * @throws ConfigError when they cannot be used at the start
 */
export async function openInboundTls(options: InboundTlsOptions): Promise<InboundTls> {
  const { files, logger, reloadMs = RELOAD_MS } = options;
  const versions = async () => (await Promise.all([versionOf(files.key), versionOf(files.cert)])).join('\n');
  let seen = await versions();
  let identity = await load(files);
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
        identity = await load(files);
      } catch (error) {
        const { message } = error as Error;
        if (message !== loggedFault) logger.error({ reason: message }, 'the new TLS identity cannot be used');
        loggedFault = message;
        return undefined;
      }
      seen = current;
      loggedFault = '';
      logger.info('the TLS identity for inbound mail was renewed');
      return identity;
    },
  };
}
