import { v7 as uuidV7 } from 'uuid';
import { query, sql } from '../shared/database/sql.ts';
import { round, type BenchContext, type BenchResult } from './harness/contract.ts';
import { fillHistory } from './history/fill.ts';
import { compare, prepareSide, WORK, type Side } from './history/measures.ts';

/** By which factor a topic may raise the cost of a campaign. */
const GOAL = 1.05;
/** One contact in so many has chosen the topic; the others get it by default. */
const CHOICE_EVERY = 5;

/** Adds a topic that everybody gets, and that some have chosen. @returns its id */
async function addTopic({ stack, segmentId }: Side): Promise<string> {
  const id = uuidV7();
  await query(
    stack.em(),
    sql`
      insert into topic (id, project_id, key, name, default_subscription, created_at, updated_at)
      values (${id}, ${stack.project.id}, 'bench', 'Bench', 'opt_in', now(), now())`,
  );
  await query(
    stack.em(),
    sql`
      insert into topic_subscription (topic_id, contact_id, subscribed)
      select ${id}, contact_id, true
      from (select contact_id, row_number() over (order by contact_id) as n from segment_member
        where segment_id = ${segmentId}) m
      where n % ${CHOICE_EVERY}::int = 0`,
  );
  await query(stack.em(), sql`vacuum analyze topic_subscription`);
  return id;
}

/** Measures what a topic adds to the cost of a campaign: campaigns without and with one in turns. */
export async function measureTopicCost(context: BenchContext): Promise<BenchResult> {
  const sink = await context.startSink('own');
  const stack = await context.startStack({ smtpUrl: sink.url });
  const history = await fillHistory(stack, { emails: 1, events: 1, days: 1, otherProjects: 1 }, context.progress);
  const without = await prepareSide(context, stack, history);
  const topicId = await addTopic(without);
  const measure = WORK['campaign'];
  if (!measure) throw new Error('There is no measure of campaigns.');
  const { smallCpuMs, filledCpuMs, postgresCpuMs } = await compare(
    context,
    without,
    { ...without, topicId },
    async (each, side) => {
      const cost = await measure(each, side);
      const which = side.topicId === undefined ? 'without' : 'with';
      context.progress(
        `${round(cost.cpuMs, 3)} ms an email ${which} a topic, ${round(cost.postgresCpuMs, 3)} of PostgreSQL`,
      );
      return cost;
    },
  );
  const figure = round(filledCpuMs / smallCpuMs, 3);
  return {
    name: 'campaign',
    figure,
    unit: 'times the CPU time of one without a topic',
    limit: GOAL,
    ratio: round(GOAL / figure, 2),
    recipients: context.number('recipients'),
    cpuMsWithout: smallCpuMs,
    cpuMsWith: filledCpuMs,
    postgresCpuMsWithout: postgresCpuMs[0],
    postgresCpuMsWith: postgresCpuMs[1],
  };
}
