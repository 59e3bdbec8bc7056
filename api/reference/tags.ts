/** The chapters of the reference. */
export const TAGS = [
  { name: 'Public API', description: 'Sending, tracking and verifying: what an application calls every day.' },
  { name: 'Contacts', description: 'The people a project writes to, their custom data, imports and bulk operations.' },
  { name: 'Topics', description: 'What contacts may join and leave on their own, such as newsletters.' },
  { name: 'Templates', description: 'Content that emails are made from, with placeholders.' },
  { name: 'Campaigns', description: 'One email to many contacts, now or later.' },
  { name: 'Segments', description: 'Groups of contacts: those that fit a condition, or a list.' },
  { name: 'Workflows', description: 'Automations: steps that a contact goes through after an event.' },
  { name: 'Events', description: 'What contacts have done, and what happened to their email.' },
  { name: 'Domains', description: 'Domains to send from, and the DNS records that prove that they are yours.' },
  { name: 'Suppressions', description: 'Addresses that get no email, and how to undo mistaken bounces.' },
  { name: 'Webhooks', description: 'Endpoints of yours that events are sent to, signed and in order.' },
  { name: 'Activity', description: 'A feed of what has happened in the project, and figures for charts.' },
  { name: 'Emails', description: 'Every email with its state, its history, and why it waits.' },
  { name: 'Projects', description: 'The project of the key.' },
  { name: 'Keys', description: 'Keys with names and roles, and who did what.' },
];
