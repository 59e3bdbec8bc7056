import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { everpostHome } from '../shared/platform/paths.ts';
import { ConfigError } from '../shared/platform/config.ts';

const localStackSchema = z.object({
  temporalAddress: z.string(),
  /** What its processes have in their environment. */
  variables: z.object({ DATABASE_URL: z.string() }).catchall(z.string()),
});
type LocalStack = z.infer<typeof localStackSchema>;

/** The settings of the processes of `npm start`, and its Temporal server; undefined while it does not run. */
export function readLocalStack(environment: NodeJS.ProcessEnv): LocalStack | undefined {
  const file = path.join(everpostHome(environment), 'runtime.json');
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  try {
    return localStackSchema.parse(JSON.parse(content));
  } catch {
    throw new ConfigError(`${file} is not readable. Stop the local stack and start it again with \`npm start\`.`);
  }
}

/** The secret that `npm start` made for its stack; undefined when it has not made one. */
export function readLocalSecret(environment: NodeJS.ProcessEnv): string | undefined {
  try {
    return readFileSync(path.join(everpostHome(environment), 'app-secret'), 'utf8').trim();
  } catch {
    return undefined;
  }
}
