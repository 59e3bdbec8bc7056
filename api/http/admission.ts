import { AppError } from '../../shared/pure/app-error.ts';
import type { Orm } from '../../shared/domain/orm.ts';
import { hashKey } from '../../shared/domain/projects/projects.ts';
import { query, queryPrepared, sql } from '../../shared/domain/sql.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import type { RequestProject } from './context.ts';

/** Where a project stands in the current minute. */
export interface RateState {
  limit: number;
  remaining: number;
  /** Seconds until the window ends. */
  resetSeconds: number;
  isExceeded: boolean;
}

export interface Admission {
  project: RequestProject;
  /** Undefined when the counter could not be kept: then the request passes. */
  rate: RateState | undefined;
}

interface Waiting {
  lookup: string;
  resolve: (admission: Admission | undefined) => void;
  reject: (error: unknown) => void;
}

interface ProjectRow {
  lookup: string;
  id: string;
  name: string;
  disabled: boolean;
}

interface CountedRow extends ProjectRow {
  used: number;
  reset_seconds: number;
}

export interface Admissions {
  /** @throws AppError INVALID_API_KEY */
  admit: (authorization: string | undefined, keyKind: 'secret' | 'public', path: string) => Promise<Admission>;
}

const PREFIXES = { secret: 'sk_', public: 'pk_' } as const;
const KEY_PATTERN = /^(?:sk|pk)_[0-9a-f]{64}$/;

function invalidKey(message: string, suggestion: string): AppError {
  return new AppError('INVALID_API_KEY', { message, suggestion });
}

function readKey(authorization: string | undefined, keyKind: 'secret' | 'public', path: string): string {
  if (authorization === undefined || authorization.trim() === '') {
    throw invalidKey('No API key was given', 'Send the header Authorization: Bearer <API_KEY>');
  }
  const match = /^bearer +(\S+)\s*$/i.exec(authorization);
  if (!match?.[1]) {
    throw invalidKey('The Authorization header does not use the Bearer scheme', 'Send Authorization: Bearer <API_KEY>');
  }
  const key = match[1];
  const wanted = PREFIXES[keyKind];
  if (!key.startsWith(wanted) && KEY_PATTERN.test(key)) {
    throw keyKind === 'public'
      ? invalidKey(
          `${path} takes the public key (pk_…) only`,
          'Use the public key here, or call POST /events/track with the secret key',
        )
      : invalidKey('A public key may only call POST /v1/track', 'Use the secret key (sk_…) for this endpoint');
  }
  if (!KEY_PATTERN.test(key)) {
    throw invalidKey('The API key is not valid', `A key is ${wanted} followed by 64 hexadecimal digits`);
  }
  return key;
}

/** The lookup form of a key: the public key itself, or the digest of the secret key. */
function lookupOf(key: string): string {
  return key.startsWith('sk_') ? hashKey(key) : key;
}

/**
 * Authenticates requests and counts them against the project's limit. Requests that arrive while a statement is
 * running wait for the next one and share it, so the load on PostgreSQL follows round trips, not requests; every
 * request is still answered by a statement that began after it arrived, so a rotated key is refused at once.
 */
export function createAdmissions(deps: { orm: Orm; logger: Logger; limitPerMinute: number }): Admissions {
  let waiting: Waiting[] = [];
  let isRunning = false;

  async function lookUpAndCount(lookups: string[], counts: number[]): Promise<CountedRow[]> {
    return queryPrepared<CountedRow>(
      deps.orm.em.fork(),
      sql`
        with wanted as (select * from unnest(${lookups}::text[], ${counts}::int[]) as w (lookup, requests)),
        found as (
          select w.lookup, w.requests, p.id, p.name, p.disabled from wanted w join project p on p.public_key = w.lookup
          union all
          select w.lookup, w.requests, p.id, p.name, p.disabled from wanted w join project p on p.secret_key_hash = w.lookup
        ),
        counted as (
          insert into rate_window as r (project_id, window_start, used)
          select id, date_trunc('minute', now()), sum(requests) from found group by id order by id
          on conflict (project_id) do update set
            used = case when r.window_start = excluded.window_start then r.used + excluded.used else excluded.used end,
            window_start = excluded.window_start
          returning project_id, used
        )
        select f.lookup, f.id, f.name, f.disabled, c.used,
          ceil(extract(epoch from date_trunc('minute', now()) + interval '1 minute' - clock_timestamp()))::int as reset_seconds
        from found f join counted c on c.project_id = f.id`,
    );
  }

  async function lookUpOnly(lookups: string[]): Promise<ProjectRow[]> {
    return query<ProjectRow>(
      deps.orm.em.fork(),
      sql`
        select w.lookup, p.id, p.name, p.disabled from unnest(${lookups}::text[]) as w (lookup)
        join project p on w.lookup in (p.public_key, p.secret_key_hash)`,
    );
  }

  async function find(lookups: string[], counts: number[]): Promise<(ProjectRow & Partial<CountedRow>)[]> {
    try {
      return await lookUpAndCount(lookups, counts);
    } catch (error) {
      deps.logger.warn({ err: error }, 'requests could not be counted and pass');
      return lookUpOnly(lookups);
    }
  }

  function rateOf(used: number, resetSeconds: number): RateState {
    return {
      limit: deps.limitPerMinute,
      remaining: Math.max(0, deps.limitPerMinute - used),
      resetSeconds: Math.max(1, resetSeconds),
      isExceeded: used > deps.limitPerMinute,
    };
  }

  async function runBatch(batch: Waiting[]): Promise<void> {
    const counts = new Map<string, number>();
    for (const { lookup } of batch) counts.set(lookup, (counts.get(lookup) ?? 0) + 1);
    const rows = new Map<string, ProjectRow & Partial<CountedRow>>();
    const usedBefore = new Map<string, number>();
    for (const row of await find([...counts.keys()], [...counts.values()])) {
      rows.set(row.lookup, row);
      if (row.used !== undefined) usedBefore.set(row.id, row.used);
    }
    for (const [id, used] of usedBefore) {
      const ofProject = [...rows.values()].filter((row) => row.id === id);
      usedBefore.set(id, used - ofProject.reduce((sum, row) => sum + (counts.get(row.lookup) ?? 0), 0));
    }
    for (const request of batch) {
      const row = rows.get(request.lookup);
      if (!row) {
        request.resolve(undefined);
        continue;
      }
      const before = usedBefore.get(row.id);
      if (before !== undefined) usedBefore.set(row.id, before + 1);
      request.resolve({
        project: { id: row.id, name: row.name, disabled: row.disabled },
        rate: before === undefined ? undefined : rateOf(before + 1, row.reset_seconds ?? 60),
      });
    }
  }

  async function drain(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await runBatch(batch);
      } catch (error) {
        for (const request of batch) request.reject(error);
      }
    }
    isRunning = false;
  }

  return {
    async admit(authorization, keyKind, path) {
      const lookup = lookupOf(readKey(authorization, keyKind, path));
      const admission = await new Promise<Admission | undefined>((resolve, reject) => {
        waiting.push({ lookup, resolve, reject });
        if (!isRunning) void drain();
      });
      if (!admission)
        throw invalidKey('The API key is not known', 'Check the key; after a rotation only the new one works');
      return admission;
    },
  };
}
