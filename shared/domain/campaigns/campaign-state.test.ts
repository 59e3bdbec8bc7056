import { beforeAll, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { trustDomain, untrustDomain } from '../domains/sender-domains.ts';
import { createProject } from '../projects/projects.ts';
import { beginScheduledCampaign } from './campaign-state.ts';
import { createCampaign, findCampaign, sendCampaign } from './campaigns.ts';

const HOUR_MS = 60 * 60_000;

let projectId: string;
const { em } = useTestDatabase();
beforeAll(async () => {
  projectId = (await createProject(em(), 'Test')).project.id;
});

/** Schedules a campaign for an hour from now. @returns its id */
async function scheduleFrom(domain: string): Promise<string> {
  await trustDomain(em(), projectId, domain);
  const { id } = await createCampaign(em(), projectId, {
    name: 'C',
    description: null,
    subject: 'S',
    body: 'B',
    text: null,
    preheader: null,
    from: `news@${domain}`,
    fromName: null,
    replyTo: null,
    type: 'MARKETING',
    topicId: null,
    audienceType: 'ALL',
    audienceCondition: null,
    segmentId: null,
  });
  await sendCampaign(em(), projectId, id, new Date(Date.now() + HOUR_MS));
  return id;
}

describe('a scheduled campaign', () => {
  it('is sent when it is due, and not before', async () => {
    const id = await scheduleFrom('kept.test');
    await beginScheduledCampaign(em(), id, new Date());
    expect(await findCampaign(em(), projectId, id)).toMatchObject({ status: 'SCHEDULED' });
    await beginScheduledCampaign(em(), id, new Date(Date.now() + 2 * HOUR_MS));
    expect(await findCampaign(em(), projectId, id)).toMatchObject({ status: 'SENDING', error: null });
  });

  it('ends with the reason when the project has lost its sender domain', async () => {
    const id = await scheduleFrom('lost.test');
    await untrustDomain(em(), projectId, 'lost.test');
    await beginScheduledCampaign(em(), id, new Date(Date.now() + 2 * HOUR_MS));
    expect(await findCampaign(em(), projectId, id)).toMatchObject({
      status: 'CANCELLED',
      error: 'The sender domain lost.test is not verified yet. Correct that, and send a copy of the campaign.',
    });
  });
});
