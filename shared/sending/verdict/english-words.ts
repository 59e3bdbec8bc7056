/**
 * The English of refusals that say that an address, or its domain, does not exist: a noun for the address and a
 * predicate in any of the forms that servers use. All patterns see lower case.
 */
import { anyOf } from './refusal-rule.ts';

/** Nouns for the address or its owner. */
const WHO =
  "(?:user ?-?(?:name|id)?|recipients?|receiver|rcpt|recip|mail ?-?box(?:es)?|mail ?-?drop|in ?box|accounts?|addresse?s?|addressee|alias|local[- ]?part|member|customer|subscriber|person|employee|student|login|e-?mail[- ]?(?:address|account|id|name)|destination)(?:s|\\(s\\)|es|[’']s)?";
/** Nouns for the domain of the address or its server. */
const WHERE = '(?:domain|host|site|system|mail ?host|mail ?server|mail ?exchanger|tenant)(?: ?names?|s)?';
/** Words between a noun and its predicate, within a sentence. */
const upTo = (words: number): string => `:?(?: \\S*[^\\s.!?;]){0,${words}}?`;
const IS =
  '(?:(?:is|are|was|were|be|been|being|has|have|had|could|can|does|do|did|seems?|appears?|to|either|currently|now|already|permanently|administratively|marked|as|an?) )*';
const NOT =
  "(?:not|never|no longer|cannot|can not|(?:is|was|are|were|does|do|did|could|ca|has|have|wo)n[ o]?[’']?t|dose not)";
/** What is said of an address that is there, and denied of one that is not. */
const THERE =
  '(?:(?:be|been|to be|seem to|appear to|currently|actually|an?|any|one of) )*(?:exist|on file\\b|our (?:\\S+ )?(?:users|customers|members)|found|known?\\b|valid|registered|listed|recogni[sz]ed|identified|located|resolved|here\\b|present|defined|deliverable|active|activated|enabled|in use|existing|our customer|match\\w* any|(?:on|in|at|of|with|part of) (?:our|the|this|that|any|my)\\b|have an?\\b|user (?:of|on|at))';
/** Adjectives of an address that does not exist. */
const UNREAL =
  '(?:unknown|invalid|illegal|non-? ?exist\\w*|no such|undeliverable|unroute?able|incorrect|unrecogni[sz]ed|undefined|fictitious)';
/** Predicates of an address that existed. */
const CLOSED =
  '(?:disabled|deactivated|inactive|inactivated|discontinued|deleted|erased|purged|closed|terminated|expired|removed|cancell?ed|dormant|abandoned|retired|decommissioned|deprovisioned|shut ?down|ceased|gone|obsolete|dead|blocked (?:due to|because of|for) inactiv)';

const of = (pattern: string): RegExp => new RegExp(pattern, 'u');

export const NO_SUCH_USER = anyOf(
  // The user does not exist. User unknown. The recipient could not be found.
  of(`${WHO}${upTo(6)} ${IS}(?:${UNREAL}(?!\\S*\\.\\w)|${NOT} ${THERE})`),
  // Unknown user. Invalid mailbox. Not a known user.
  of(
    `(?:${UNREAL}|bad|wrong|no (?:valid|matching|existing)|unavailable|(?<!you are )not an? (?:known|registered|current|active|existing|valid|real|recogni[sz]ed|correct)) (?:\\S+ ){0,3}?(?:${WHO}|id|${WHERE})(?!\\S*\\.\\w)`,
  ),
  // No such user. No mailbox here by that name. There is nobody here.
  of(
    `no such (?!file|process|device|command|message|option|extension|service|policy)\\w|\\bno (?:\\S+ )?(?:${WHO}|one|body)(?: \\S+){0,5}? (?:here|by (?:that|this|the)|with (?:that|this|the|such)|found|in (?:\\S+ )?(?:our|the|this|directory)|of (?:that|this)|exists?|on (?:this|our)|matching|named|for|defined)|\\bno (?:mail ?box|account|user)[.!]?$|no match(?:es)? (?:for|found)|not (?:one of )?our (?:\\S+ )?(?:customer|user|member|subscriber|address|mail ?box)|(?:nobody|no ?one) (?:here|by|at)|no (?:\\S+ )?in (?:\\S+ )?directory`,
  ),
  // It does not exist. It was not found at the server. It does not match any account.
  /(?<!message )(?:does|do|did|dose) ?(?:not|n['’]?t|no) (?:seem to |appear to )?(?:exist|match any|belong to any|correspond to any)|(?<!may )(?<!might )(?:not|never) exist|don['’]?t exist|(?:was|is|were|are)(?: not|n['’]t) (?:found (?:at|in|on)|(?<!(?:file|record|key|page|policy) (?:was|is) not )found[.!]?$|in our|on our|listed in|an? \S+ (?:on|of|at) (?:this|our))|not (?:found|listed|present) in (?:\S+ ){0,3}?(?:ldap|(?:\S+ )?directory|name|address book)|^[^a-z]{0,5}not found$|\] (?:\S+ )?not found/u,
  of(
    `(?:${NOT}|could not|unable to|failed to) (?:find|locate|look ?up|identify|resolve|match) (?:\\S+ ){0,4}?(?:${WHO})`,
  ),
  // It has no mailbox here. No record of it.
  /(?:does|do|did)(?: not|n['’]t) have an? (?:\S+ ){0,2}?(?:account|mailbox|address|alias)|(?:has|have|with) no (?:\S+ )?(?:account|mailbox)|no (?:record|knowledge|trace) of|never heard of|recipient cannot be verified|user path no exist|lookup in domain map failed/u,
  // The names of errors.
  /(?:user|recip(?:ient)?|rcpt|mailbox|address|account|addr)[-_]?(?:unknown|not[-_]?(?:found|exist|valid)|invalid|disabled|inactive)|no[-_]such[-_]\w|(?:nosuch|unknown|invalid|bad|disabled|inactive)[-_ ]?(?:user|recip|rcpt|mailbox|address|account|local)|invalidsmtp|unrecogni[sz]ed-or-?name|validrcptto|no matches to nameserver/u,
  // No longer here.
  of(`(?:${WHO})${upTo(4)} (?:(?:is|are|has|have|does|do) )?(?:no longer|not any ?more)\\b`),
  /no longer (?:\S+ )?(?:exist|here|with|active|available|in use|valid|employed|working|works?\b|at\b|on\b|used|uses|accept|reachable|an?\b|maintained)|(?:does not|doesn['’]t) (?:handle mail for (?:this|that) user|work here)/u,
  // A person who left.
  /(?:person|user|employee|recipient|member|colleague|student|\bs?he|owner)(?: \S+){0,2}? (?:has |have |had )?(?:left|departed|resigned|passed away|changed (?:\S+ ){0,3}(?:address|e-?mail))|has (?:moved|left|retired|resigned)|(?:does|do)(?: not|n['’]t| no longer) work (?:here|for|with|at)|moved without|user not local|deceased/u,
  // Other phrases of servers.
  /account (?:is )?(?:unavailable|not available)|no mail ?(?:box|drop) (?:\S+ )?available|incorrectly addressed|(?:does|do)(?: not|n['’]t) (?:appear|seem) to be|(?:address(?:es)?|recipient|user ?name) (?:is|are|was) (?:\S+ )?wrong|this user does(?: not|n['’]t)|i cannot deliver mail for|previously bounced|history of bouncing|bounced address|account (?:does not|doesn['’]t)|(?<!sender )(?<!recipient )(?<!mail )address (?:was |is )?rejected\.?$|that recipient is not allowed/u,
);

export const CLOSED_ACCOUNT = anyOf(
  of(`(?:${WHO}|domain)${upTo(8)} ${IS}(?:${CLOSED}|not (?:active|activated|enabled|in use))`),
  of(`${CLOSED} (?:\\S+ )?(?:${WHO})`),
  /(?:mailbox|account|user|address)[^.]{0,60} inactiv|(?:due to|because of|for) inactivity/u,
);

export const NO_SUCH_DOMAIN = anyOf(
  of(`${WHERE}${upTo(3)} ${IS}(?:${UNREAL}|${NOT} ${THERE}|expired)`),
  of(`(?:unknown|no such|illegal|non-?existent) (?:\\S+ ){0,2}?${WHERE}`),
  /(?:domain|host) (?:\S+ )?(?:does not|doesn['’]t) (?:exist|accept (?:e-?)?mail|receive|have|resolve)|(?:couldn['’]t|could not|can(?:not|['’]t)|unable to|weren['’]t able to) (?:find|resolve) (?:(?:any|an?|the) )?(?:\S+ ){0,2}?(?:host|mail|domain|gateway|mx)|(?:not|n['’]t) in (?:the )?dns|has no (?:\S+ )?(?:mail ?servers?|mx)/u,
  /name service error|no (?:valid )?(?:mx|mail (?:host|exchanger|server))|nxdomain|null ?mx|(?:mx|srv) records? (?:\S+ )?indicated no smtp|unrout(?:e)?able|bad destination|no (?:a|mx|aaaa)(?: or (?:a|mx|aaaa))? records?|dns domain|mx records point to non-?existent|lookups? failed permanently/u,
);
