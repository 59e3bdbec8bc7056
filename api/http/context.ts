import type { Logger } from '../../shared/platform/logger.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Em } from '../../shared/database/sql.ts';
import type { Orm } from '../../shared/domain/schema/orm.ts';
import type { NewAuditEntry } from '../../shared/domain/audit/audit.ts';
import type { createHandlerTools } from './handler-tools.ts';
import type { IdempotencyClaim } from '../../shared/domain/idempotency/idempotency.ts';
import type { Brand } from '../../shared/pure/brand.ts';
import type { KeyRole } from '../../shared/pure/key-roles.ts';
import type { PublicKeyRules } from '../../shared/pure/public-key-rules.ts';
import type { ClientAddresses, TrackingMode } from '../../shared/pure/project.ts';
import type { KeyKind } from './api-key.ts';
import type { EngagementRecorder } from '../feedback/engagement-recorder.ts';

/** The record of one writing request. */
export interface RequestAudit {
  /** Notes the ids in a successful answer. @returns the entry, for the transaction of the request */
  entryOf: (status: number, data?: unknown) => NewAuditEntry;
  /** Whether the transaction of the request has recorded it. */
  isRecorded: boolean;
}

/** What every endpoint may use. */
export interface ApiDeps {
  config: Config;
  orm: Orm;
  /** An ORM with connections of its own for the authentication of requests. */
  authenticatorOrm: Orm;
  logger: Logger;
  /** Records opens and clicks. */
  engagements: EngagementRecorder;
}

/** What the handlers of endpoints may use. */
export type HandlerDeps = ApiDeps & ReturnType<typeof createHandlerTools>;

/** The project of a request, found by its key. */
export interface RequestProject {
  id: string;
  name: string;
  disabled: boolean;
  tracking: TrackingMode;
  /** How much of a client's address the record of consent keeps. */
  clientAddresses: ClientAddresses;
  brand: Brand;
  /** What this request may do, when it has the public key and the project limits that. */
  publicKeyRules: PublicKeyRules | null;
}

export interface RequestKey {
  id: string;
  name: string;
  role: KeyRole;
  /** The only domains that it may send from; null means all of the project. */
  senderDomains: string[] | null;
}

/** What a handler gets: validated input and its own unit of work. */
export interface RequestContext<Params, Query, Body> {
  project: RequestProject;
  key: RequestKey;
  params: Params;
  query: Query;
  body: Body;
  em: Em;
  deps: HandlerDeps;
  requestId: string;
  /** The kind of key that the request has. */
  keyKind: KeyKind;
  /** The address of the client, for `evidenceOf`; undefined where it is not known. */
  clientAddress: string | undefined;
  /** The record of the request, if it writes. */
  audit: RequestAudit | undefined;
  /** The claimed idempotency key; the handler of a grouped endpoint passes it to its group, which settles it. */
  claim: IdempotencyClaim | undefined;
  /** Names fields of the body that only the handler knows to have no effect, such as `config.mode`. */
  noteIgnored: (fields: readonly string[]) => void;
  /** Whether the request asks for CSV rather than JSON: by `format`, or without it by the Accept header. */
  wantsCsv: (format: 'json' | 'csv' | undefined) => boolean;
}
