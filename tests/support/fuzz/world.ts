import type { TestProject } from '../api.ts';

/** Ids that requests can use, by kind; kinds are named like collections and fields. */
export interface FuzzWorld {
  pick: (kind: string, n: number) => string;
  /** Remembers the ids in an answer to a request at `path`. */
  learn: (path: string, body: unknown) => void;
}

const IDS_MAX = 40;
const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000';

/** The collection that the id in an answer belongs to: the last part of its path that names one. */
function kindOf(path: string): string {
  const names = path.split('/').filter((part) => /^[a-z]+$/.test(part));
  return names.findLast((name) => ['steps', 'transitions', 'executions'].includes(name)) ?? names[0] ?? '';
}

function idsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(idsIn);
  if (typeof value !== 'object' || value === null) return [];
  const { id, data } = value as { id?: unknown; data?: unknown };
  return [...(typeof id === 'string' ? [id] : []), ...(typeof data === 'object' ? idsIn(data) : [])];
}

async function create(project: TestProject, path: string, body: unknown): Promise<{ id: string; body: any }> {
  const reply = await project.api('POST', path, { body });
  if (reply.status >= 300) throw new Error(`POST ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return { id: reply.body.id ?? reply.body.data?.id, body: reply.body };
}

const MAIL = { name: 'Mail', subject: 'Hi {{name}}', body: '<p>{{name}}</p>', from: 'shop@example.com' };
const CONDITION = { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] };

/** Creates records of every kind in a project, with some unusual addresses and names. */
async function furnish(project: TestProject, learn: FuzzWorld['learn']): Promise<void> {
  const make = async (path: string, body: unknown) => {
    const made = await create(project, path, body);
    learn(path, made.body.data ?? made.body);
    return made.id;
  };
  for (const email of [
    'ada@example.com',
    'a#b@example.com',
    'jorg@m\u00fcnchen.example',
    "o'hara+x@mail.example.co.uk",
  ]) {
    await make('/contacts', { email, data: { plan: 'pro', list: [1, { a: null }], '\u{1f600}': 'x' } });
  }
  const template = await make('/templates', MAIL);
  const dynamic = { name: 'Pro', type: 'DYNAMIC', condition: CONDITION, trackMembership: true };
  const segmentId = await make('/segments', dynamic);
  await make('/segments', { name: 'Listed', type: 'STATIC' });
  for (const audience of [{ audienceType: 'ALL' }, { audienceType: 'SEGMENT', segmentId }]) {
    await make('/campaigns', { ...MAIL, ...audience });
  }
  await make('/campaigns', { ...MAIL, audienceType: 'FILTERED', audienceCondition: CONDITION });
  await make('/domains', { domain: 'news.example.org' });
  const workflow = await make('/workflows', { name: 'Welcome', eventName: 'signed_up' });
  const steps = [
    { type: 'DELAY', config: { amount: 1, unit: 'days' } },
    { type: 'SEND_EMAIL', config: { templateId: template } },
    { type: 'CONDITION', config: { field: 'data.plan', operator: 'equals', value: 'pro' } },
  ];
  for (const step of steps) await make(`/workflows/${workflow}/steps`, { ...step, autoConnect: true });
  await project.api('PATCH', `/workflows/${workflow}`, { body: { enabled: true, allowReentry: true } });
  for (const email of ['ada@example.com', 'j\u00f6rg@m\u00fcnchen.example', 'new#1@example.com']) {
    const event = { email, event: 'signed_up', data: { plan: 'pro' } };
    await project.api('POST', '/v1/track', { key: 'public', body: event });
  }
  await project.api('POST', '/v1/send', { body: { ...MAIL, to: 'a#b@example.com', name: undefined } });
  const { body } = await project.api('GET', `/workflows/${workflow}/executions`);
  learn(`/workflows/${workflow}/executions`, body);
  const definition = await project.api('GET', `/workflows/${workflow}`);
  learn(`/workflows/${workflow}/steps`, definition.body.steps);
  learn(`/workflows/${workflow}/transitions`, definition.body.transitions);
}

/** A project with records of every kind, and a neighbour whose ids have the kind `foreign`. */
export async function createFuzzWorld(project: TestProject, neighbour: TestProject): Promise<FuzzWorld> {
  const known = new Map<string, string[]>([['users', [project.project.id]]]);
  const note = (kind: string, ids: string[]) => known.set(kind, [...(known.get(kind) ?? []), ...ids].slice(-IDS_MAX));
  const learn: FuzzWorld['learn'] = (path, body) => {
    const { jobId } = Object(body) as { jobId?: unknown };
    if (typeof jobId === 'string') note('jobs', [jobId]);
    note(kindOf(path), idsIn(body).slice(0, 5));
  };
  await furnish(project, learn);
  await furnish(neighbour, (_path, body) => note('foreign', idsIn(body)));
  return {
    learn,
    pick(kind, n) {
      const ids = known.get(kind) ?? [];
      return ids[n % Math.max(1, ids.length)] ?? UNKNOWN_ID;
    },
  };
}
