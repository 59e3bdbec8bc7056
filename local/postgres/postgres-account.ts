import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The user that the server runs as. Without root it is the user of this process, and all fields are undefined. */
export interface PostgresAccount {
  /** Owner of the data directory. */
  uid: number | undefined;
  gid: number | undefined;
  /** The ids for `spawn`; undefined when `setpriv` changes the user instead. */
  spawnUid: number | undefined;
  spawnGid: number | undefined;
  /** Arguments of `setpriv`, which lets the server enter folders that are closed to its user. */
  setpriv: readonly string[] | undefined;
}

/**
 * PostgreSQL refuses to run as root. So root gets an unprivileged user: the owner of an existing data directory, else
 * `postgres`, else `nobody`. When that user cannot enter one of `folders` (a clone below /root, a private temporary
 * folder), `setpriv` grants the server CAP_DAC_OVERRIDE. Rejects with advice when that is impossible.
 */
export async function postgresAccount(dataDirectory: string, folders: readonly string[]): Promise<PostgresAccount> {
  if (process.getuid?.() !== 0) {
    return { uid: undefined, gid: undefined, spawnUid: undefined, spawnGid: undefined, setpriv: undefined };
  }
  const { uid, gid } = ownerOf(dataDirectory) ?? (await idsOf('postgres')) ?? (await idsOf('nobody')) ?? noAccount();
  if (await canReach(uid, gid, folders)) return { uid, gid, spawnUid: uid, spawnGid: gid, setpriv: undefined };
  const setpriv = [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--inh-caps=-all,+dac_override',
    '--ambient-caps=-all,+dac_override',
    // PostgreSQL asks access(2) about its own files, which otherwise ignores capabilities of users that are not root.
    '--securebits=+no_setuid_fixup',
  ];
  const canEnter = folders.flatMap((folder) => ['-a', '-x', folder]).slice(1);
  await run('setpriv', [...setpriv, 'test', ...canEnter]).catch(() => {
    throw new Error(
      `PostgreSQL does not run as root, and the user it would run as cannot reach ${folders.join(' or ')}. ` +
        'Start as an ordinary user, clone into a folder that others may enter (for example /opt), or set DATABASE_URL.',
    );
  });
  return { uid, gid, spawnUid: undefined, spawnGid: undefined, setpriv };
}

/** The command and arguments that run `program` under the account. */
export function wrapCommand(account: PostgresAccount, program: string, args: readonly string[]): [string, string[]] {
  return account.setpriv ? ['setpriv', [...account.setpriv, program, ...args]] : [program, [...args]];
}

function ownerOf(dataDirectory: string): { uid: number; gid: number } | undefined {
  if (!existsSync(path.join(dataDirectory, 'PG_VERSION'))) return undefined;
  const { uid, gid } = statSync(dataDirectory);
  return uid === 0 ? undefined : { uid, gid };
}

async function idsOf(user: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', user]), run('id', ['-g', user])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

async function canReach(uid: number, gid: number, folders: readonly string[]): Promise<boolean> {
  const checks = folders.map((folder) => run('test', ['-x', folder], { uid, gid, cwd: '/' }));
  return (await Promise.allSettled(checks)).every((check) => check.status === 'fulfilled');
}

function noAccount(): never {
  throw new Error(
    'PostgreSQL does not run as root, and there is neither a user `postgres` nor `nobody`. Set DATABASE_URL.',
  );
}
