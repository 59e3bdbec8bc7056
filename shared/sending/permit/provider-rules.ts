import { ANY, type TrafficRule } from '../../pure/traffic-rules.ts';

/**
 * What large providers take from one address, as far as they say so or operators of large senders agree. Where sources
 * differ, the lower figure is used. `because` names the source.
 */
const DEFAULTS: readonly Omit<TrafficRule, 'source'>[] = [
  { provider: ANY, connections: 10, messagesPerConnection: 100, because: 'the default of KumoMTA (policy-extras)' },
  {
    provider: 'gmail.com',
    connections: 5,
    messagesPerConnection: 50,
    because: 'support.google.com/mail/answer/81126 (raise volume slowly, few connections); figures of KumoMTA',
  },
  {
    provider: 'outlook.com',
    connections: 5,
    messagesPerConnection: 50,
    because: 'sendersupport.olc.protection.outlook.com/pm/policies; figures of KumoMTA',
  },
  {
    provider: 'onmicrosoft.com',
    connections: 5,
    messagesPerConnection: 50,
    because: 'Exchange Online limits connections of unknown senders; figures of KumoMTA',
  },
  {
    provider: 'yahoo.com',
    connections: 10,
    messagesPerConnection: 20,
    because: 'help.yahoo.com/kb/SLN3433.html: 20 messages on a connection, connections sparingly',
  },
  {
    provider: 'icloud.com',
    connections: 10,
    messagesPerConnection: 5,
    because: 'support.apple.com/102322; figures of KumoMTA',
  },
  {
    provider: 'gmx.net',
    connections: 4,
    messagesPerConnection: 20,
    because: 'postmaster.gmx.net (limits by reputation); figures of the KumoMTA community',
  },
  {
    provider: 'comcast.net',
    connections: 25,
    messagesPerConnection: 1_000,
    because: 'spa.xfinity.com/postmaster: 25 connections at a time',
  },
  { provider: 'orange.fr', connections: 3, because: 'messagerie.orange.fr/postmaster.html: three connections' },
  { provider: 'yahoo.co.jp', connections: 2, messagesPerConnection: 20, perSecond: 10, because: 'KumoMTA community' },
  { provider: 'qq.com', connections: 4, messagesPerConnection: 8, because: 'KumoMTA community' },
  { provider: '163.com', connections: 4, messagesPerConnection: 7, because: 'KumoMTA community' },
  { provider: 'mimecast.com', connections: 10, messagesPerConnection: 100, because: 'Mimecast, by KumoMTA' },
  { provider: 'barracudanetworks.com', connections: 10, messagesPerConnection: 15, because: 'KumoMTA community' },
  { provider: 'kpnmail.nl', connections: 10, messagesPerConnection: 10, because: 'KumoMTA community' },
];

/** The built-in rules. */
export const PROVIDER_RULES: readonly TrafficRule[] = DEFAULTS.map((rule) => ({ ...rule, source: ANY }));
