import { call, useKey } from './api.mjs';
import { html } from './html.mjs';
import { Component, createRef, render } from './lib/preact.mjs';
import { Trouble } from './load.mjs';
import { linkForSearch, linkTo, routeOf } from './route.mjs';
import { SignIn } from './sign-in.mjs';
import { AuditView } from './views/audit.mjs';
import { KeysView } from './views/keys.mjs';
import { AddressView } from './views/address.mjs';
import { CampaignView } from './views/campaign.mjs';
import { CampaignsView } from './views/campaigns.mjs';
import { EmailView } from './views/email.mjs';
import { EmailsView } from './views/emails.mjs';
import { DomainsView } from './views/domains.mjs';
import { SegmentView } from './views/segment.mjs';
import { SegmentsView } from './views/segments.mjs';
import { SettingsView } from './views/settings.mjs';
import { SuppressionsView } from './views/suppressions.mjs';
import { TodayView } from './views/today.mjs';
import { TopicsView } from './views/topics.mjs';
import { WorkflowView } from './views/workflow.mjs';
import { WorkflowsView } from './views/workflows.mjs';

/** @typedef {import('./route.mjs').Route} Route */
/** @typedef {{ temporalUiUrl: string | null }} Settings */
/** @typedef {{ id: string, name: string }} Project */
/** @typedef {{ route: Route, project: Project, settings: Settings }} ViewProps */

/**
 * The views of each route: a list, and one item of it.
 * @type {Record<string, { title: string, all?: any, one?: any }>}
 */
const VIEWS = {
  today: { title: 'Today', all: TodayView },
  emails: { title: 'Emails', all: EmailsView, one: EmailView },
  address: { title: 'Address', one: AddressView },
  campaigns: { title: 'Campaigns', all: CampaignsView, one: CampaignView },
  domains: { title: 'Domains', all: DomainsView },
  workflows: { title: 'Workflows', all: WorkflowsView, one: WorkflowView },
  segments: { title: 'Segments', all: SegmentsView, one: SegmentView },
  topics: { title: 'Topics', all: TopicsView },
  suppressions: { title: 'Suppressions', all: SuppressionsView },
  settings: { title: 'Settings', all: SettingsView },
  keys: { title: 'Keys', all: KeysView },
  audit: { title: 'Who did what', all: AuditView },
};
const MENU = Object.keys(VIEWS).filter((name) => VIEWS[name]?.all);

/** Shows the view of a route, or why it cannot be shown. @extends {Component<ViewProps, { error?: unknown }>} */
class RoutedView extends Component {
  /** @param {unknown} error */
  componentDidCatch(error) {
    this.setState({ error });
  }

  render() {
    const { route } = this.props;
    const { error } = this.state;
    if (error !== undefined) return html`<${Trouble} error=${error} isHeading onRetry=${() => location.reload()} />`;
    const views = VIEWS[route.name];
    const View = route.id === '' ? views?.all : views?.one;
    if (!View)
      return html`<h1>There is no such page</h1>
        <p><a href="#/">Go to the first one</a></p>`;
    return html`<${View} ...${this.props} />`;
  }
}

/** @extends {Component<{}, { route: Route, project?: Project, settings: Settings }>} */
class Console extends Component {
  main = createRef();
  wanted = createRef();
  /** @type {{ route: Route, project?: Project, settings: Settings }} */
  state = { route: routeOf(location.hash), settings: { temporalUiUrl: null } };

  componentDidMount() {
    window.addEventListener('hashchange', () => this.setState({ route: routeOf(location.hash) }, this.focusPage));
    document.addEventListener('keydown', this.focusSearch);
  }

  /** Moves the focus to the search field at the key `/`, unless somebody types or answers a question. @param {KeyboardEvent} event */
  focusSearch = (event) => {
    const { key, ctrlKey, altKey, metaKey } = event;
    if (key !== '/' || ctrlKey || altKey || metaKey || !this.wanted.current) return;
    if (document.activeElement?.closest('input, textarea, select, dialog')) return;
    event.preventDefault();
    this.wanted.current.focus();
  };

  /** Moves the focus to a new page, so that screen readers announce it and the keyboard goes on from there. */
  focusPage = () => {
    window.scrollTo(0, 0);
    this.main.current?.focus();
  };

  /** @param {string} key */
  signIn = async (key) => {
    useKey(key);
    const [[project], settings] = await Promise.all([
      call('GET', '/users/@me/projects'),
      call('GET', '/console/config.json'),
    ]);
    this.setState({ project, settings }, this.focusPage);
  };

  signOut = () => {
    useKey('');
    this.setState({ project: undefined });
  };

  /** @param {SubmitEvent} event */
  search = (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    const wanted = String(new FormData(form).get('wanted') ?? '');
    if (wanted.trim() === '') return;
    location.hash = linkForSearch(wanted);
    form.reset();
  };

  /** @param {Project} project */
  header(project) {
    const { route } = this.state;
    return html`<header>
      <a class="skip" href="#content" onClick=${this.skip}>Skip to the content</a>
      <p class="name">Everpost <span>${project.name}</span></p>
      <nav aria-label="Console">
        ${MENU.map(
          (name) =>
            html`<a href=${linkTo(name)} aria-current=${route.name === name ? 'page' : undefined}
              >${VIEWS[name]?.title}</a
            >`,
        )}
      </nav>
      <form role="search" onSubmit=${this.search}>
        <input
          ref=${this.wanted}
          name="wanted"
          aria-keyshortcuts="/"
          type="search"
          aria-label="Address, or id of an email"
          placeholder="Address, or id of an email"
        />
        <button type="submit">Find</button>
      </form>
      <button type="button" onClick=${this.signOut}>Forget the key</button>
    </header>`;
  }

  /** @param {MouseEvent} event */
  skip = (event) => {
    event.preventDefault();
    this.main.current?.focus();
  };

  render() {
    const { project, route, settings } = this.state;
    if (!project) {
      document.title = 'Everpost console';
      return html`<main class="entrance"><${SignIn} onKey=${this.signIn} /></main>`;
    }
    document.title = `${VIEWS[route.name]?.title ?? 'Not found'} – Everpost console`;
    return html`${this.header(project)}
      <main id="content" tabindex="-1" ref=${this.main}>
        <${RoutedView} key=${`${route.name}/${route.id}`} route=${route} project=${project} settings=${settings} />
      </main>`;
  }
}

const root = /** @type {HTMLElement} */ (document.getElementById('console'));
root.textContent = '';
render(html`<${Console} />`, root);
