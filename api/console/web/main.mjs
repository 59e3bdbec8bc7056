import { call, onKeyEnded, useKey, useOperations } from './api.mjs';
import { html } from './html.mjs';
import { Component, createRef, render } from './lib/preact.mjs';
import { PageHead } from './parts/basics.mjs';
import { Command } from './parts/command.mjs';
import { Dialog } from './parts/dialog.mjs';
import { reloadAll, Trouble } from './parts/load.mjs';
import { Toasts } from './parts/toast.mjs';
import { listenForKeys } from './keyboard.mjs';
import { linkTo, routeOf } from './route.mjs';
import { Bar, Rail, Shortcuts } from './shell.mjs';
import { KeyForm, SignIn } from './sign-in.mjs';
import { readablePages, VIEWS } from './views.mjs';

/** @typedef {import('./route.mjs').Route} Route */
/** @typedef {{ temporalUiUrl: string | null, hasParts?: boolean }} Settings */
/** @typedef {{ id: string, name: string, key: { name: string, role: string } }} Project */
/** @typedef {{ route: Route, project: Project, settings: Settings }} ViewProps */

const icon = new URL('icon.svg', import.meta.url).href;

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
      return html`<${PageHead} title="Not found" facts="There is no such page" />
        <p><a href="#/">Go to Today</a></p>`;
    return html`<${View} ...${this.props} />`;
  }
}

/** @typedef {{ route: Route, project?: Project, settings: Settings, over?: 'command' | 'shortcuts' | 'key', hasMenu?: boolean, isOffline?: boolean }} ConsoleState */
/** @extends {Component<{}, ConsoleState>} */
class Console extends Component {
  main = createRef();
  /** @type {ConsoleState} */
  state = { route: routeOf(location.hash), settings: { temporalUiUrl: null } };

  componentDidMount() {
    addEventListener('hashchange', this.turnTo);
    addEventListener('offline', () => this.setState({ isOffline: true }));
    addEventListener('online', () => this.setState({ isOffline: false }, reloadAll));
    onKeyEnded(() => this.state.project && this.setState({ over: 'key' }));
    listenForKeys((over) => this.state.project && this.setState({ over }));
  }

  /** Moves the focus to a new page, so that screen readers announce it and the keyboard goes on from there. */
  turnTo = () => {
    const { name, id } = this.state.route;
    const route = routeOf(location.hash);
    const isSame = route.name === name && route.id === id;
    this.setState({ route, hasMenu: false }, isSame ? undefined : this.focusPage);
  };

  focusPage = () => {
    window.scrollTo(0, 0);
    this.main.current?.focus({ preventScroll: true });
  };

  /** @param {string} key */
  signIn = async (key) => {
    useKey(key);
    const [[project], { operations, ...settings }] = await Promise.all([
      call('GET', '/users/@me/projects'),
      call('GET', '/console/config.json'),
    ]);
    useOperations(operations);
    const isBack = this.state.project !== undefined;
    this.setState({ project, settings, over: undefined }, isBack ? reloadAll : this.focusPage);
  };

  signOut = () => {
    useKey('');
    this.setState({ project: undefined, over: undefined });
  };

  close = () => this.setState({ over: undefined });

  /** @param {MouseEvent} event */
  skip = (event) => {
    event.preventDefault();
    this.main.current?.focus();
  };

  /** What lies over the page. */
  over() {
    const { over } = this.state;
    if (over === 'command') return html`<${Command} pages=${readablePages()} onClose=${this.close} />`;
    if (over === 'shortcuts') return html`<${Shortcuts} onClose=${this.close} />`;
    if (over !== 'key') return null;
    return html`<${Dialog} title="This key has ended" onClose=${this.close}>
      <p>Give another key of the same project to go on where you are.</p>
      <${KeyForm} onKey=${this.signIn} />
    <//>`;
  }

  render() {
    const { project, route, settings, hasMenu = false, isOffline } = this.state;
    const title = VIEWS[route.name]?.title ?? 'Not found';
    document.title = project ? `${title} – Everpost` : 'Everpost console';
    if (!project) return html`<${SignIn} onKey=${this.signIn} icon=${icon} />`;
    const find = () => this.setState({ over: 'command' });
    return html`<a class="skip hidden button" href="#content" onClick=${this.skip}>Skip to the content</a>
      <div class="shell">
        <${Bar}
          project=${project}
          icon=${icon}
          onFind=${find}
          onMenu=${() => this.setState({ hasMenu: !hasMenu })}
          isOpen=${hasMenu}
        />
        <${Rail}
          ...${{ project, icon, settings }}
          current=${route.name}
          isOpen=${hasMenu}
          onFind=${find}
          onShortcuts=${() => this.setState({ over: 'shortcuts' })}
          onSignOut=${this.signOut}
        />
        <main id="content" tabindex="-1" ref=${this.main}>
          ${isOffline && html`<p class="notice" role="status">Offline: what you see may be old. It goes on by itself.</p>`}
          <${RoutedView}
            key=${`${project.id}/${route.name}/${route.id}`}
            route=${route}
            project=${project}
            settings=${settings}
          />
        </main>
      </div>
      ${this.over()}
      <${Toasts} />`;
  }
}

const root = /** @type {HTMLElement} */ (document.getElementById('console'));
root.textContent = '';
if (location.hash === '') history.replaceState(null, '', linkTo('today'));
render(html`<${Console} />`, root);
