import type { BenchStack } from './stack.ts';

const PARAGRAPH =
  'Thank you for reading along this year. We have collected what our readers liked best, what they asked for, and ' +
  'what comes next, and we have kept it short enough for one cup of coffee.';

function paragraphs(count: number): string {
  return Array.from({ length: count }, () => `<p style="margin:0 0 16px;color:#333333">${PARAGRAPH}</p>`).join('\n');
}

/** A personal email of 2 KB with four placeholders in its body, and one in its subject. */
export const BENCH_MAIL = {
  type: 'MARKETING',
  subject: 'News for {{firstName}}',
  html: `<!doctype html>
<html><body style="font-family:sans-serif;font-size:16px;line-height:1.5">
<h1>Hello {{firstName ?? "reader"}}</h1>
${paragraphs(7)}
<p>You have <b>{{points}}</b> points in the plan {{plan}}, and we hope that all is well in {{city}}.</p>
</body></html>`,
} as const;

/** Creates a campaign with that email, to all contacts unless `fields` say otherwise. @returns its id */
export async function createCampaign({ call, project }: BenchStack, fields: object = {}): Promise<string> {
  const { type, subject, html: body } = BENCH_MAIL;
  const from = `news@${project.domain}`;
  const campaign = { name: 'Bench', type, subject, body, from, fromName: 'Bench', audienceType: 'ALL', ...fields };
  const { data } = (await call('POST', '/campaigns', campaign)) as { data: { id: string } };
  return data.id;
}
