import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { request } from 'undici';
import { z } from 'zod';
import { readFileIfAny, readJsonFile, writePrivateFile } from './home-files.ts';
import type { OperatorCommands } from './operator-command.ts';

const name = 'Local';
const domain = 'local.test';
/** The least length that the API and the worker accept. */
const APP_SECRET_LENGTH_MIN = 32;

const projectSchema = z
  .object({ projectId: z.uuid(), publicKey: z.string().min(1), secretKey: z.string().min(1) })
  .transform((project) => ({ ...project, domain }));

const projectsSchema = z.array(z.object({ id: z.string(), public: z.string() }));

/** The project that the local stack offers, with both keys in the clear. */
export interface LocalProject {
  projectId: string;
  publicKey: string;
  secretKey: string;
  domain: string;
}

/** Content of `local.json`: everything a script needs to use the stack. */
export interface LocalFile extends LocalProject {
  apiUrl: string;
  docsUrl: string;
  /** Null when Temporal was started by somebody else. */
  temporalUiUrl: string | null;
  /** Null when mail goes to an SMTP server of the user. */
  mailboxUrl: string | null;
  /** Where programs of this machine send by SMTP. */
  submissionPort: number;
}

/** Path of the file with the addresses and keys of the local stack. */
export function localFilePath(home: string): string {
  return path.join(home, 'local.json');
}

/** Where the API listens, and a name at which it answers calls with secret keys, if it does so only at some. */
export interface LocalApi {
  url: string;
  adminHost: string | undefined;
}

/** Whether the API knows the project by both of its keys. */
async function isKnownTo({ url, adminHost }: LocalApi, project: LocalProject): Promise<boolean> {
  const { statusCode, body } = await request(`${url}/users/@me/projects`, {
    headers: { authorization: `Bearer ${project.secretKey}`, ...(adminHost !== undefined && { host: adminHost }) },
  });
  const answer = await body.text();
  // A project that an operator has disabled is still this one.
  if (statusCode === 403) return true;
  if (statusCode === 401) return false;
  if (statusCode !== 200) throw new Error(`The API answered ${statusCode} for the projects.`);
  const projects = projectsSchema.parse(JSON.parse(answer));
  return projects.some(({ id, public: publicKey }) => id === project.projectId && publicKey === project.publicKey);
}

/** Reuses the project of an earlier start when the database still has it, else makes a new one. */
export async function ensureLocalProject(
  known: LocalProject | undefined,
  api: LocalApi,
  run: OperatorCommands,
): Promise<LocalProject> {
  if (known && (await isKnownTo(api, known))) return known;
  const args = ['project', 'create', '--name', name, '--trusted-domain', domain];
  const created = (await run(args)) as { id: string; publicKey: string; secretKey: string };
  return { projectId: created.id, publicKey: created.publicKey, secretKey: created.secretKey, domain };
}

/**
 * The secret that signs links: the one named by APP_SECRET, else one made once and kept in the folder.
 * @throws Error when the one that is kept is damaged
 */
export function ensureAppSecret(home: string, env: NodeJS.ProcessEnv): string {
  if (env['APP_SECRET']) return env['APP_SECRET'];
  const file = path.join(home, 'app-secret');
  const kept = readFileIfAny(file)?.trim();
  if (kept === undefined) {
    const secret = randomBytes(32).toString('base64url');
    writePrivateFile(file, `${secret}\n`);
    return secret;
  }
  if (kept.length >= APP_SECRET_LENGTH_MIN) return kept;
  throw new Error(
    `${file} is damaged and was left as it is. Restore it from a backup. Without one, remove it and run ` +
      '`npm run everpost -- secrets adopt` once the stack runs; links in earlier email are dead then.',
  );
}

/**
 * The project of an earlier start; undefined when there was none.
 * @throws Error when the file that holds its keys is damaged
 */
export function readLocalProject(home: string): LocalProject | undefined {
  return readJsonFile(
    localFilePath(home),
    projectSchema,
    'It holds the keys of the local project: restore it, or move it away, and the next start makes a new project.',
  );
}

/** The address of the API of the stack in a folder; undefined before its first start has succeeded. */
export function readLocalApiUrl(home: string): string | undefined {
  try {
    return readJsonFile(localFilePath(home), z.object({ apiUrl: z.string() }), '')?.apiUrl;
  } catch {
    return undefined;
  }
}
