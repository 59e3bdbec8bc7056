import { validate as isUuid } from 'uuid';
import type { Click } from '../../shared/sending/compose/links.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { withTimeLimit } from '../../shared/platform/time-limit.ts';

/** How long a block may take to act. */
const FRESH_MS = 2_000;
/** The longest that a click waits for the list. */
const WAIT_MS = 500;

interface ClosedLinks {
  hosts: ReadonlySet<string>;
  projectMarks: ReadonlySet<string>;
}

/** A host and the names above it. */
function* namesOf(url: string): Generator<string> {
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : '';
  for (let at = 0; at !== -1; at = host.indexOf('.', at + 1)) yield host.slice(at === 0 ? 0 : at + 1);
}

/**
 * Creates the function that says whether a link leads nowhere any longer. The clicks of two seconds share one reading of
 * the short list, so a click takes no query of its own. While PostgreSQL is away, the last list counts.
 */
export function createClosedLinks(read: () => Promise<string[]>, logger: Logger): (click: Click) => Promise<boolean> {
  let closed: ClosedLinks = { hosts: new Set(), projectMarks: new Set() };
  let reading: Promise<void> | undefined;
  let freshUntil = 0;

  async function refresh(): Promise<void> {
    try {
      const subjects = await read();
      closed = {
        hosts: new Set(subjects.filter((subject) => !isUuid(subject))),
        projectMarks: new Set(subjects.filter((subject) => isUuid(subject)).map((id) => id.slice(-12))),
      };
    } catch (error) {
      logger.debug({ err: error }, 'the list of blocked links could not be read');
    }
  }

  return async ({ url, projectMark }) => {
    if (performance.now() >= freshUntil) {
      freshUntil = performance.now() + FRESH_MS;
      reading = withTimeLimit(refresh(), WAIT_MS, () => undefined).finally(() => {
        reading = undefined;
      });
    }
    await reading;
    if (closed.projectMarks.has(projectMark)) return true;
    return closed.hosts.size > 0 && [...namesOf(url)].some((name) => closed.hosts.has(name));
  };
}
