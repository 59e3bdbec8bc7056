import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { OperatorCommands } from './operator-command.ts';

const name = 'Local';
const domain = 'local.test';

/** The project that the local stack offers, with both keys in the clear. */
export interface LocalProject {
  projectId: string;
  publicKey: string;
  secretKey: string;
  domain: string;
}

/** Content of `local.json`: what a script needs to use the stack. */
export interface LocalFile extends LocalProject {
  apiUrl: string;
  docsUrl: string;
  /** Null when Temporal was started by somebody else. */
  temporalUiUrl: string | null;
  /** Null when mail goes to an SMTP server of the user. */
  mailboxUrl: string | null;
}

/** Path of the file with the addresses and keys of the local stack. */
export function localFilePath(home: string): string {
  return path.join(home, 'local.json');
}

/** Reuses the project whose keys `local.json` holds when the database still has it, else makes a new one. */
export async function ensureLocalProject(home: string, run: OperatorCommands): Promise<LocalProject> {
  const known = readLocalFile(home);
  if (known) {
    const projects = (await run(['project', 'list'])) as { id: string; publicKey: string }[];
    // A rotated key makes the kept ones useless, so the public key is compared as well.
    const isThere = projects.some(({ id, publicKey }) => id === known.projectId && publicKey === known.publicKey);
    if (isThere) return known;
  }
  const args = ['project', 'create', '--name', name, '--trusted-domain', domain];
  const created = (await run(args)) as { id: string; publicKey: string; secretKey: string };
  return { projectId: created.id, publicKey: created.publicKey, secretKey: created.secretKey, domain };
}

/** Writes a JSON file that only this user may read, in one step. */
export function writePrivateJson(file: string, value: object): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** The secret that signs links: the one named by APP_SECRET, else one made once and kept in the folder. */
export function ensureAppSecret(home: string, env: NodeJS.ProcessEnv): string {
  if (env['APP_SECRET']) return env['APP_SECRET'];
  const file = path.join(home, 'app-secret');
  if (!existsSync(file)) writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

function readLocalFile(home: string): LocalProject | undefined {
  try {
    const { projectId, publicKey, secretKey } = JSON.parse(readFileSync(localFilePath(home), 'utf8')) as LocalFile;
    return projectId && publicKey && secretKey ? { projectId, publicKey, secretKey, domain } : undefined;
  } catch {
    return undefined;
  }
}
