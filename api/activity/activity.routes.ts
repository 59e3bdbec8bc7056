import type { z } from 'zod';
import { DAY_MS } from '../../shared/pure/days.ts';
import { badRequest } from '../../shared/pure/app-error.ts';
import { listActivity } from '../../shared/domain/activity-feed/activity-feed.ts';
import { countActivity, totalOf } from '../../shared/domain/activity-feed/activity-stats.ts';
import { listComplaintRates } from '../../shared/domain/emails/complaint-rates.ts';
import { listWaiting } from '../../shared/domain/lifecycle/queue.ts';
import { periodOf } from '../events/events.schemas.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import {
  activityCursors,
  activityPageSchema,
  activityQuery,
  activityStatsQuery,
  activityStatsSchema,
  activityStatsView,
  queueSchema,
  queueView,
} from './activity.schemas.ts';

const endpoint = endpointsOf('Activity');

const DAYS_DEFAULT = 30;
const DAYS_MAX = 3_660;

const list = endpoint('listActivity', 'GET /activity', {
  roles: ['marketing', 'support', 'read'],
  isHeavy: true,
  summary: 'What has happened in the project, newest first',
  query: activityQuery,
  replies: { 200: { description: 'A page of activities', schema: activityPageSchema } },
  errors: ['BAD_REQUEST'],
  async handle({ em, project, query }) {
    const { limit, types, contactId } = query;
    const { activities, next } = await listActivity(em, project.id, {
      limit,
      types,
      contactId,
      cursor: activityCursors.read(query.cursor),
      period: periodOf(query),
    });
    return ok({
      data: activities.map((activity) => ({ ...activity, timestamp: activity.timestamp.toISOString() })),
      ...activityCursors.after(next && { ...next }),
    });
  },
});

/** The period to count, its end excluded: the last 30 days by default. */
function readRange(query: z.infer<typeof activityStatsQuery>, now: number): { from: Date; until: Date } {
  const period = periodOf(query);
  const end = period.to ?? { precision: 'day', startMs: now - (now % DAY_MS) };
  const until = end.startMs + (end.precision === 'day' ? DAY_MS : 1);
  const from = period.from?.startMs ?? until - (until % DAY_MS) - DAYS_DEFAULT * DAY_MS;
  if (until - from > DAYS_MAX * DAY_MS) {
    throw badRequest(`The period has more than ${DAYS_MAX} days`, { details: { field: 'startDate' } });
  }
  return { from: new Date(from), until: new Date(until) };
}

const stats = endpoint('getActivityStats', 'GET /activity/stats', {
  roles: ['marketing', 'support', 'read'],
  isHeavy: true,
  summary: 'Totals, rates and a series of UTC days',
  description:
    'Counts the last 30 days unless dates are given. Opened, clicked and bounced count each email once; `humanOpened` and `humanClicked` leave machines out. `complaintRates` are those of the last 7 days, whatever the dates. Rates are percent of what was sent in the period.',
  query: activityStatsQuery,
  replies: { 200: { description: 'The figures', schema: activityStatsSchema } },
  errors: ['BAD_REQUEST'],
  async handle({ em, project, query }) {
    const { from, until } = readRange(query, Date.now());
    const series = await countActivity(em, project.id, from, until);
    return ok(activityStatsView(totalOf(series), series, await listComplaintRates(em, project.id)));
  },
});

/** Time limit of the count: one index has the backlogs of all projects, so counting one may mean reading all. */
const QUEUE_TIMEOUT_MS = 5_000;

const queue = endpoint('getQueue', 'GET /activity/queue', {
  roles: ['marketing', 'support', 'read'],
  isHeavy: true,
  summary: 'What waits in the project, by kind, and for how long',
  description:
    'Emails (transactional ones and those of automations), recipients of campaigns that are being sent, overdue executions, jobs, and work that has not been started yet. `GET /emails/:id` says why a single email waits.',
  replies: { 200: { description: 'What waits', schema: queueSchema } },
  handle: async ({ em, project }) => ok(queueView(await listWaiting(em, project.id, QUEUE_TIMEOUT_MS))),
});

export const activityEndpoints: Endpoint[] = [list, stats, queue];
