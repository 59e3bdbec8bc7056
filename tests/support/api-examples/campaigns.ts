import { query, sql } from '../../../shared/database/sql.ts';
import { eventually } from '../eventually.ts';
import type { TestStack } from '../stack.ts';
import type { ExampleRecorder } from './recorder.ts';

const NEWS = {
  name: 'March news',
  description: 'What is new in March',
  subject: 'News for {{firstName ?? "you"}}',
  body: '<p>Hello {{firstName ?? "you"}}, <a href="https://example.com/news">this is new</a>.</p>',
  text: 'Hello {{firstName ?? "you"}}, this is new: https://example.com/news',
  preheader: 'Three things are new',
  from: 'news@example.com',
  fromName: 'The Shop',
  replyTo: 'help@example.com',
  type: 'MARKETING',
};
const EVERYBODY = { ...NEWS, audienceType: 'ALL' };

const inADay = () => new Date(Date.now() + 86_400_000).toISOString();

/** Creates a topic that emails are about. @returns its id */
async function addTopic({ project }: ExampleRecorder, key: string): Promise<string> {
  const topic = await project.api('POST', '/topics', { body: { key, name: 'Letters', defaultSubscription: 'opt_in' } });
  return topic.body.id;
}

/** Templates and their copies. */
export async function recordTemplates(_stack: TestStack, recorder: ExampleRecorder): Promise<void> {
  const { project, record } = recorder;
  const topicId = await addTopic(recorder, 'letters-of-templates');
  const { id } = await record('createTemplate', { body: { ...NEWS, topicId } });
  const params = { id };
  await record('getTemplate', { params });
  await record('updateTemplate', { params, body: { ...NEWS, topicId, name: 'April news' } });
  const workflow = await project.api('POST', '/workflows', { body: { name: 'Welcome', eventName: 'signed up' } });
  await project.api('POST', `/workflows/${workflow.body.id}/steps`, { body: { type: 'SEND_EMAIL', templateId: id } });
  await record('getTemplateUsage', { params });
  await record('previewTemplate', { params, body: { email: 'ada@example.com', data: { firstName: 'Ada' } } });
  const query = { page: '1', pageSize: '10', type: 'MARKETING', search: 'news', sort: 'name', dir: 'asc' };
  await record('listTemplates', { query });
  const copy = await record('duplicateTemplate', { params });
  await record('deleteTemplate', { params: { id: copy.id } });
}

/** All requests about a campaign before it is sent. */
async function recordDrafts(recorder: ExampleRecorder): Promise<string> {
  const { project, record } = recorder;
  const topicId = await addTopic(recorder, 'letters-of-campaigns');
  const isPro = { field: 'data.plan', operator: 'equals', value: 'pro' };
  const audienceCondition = { logic: 'AND', groups: [{ filters: [isPro] }] };
  const filtered = { ...NEWS, topicId, audienceType: 'FILTERED', audienceCondition };
  const { data } = await record('createCampaign', { body: filtered, as: 'filtered' });
  const condition = { logic: 'AND', groups: [{ filters: [isPro] }] };
  const segment = await project.api('POST', '/segments', { body: { name: 'Pro', condition } });
  const toSegment = { ...NEWS, audienceType: 'SEGMENT', segmentId: segment.body.id };
  await record('createCampaign', { body: toSegment, as: 'segment' });
  const params = { id: data.id as string };
  await record('replaceCampaign', { params, body: { ...EVERYBODY, topicId } });
  await record('checkCampaign', { params });
  const faulty = { ...EVERYBODY, body: '<p>{{nickname}}, <a href="htp://example.com">look</a></p>', text: null };
  const wrong = await project.api('POST', '/campaigns', { body: faulty });
  await record('checkCampaign', { params: { id: wrong.body.data.id }, as: 'problems' });
  await record('testCampaign', { params, body: { email: 'delivered@sandbox.everpost.test' } });
  const copy = await record('duplicateCampaign', { params });
  await record('sendCampaign', { params: { id: copy.id }, body: { scheduledFor: inADay() }, as: 'scheduled' });
  await record('cancelCampaign', { params: { id: copy.id } });
  await record('deleteCampaign', { params: { id: copy.id } });
  return params.id;
}

/** A campaign that is held because of complaints, and continued by request. */
async function recordHeldCampaign(stack: TestStack, { project, record }: ExampleRecorder): Promise<void> {
  const { api } = project;
  await api('POST', '/contacts', { body: { email: 'reader@gmail.com' } });
  await query(
    stack.em(),
    sql`
      insert into provider_day (project_id, provider, day, sent, complained)
      values (${project.project.id}, 'gmail.com', (now() at time zone 'UTC')::date, 1000, 300)`,
  );
  const { body } = await api('POST', '/campaigns', { body: EVERYBODY });
  const params = { id: body.data.id as string };
  await api('POST', `/campaigns/${params.id}/send`, { body: {} });
  await eventually(async () => (await api('GET', `/campaigns/${params.id}`)).body.waiting !== null);
  await record('getCampaign', { params, as: 'held' });
  await record('getActivityStats', { query: { startDate: new Date().toISOString() }, as: 'complaints' });
  await record('pauseCampaign', { params });
  await record('resumeCampaign', { params });
  await record('continueCampaign', { params });
}

/** A campaign from the draft to its statistics. */
export async function recordCampaigns(stack: TestStack, recorder: ExampleRecorder): Promise<void> {
  const { project, record } = recorder;
  const { api } = project;
  for (const name of ['delivered', 'bounced']) {
    await api('POST', '/contacts', {
      body: { email: `${name}@sandbox.everpost.test`, data: { firstName: 'Ada', plan: 'pro' } },
    });
  }
  const id = await recordDrafts(recorder);
  const params = { id };
  await record('sendCampaign', { params, body: {} });
  const statsOf = async () => (await api('GET', `/campaigns/${id}/stats`)).body;
  await eventually(async () => {
    const { deliveredCount, bouncedCount } = await statsOf();
    return deliveredCount === 1 && bouncedCount === 1 && (await api('GET', `/campaigns/${id}`)).body.status === 'SENT';
  });
  await record('getCampaign', { params, as: 'sent' });
  await record('getCampaignStats', { params });
  await record('listCampaignRecipients', { params, query: { state: 'DELIVERED', limit: '10' } });
  await record('listCampaignRecipients', {
    params,
    query: { state: 'BOUNCED', limit: '10', format: 'csv' },
    as: 'table',
  });
  await record('listCampaigns', {
    query: { page: '1', pageSize: '1', status: 'SENT', search: 'news', sort: 'name', dir: 'asc' },
  });
  const { body } = await api('GET', `/emails?campaignId=${id}&status=BOUNCED&limit=1`);
  await record('getEmail', { params: { id: body.emails[0].id }, as: 'bounced' });
  await record('listEmailDeliveries', { params: { id: body.emails[0].id } });
  await record('listCampaignUnreached', { params });
  await record('listCampaignLinks', { params });
  const { to, contactId } = body.emails[0];
  await api('DELETE', `/suppressions/${to}`);
  await api('PATCH', `/contacts/${contactId}`, { body: { subscribed: true } });
  await record('checkResendCampaign', { params, body: { states: ['BOUNCED'] } });
  await record('resendCampaign', { params, body: { states: ['BOUNCED'] } });
  await record('publishCampaign', { params });
  await record('unpublishCampaign', { params });
  await record('getCampaignHistory', { params });
  await eventually(async () => (await api('GET', `/campaigns/${id}`)).body.status === 'SENT');
  await recordHeldCampaign(stack, recorder);
}
