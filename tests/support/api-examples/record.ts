import type { ApiExample } from '../../../api/reference/examples.ts';
import { createDnsServer } from '../dns-server.ts';
import { startHookReceiver } from '../hook-receiver.ts';
import { startTestStack, type TestStack } from '../stack.ts';
import { recordCampaigns, recordTemplates } from './campaigns.ts';
import { normalise } from './normalise.ts';
import { recordDomains, recordErrors, recordProject, recordSuppressions, recordWebhooks } from './operations.ts';
import { recordContacts, recordSegments, recordSending, recordTopics } from './people.ts';
import { createRecorder } from './recorder.ts';
import { recordWorkflows } from './workflows.ts';

const CHAPTERS = [
  recordContacts,
  recordTopics,
  recordSegments,
  recordSending,
  recordTemplates,
  recordCampaigns,
  recordWorkflows,
  recordSuppressions,
  recordProject,
  recordErrors,
];

/** Uses every operation of the API on real servers. @returns requests and answers, the same in each run */
export async function recordApiExamples(): Promise<Record<string, ApiExample[]>> {
  const [dns, receiver] = await Promise.all([createDnsServer(), startHookReceiver()]);
  const stack: TestStack = await startTestStack({
    config: {
      DNS_SERVERS: [dns.address],
      INBOUND_DOMAIN: 'mail.example.net',
      WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'],
      COMPLAINT_RATE_MAX: 10,
      COMPLAINT_RATE_MIN_EMAILS: 20,
    },
  });
  const found: Record<string, ApiExample[]> = {};
  const withProject = async (
    chapter: (recorder: ReturnType<typeof createRecorder>) => Promise<void>,
  ): Promise<void> => {
    const recorder = createRecorder(stack.url, await stack.createProject());
    await chapter(recorder);
    for (const [id, examples] of Object.entries(recorder.examples())) found[id] = [...(found[id] ?? []), ...examples];
  };
  try {
    for (const chapter of CHAPTERS) await withProject((recorder) => chapter(stack, recorder));
    await withProject((recorder) => recordDomains(dns, recorder));
    await withProject((recorder) => recordWebhooks(receiver, recorder));
  } finally {
    await stack.stop();
    await Promise.all([dns.close(), receiver.close()]);
  }
  const ordered = Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
  const text = JSON.stringify(ordered).replaceAll(receiver.url, 'https://shop.example.com/everpost');
  return normalise(JSON.parse(text)) as Record<string, ApiExample[]>;
}
