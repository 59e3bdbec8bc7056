import { AFTER_SENDER } from './hard-rules.ts';
import type { RefusalRule } from './refusal-rule.ts';

/**
 * Rules for refusals whose words match nothing. They go by the enhanced status code, or by an unambiguous reply code.
 */
export const STATUS_RULES: readonly RefusalRule[] = [
  {
    id: 'recipient-denied',
    kind: 'hard',
    source: 'Microsoft 365: 5.4.1 at RCPT is directory-based edge blocking, which refuses unknown recipients',
    stages: ['rcpt', 'report'],
    enhanced: /^5\.4\.1$/,
    words: /recipient address rejected/,
  },
  {
    id: 'remote-no-recipient',
    kind: 'hard',
    source: 'Microsoft 365: 5.1.351 is an unknown recipient at the remote server, 5.4.310 a domain that does not exist',
    stages: AFTER_SENDER,
    enhanced: /^5\.(?:1\.351|4\.310)$/,
  },
  {
    id: 'sender-status',
    kind: 'sender',
    source: 'RFC 3463 section 3.2, RFC 7505, Microsoft 365 (5.1.20, 5.1.90)',
    enhanced: /^5\.1\.(?:7|8|20|90)$/,
  },
  { id: 'protocol-status', kind: 'sender', source: 'RFC 3463 section 3.6', enhanced: /^5\.5\.[1-6]$/ },
  { id: 'media-status', kind: 'sender', isFinal: true, source: 'RFC 3463 section 3.7', enhanced: /^5\.6\.\d+$/ },
  { id: 'policy-status', kind: 'sender', source: 'RFC 3463 section 3.8', enhanced: /^5\.7\.\d+$/ },
  { id: 'system-status', kind: 'temporary', source: 'RFC 3463 section 3.4', enhanced: /^5\.3\.[0-35-9]\d*$/ },
  {
    id: 'address-status',
    kind: 'hard',
    source: 'RFC 3463 section 3.2 and RFC 7505: no such mailbox or system, bad syntax, moved, null MX',
    stages: AFTER_SENDER,
    enhanced: /^5\.1\.(?:1|2|3|6|10)$/,
  },
  {
    id: 'disabled-status',
    kind: 'hard',
    source: 'RFC 3463 section 3.3',
    stages: AFTER_SENDER,
    enhanced: /^5\.2\.1$/,
  },
  {
    id: 'routing-status',
    kind: 'hard',
    source: 'RFC 3463 section 3.5',
    stages: AFTER_SENDER,
    enhanced: /^5\.4\.4$/,
  },
  { id: 'network-status', kind: 'temporary', source: 'RFC 3463 section 3.5', enhanced: /^5\.4\.\d+$/ },
  {
    id: 'null-mx-reply',
    kind: 'hard',
    source: 'RFC 7504 section 4 (556)',
    stages: AFTER_SENDER,
    code: /^556$/,
  },
  { id: 'storage-reply', kind: 'temporary', source: 'RFC 5321 section 4.2.3 (552)', stages: ['rcpt'], code: /^552$/ },
];
