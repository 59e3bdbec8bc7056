/** The item types of the activity feed. */
export const ACTIVITY_TYPES = [
  'event.triggered',
  'email.sent',
  'email.delivered',
  'email.opened',
  'email.clicked',
  'email.bounced',
  'email.complaint',
  'email.received',
  'email.suppressed',
  'email.failed',
  'contact.subscribed',
  'contact.unsubscribed',
  'contact.paused',
  'contact.resumed',
  'topic.subscribed',
  'topic.unsubscribed',
  'campaign.scheduled',
  'campaign.sent',
  'workflow.started',
  'workflow.completed',
  'workflow.refused',
] as const;
export type ActivityType = (typeof ACTIVITY_TYPES)[number];

/** Activity types and the system events that they stand for. Every other event is `event.triggered`. */
export const EVENT_OF_ACTIVITY = {
  'email.sent': 'email.sent',
  'email.delivered': 'email.delivery',
  'email.opened': 'email.open',
  'email.clicked': 'email.click',
  'email.bounced': 'email.bounce',
  'email.complaint': 'email.complaint',
  'email.received': 'email.received',
  'email.suppressed': 'email.suppressed',
  'email.failed': 'email.failed',
  'contact.subscribed': 'contact.subscribed',
  'contact.unsubscribed': 'contact.unsubscribed',
  'contact.paused': 'contact.paused',
  'contact.resumed': 'contact.resumed',
  'topic.subscribed': 'topic.subscribed',
  'topic.unsubscribed': 'topic.unsubscribed',
} as const satisfies Partial<Record<ActivityType, string>>;

/** Names of the events above. */
export const SYSTEM_EVENTS: readonly string[] = Object.values(EVENT_OF_ACTIVITY);

const TYPE_OF_EVENT = new Map<string, ActivityType>(
  Object.entries(EVENT_OF_ACTIVITY).map(([type, event]) => [event, type as ActivityType]),
);

/** The activity type of an event, by the event's name. */
export function activityOfEvent(name: string): ActivityType {
  return TYPE_OF_EVENT.get(name) ?? 'event.triggered';
}
