import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { agentOf, type RequestFacts } from '../../shared/pure/engagement/machine-judge.ts';
import {
  HOSTING_NETWORKS,
  SCANNER_NETWORKS,
  type EngagementKind,
  type MachineNetwork,
} from '../../shared/pure/engagement/machine-tables.ts';
import { addressOfClient, createNetworkTest } from '../../shared/platform/client-address.ts';

/** User agents and clients whose place in the tables is remembered. */
const REMEMBERED_MAX = 10_000;
/** Longer user agents are cut. */
const AGENT_LENGTH_MAX = 400;

/** The headers in which a browser says that it loads something ahead. */
const PURPOSES = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const;

type Remembered<Key extends keyof RequestFacts> = Record<EngagementKind, RequestFacts[Key]>;

const agents = new LRUCache<string, Remembered<'agent'>>({ max: REMEMBERED_MAX });
const networks = new LRUCache<string, Remembered<'network'>>({ max: REMEMBERED_MAX });

const testOf = (kind: EngagementKind, table: readonly MachineNetwork[]) =>
  createNetworkTest(table.flatMap(({ only = kind, ranges }) => (only === kind ? ranges.split(' ') : [])));
const isScanner = { open: testOf('open', SCANNER_NETWORKS), click: testOf('click', SCANNER_NETWORKS) };
const isHosting = testOf('click', HOSTING_NETWORKS);

function remember<Key extends keyof RequestFacts>(
  cache: LRUCache<string, Remembered<Key>>,
  text: string,
  find: (kind: EngagementKind) => RequestFacts[Key],
): Remembered<Key> {
  let found = cache.get(text);
  if (!found) cache.set(text, (found = { open: find('open'), click: find('click') }));
  return found;
}

/** The user agent of a request, cut to what the tables read. */
export function userAgentOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  return (headers['user-agent'] ?? '').slice(0, AGENT_LENGTH_MAX);
}

/** What a request for an image or a link shows of its client. @param client the key of its address (`clientOf`) */
export function factsOf(
  { headers, method = '' }: Pick<IncomingMessage, 'headers' | 'method'>,
  client: string,
  kind: EngagementKind,
): RequestFacts {
  const userAgent = userAgentOf({ headers });
  return {
    kind,
    method,
    hasLanguage: headers['accept-language'] !== undefined,
    purpose: PURPOSES.map((name) => headers[name] ?? '').join(' '),
    agent: remember(agents, userAgent, (of) => agentOf(userAgent, of))[kind],
    network: remember(networks, client, (of) => {
      const address = addressOfClient(client);
      if (isScanner[of](address)) return 'scanner';
      return isHosting(address) ? 'hosting' : undefined;
    })[kind],
  };
}
