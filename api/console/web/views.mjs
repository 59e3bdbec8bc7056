import { AuditView } from './views/audit.mjs';
import { AddressView } from './views/address.mjs';
import { AutomationView } from './views/automation.mjs';
import { AutomationsView } from './views/automations.mjs';
import { CampaignView } from './views/campaign.mjs';
import { CampaignsView } from './views/campaigns.mjs';
import { ContactView } from './views/contact.mjs';
import { ContactsView } from './views/contacts.mjs';
import { DeliverabilityView } from './views/deliverability.mjs';
import { DomainsView } from './views/domains.mjs';
import { EmailView } from './views/email.mjs';
import { EmailsView } from './views/emails.mjs';
import { KeysView } from './views/keys.mjs';
import { PartsView } from './views/parts.mjs';
import { SegmentView } from './views/segment.mjs';
import { SegmentsView } from './views/segments.mjs';
import { SettingsView } from './views/settings.mjs';
import { SuppressionsView } from './views/suppressions.mjs';
import { TemplateView } from './views/template.mjs';
import { TemplatesView } from './views/templates.mjs';
import { TodayView } from './views/today.mjs';
import { TopicsView } from './views/topics.mjs';
import { WebhookView } from './views/webhook.mjs';
import { WebhooksView } from './views/webhooks.mjs';
import { may } from './api.mjs';
import { linkTo } from './route.mjs';

/**
 * The views of each route: a list, and one item of it; and the operation that the list needs.
 * @type {Record<string, { title: string, icon: string, needs?: string, all?: any, one?: any }>}
 */
export const VIEWS = {
  today: { title: 'Today', icon: 'home', all: TodayView },
  emails: { title: 'Emails', icon: 'envelope', needs: 'GET /emails', all: EmailsView, one: EmailView },
  campaigns: { title: 'Campaigns', icon: 'megaphone', needs: 'GET /campaigns', all: CampaignsView, one: CampaignView },
  automations: {
    title: 'Automations',
    icon: 'bolt',
    needs: 'GET /workflows',
    all: AutomationsView,
    one: AutomationView,
  },
  deliverability: { title: 'Deliverability', icon: 'signal', needs: 'GET /deliverability', all: DeliverabilityView },
  contacts: { title: 'Contacts', icon: 'users', needs: 'GET /contacts', all: ContactsView, one: ContactView },
  address: { title: 'Address', icon: 'user', one: AddressView },
  segments: { title: 'Segments', icon: 'funnel', needs: 'GET /segments', all: SegmentsView, one: SegmentView },
  topics: { title: 'Topics', icon: 'tag', needs: 'GET /topics', all: TopicsView },
  suppressions: { title: 'Suppressions', icon: 'no-symbol', needs: 'GET /suppressions', all: SuppressionsView },
  templates: {
    title: 'Templates',
    icon: 'document-text',
    needs: 'GET /templates',
    all: TemplatesView,
    one: TemplateView,
  },
  domains: { title: 'Domains', icon: 'globe-alt', needs: 'GET /domains/project/:projectId', all: DomainsView },
  webhooks: { title: 'Webhooks', icon: 'link', needs: 'GET /webhooks', all: WebhooksView, one: WebhookView },
  keys: { title: 'Keys', icon: 'key', needs: 'GET /keys', all: KeysView },
  audit: { title: 'Audit', icon: 'clock', needs: 'GET /audit', all: AuditView },
  settings: { title: 'Settings', icon: 'cog-6-tooth', all: SettingsView },
  parts: { title: 'Parts', icon: 'square-2-stack', all: PartsView },
};

/** The pages of the rail. @type {Record<string, string[]>} */
const GROUPS = {
  Sending: ['today', 'emails', 'campaigns', 'automations', 'deliverability'],
  People: ['contacts', 'segments', 'topics', 'suppressions'],
  Setup: ['templates', 'domains', 'webhooks', 'keys', 'audit', 'settings'],
};

/** The pages that the key may read, by their group. @returns {[group: string, pages: string[]][]} */
export function readableGroups() {
  const isReadable = (/** @type {string} */ page) => may(VIEWS[page]?.needs);
  return Object.entries(GROUPS).map(([group, pages]) => [group, pages.filter(isReadable)]);
}

/** The same pages as the command field finds them. */
export function readablePages() {
  return readableGroups()
    .flatMap(([, pages]) => pages)
    .map((name) => {
      const { title = '', icon = '' } = VIEWS[name] ?? {};
      return { kind: 'page', icon, title, href: linkTo(name) };
    });
}
