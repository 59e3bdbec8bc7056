import { ConfigError } from './config.ts';

/** System error codes for an address that a process cannot listen on. */
const FAULTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there',
  EACCES: 'this user may not listen there (ports below 1024 need a special permission)',
  EADDRNOTAVAIL: 'this machine does not have the address',
  ENOTFOUND: 'there is no such host',
};

/**
 * Turns the error of a server that cannot listen into one sentence for operators; other errors stay as they are.
 * @param variable the variable that names the port
 */
export function listenFault(error: unknown, variable: string, host: string, port: number): unknown {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  const reason = code === undefined ? undefined : FAULTS[code];
  if (reason === undefined) return error;
  return new ConfigError(`${variable}: port ${port} of ${host} cannot be used: ${reason}.`, { cause: error });
}
