import { bulk } from '../proxies.ts';

/** Sends reports about TLS to the domains that ask for them. A schedule starts it every few hours. */
export async function tlsReports(): Promise<void> {
  await bulk.sendTlsReports();
}
