import { conditionTree, readConfigOf, readContactUpdate } from '../../pure/automations/automation-config.ts';
import type { StepType } from '../../pure/automations/automation-status.ts';
import type { FilterCondition } from '../../pure/filters/filter-condition.ts';
import { collectReferences } from '../../pure/filters/filter-target.ts';
import { readLargeRows } from '../../database/large-rows.ts';
import { query, queryOne, sql, type Em } from '../../database/sql.ts';
import { number, pick, tables, type RowOf } from '../../database/tables.ts';
import type { Topic } from '../topics/topic.entity.ts';
import { findConditionUsage } from './condition-usage.ts';

const CAMPAIGN = pick(tables.campaign, 'id', 'name', 'status');
const TEMPLATE = pick(tables.template, 'id', 'name');
const STEP = {
  ...pick(tables.automationStep, 'id', 'name'),
  workflowId: tables.automation.id,
  workflowName: tables.automation.name,
};

/** What refers to a topic: as what it is about, in a condition, or to change it. */
export interface TopicUsage {
  campaigns: RowOf<typeof CAMPAIGN>[];
  templates: RowOf<typeof TEMPLATE>[];
  workflowSteps: RowOf<typeof STEP>[];
  segments: { id: string; name: string }[];
}

const STEP_TYPES = ['SEND_EMAIL', 'CONDITION', 'UPDATE_CONTACT'] as const satisfies StepType[];

/** The campaigns, templates, steps of automations and segments of a project that refer to a topic, oldest first. */
export async function findTopicUsage(em: Em, projectId: string, { id, key }: Topic): Promise<TopicUsage> {
  const reads = (condition: FilterCondition) => collectReferences(condition).fields.includes(`topic.${key}`);
  const { usedInSegments, usedInCampaigns } = await findConditionUsage(em, projectId, reads);
  const about = await query(
    em,
    sql`select id, name, status from campaign where project_id = ${projectId} and topic_id = ${id} order by created_at, id`,
    CAMPAIGN,
  );
  const templates = await query(
    em,
    sql`select id, name from template where project_id = ${projectId} and topic_id = ${id} order by created_at, id`,
    TEMPLATE,
  );
  const workflowSteps = await readLargeRows(
    em,
    sql`
      select s.id, s.name, a.id as "workflowId", a.name as "workflowName", s.type, s.config
      from automation a join automation_step s on s.automation_id = a.id
      where a.project_id = ${projectId} and s.type = any(${[...STEP_TYPES]}::text[]) order by s.created_at, s.id`,
    { ...STEP, ...pick(tables.automationStep, 'type', 'config') },
    ({ type, config, ...step }) => {
      if (type === 'SEND_EMAIL') return config['topicId'] === id ? step : undefined;
      if (type === 'CONDITION') return reads(conditionTree(readConfigOf(type, config))) ? step : undefined;
      if (type !== 'UPDATE_CONTACT') return undefined;
      const { topics = {} } = readContactUpdate(readConfigOf(type, config));
      return Object.hasOwn(topics, key) ? step : undefined;
    },
  );
  const aboutIds = new Set(about.map((campaign) => campaign.id));
  const campaigns = [...about, ...usedInCampaigns.filter((campaign) => !aboutIds.has(campaign.id))];
  return { campaigns, templates, workflowSteps, segments: usedInSegments };
}

const COUNTS = { subscribed: number, joined: number, left: number };
/** How many contacts have a topic, by choice or by default, and how many have chosen it or left it. */
export type TopicCounts = RowOf<typeof COUNTS>;

export async function countTopicContacts(em: Em, projectId: string, topic: Topic): Promise<TopicCounts> {
  const counts = await queryOne(
    em,
    sql`
      select c.joined, c.left, case when ${topic.defaultSubscription === 'opt_in'}::boolean
        then (select count(*) from contact where project_id = ${projectId}) - c.left else c.joined end as subscribed
      from (
        select count(*) filter (where subscribed) as joined, count(*) filter (where not subscribed) as left
        from topic_subscription where topic_id = ${topic.id}
      ) c`,
    COUNTS,
  );
  return counts ?? { subscribed: 0, joined: 0, left: 0 };
}
