import { execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A page in a real browser, driven over the DevTools protocol. */
export interface BrowserPage {
  /** Opens an address and waits until it is loaded. @returns the HTTP status */
  open: (url: string) => Promise<number>;
  /** Value of a JavaScript expression in the page. */
  evaluate: (expression: string) => Promise<any>;
  /** Presses a key on the keyboard. */
  press: (key: 'Tab' | 'Enter') => Promise<void>;
  /** Presses Enter and waits for the page that follows. */
  pressEnterAndWait: () => Promise<void>;
  /** Roles and names of what assistive technology sees. */
  accessibleNodes: () => Promise<{ role: string; name: string }[]>;
  /** What the browser complained about so far: blocked resources, script errors. */
  complaints: () => string[];
}

export interface Browser {
  page: BrowserPage;
  close: () => Promise<void>;
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const KEYS = { Tab: { windowsVirtualKeyCode: 9 }, Enter: { windowsVirtualKeyCode: 13, text: '\r' } };
const START_TIMEOUT_MS = 30_000;
const REPLY_TIMEOUT_MS = 15_000;

function findOnPath(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const candidates = NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  return [process.env['CHROMIUM_PATH'] ?? '', ...candidates].find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return file !== '';
    } catch {
      return false;
    }
  });
}

/** In CI, as root, a missing browser is installed; people are told how to. */
function chromiumPath(): string {
  const found = findOnPath();
  if (found !== undefined) return found;
  if (process.env['CI'] && process.getuid?.() === 0) {
    execFileSync('/usr/bin/apt-get', ['update'], { stdio: 'ignore', timeout: 120_000 });
    execFileSync('/usr/bin/apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], {
      stdio: 'ignore',
      timeout: 300_000,
    });
    const installed = findOnPath();
    if (installed !== undefined) return installed;
  }
  throw new Error(
    'This test needs Chromium: install it (`apt-get install chromium`, `brew install --cask chromium`) or name one in CHROMIUM_PATH',
  );
}

interface Protocol {
  call: (method: string, params?: object, sessionId?: string) => Promise<any>;
  onEvent: (listener: (method: string, params: any) => void) => void;
  close: () => void;
}

async function connectTo(url: string): Promise<Protocol> {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error('Chromium does not answer')));
  });
  const pending = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  const listeners: ((method: string, params: unknown) => void)[] = [];
  let nextId = 1;
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data));
    if (message.id === undefined) {
      for (const listener of listeners) listener(message.method, message.params);
      return;
    }
    const waiting = pending.get(message.id);
    pending.delete(message.id);
    if (message.error) waiting?.reject(new Error(message.error.message));
    else waiting?.resolve(message.result);
  });
  return {
    call: (method, params = {}, sessionId) =>
      new Promise((resolve, reject) => {
        const id = nextId++;
        const timer = setTimeout(() => reject(new Error(`Chromium did not answer ${method}`)), REPLY_TIMEOUT_MS);
        const settle = (done: () => void): void => {
          clearTimeout(timer);
          done();
        };
        pending.set(id, {
          resolve: (result) => settle(() => resolve(result)),
          reject: (error) => settle(() => reject(error)),
        });
        socket.send(JSON.stringify({ id, method, params, sessionId }));
      }),
    onEvent: (listener) => void listeners.push(listener),
    close: () => socket.close(),
  };
}

/** Starts a headless Chromium with one page of the size of a phone. @throws Error that says how to get one */
export async function startBrowser(): Promise<Browser> {
  const profile = mkdtempSync(path.join(tmpdir(), 'everpost-chromium-'));
  const flags = [
    '--headless=new',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--no-first-run',
    '--disable-background-networking',
  ];
  if (process.getuid?.() === 0) flags.push('--no-sandbox');
  const child = spawn(
    chromiumPath(),
    [...flags, `--user-data-dir=${profile}`, '--remote-debugging-port=0', 'about:blank'],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => reject(new Error(`Chromium does not start:\n${output}`)), START_TIMEOUT_MS);
    child.once('exit', () => reject(new Error(`Chromium has ended:\n${output}`)));
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const found = /DevTools listening on (ws:\S+)/.exec(output)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
  });
  const protocol = await connectTo(url);
  const { targetId } = await protocol.call('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await protocol.call('Target.attachToTarget', { targetId, flatten: true });
  const call = (method: string, params?: object): Promise<any> => protocol.call(method, params, sessionId);

  const complaints: string[] = [];
  let status = 0;
  let onLoad: (() => void) | undefined;
  protocol.onEvent((method, params) => {
    if (method === 'Page.loadEventFired') onLoad?.();
    if (method === 'Network.responseReceived' && params.type === 'Document') ({ status } = params.response);
    // Every browser asks for an icon; that there is none is no fault of the page.
    if (method === 'Log.entryAdded' && !String(params.entry.url).endsWith('/favicon.ico'))
      complaints.push(params.entry.text);
    if (method === 'Runtime.exceptionThrown') complaints.push(params.exceptionDetails.text);
  });
  for (const domain of ['Page', 'Network', 'Log', 'Runtime', 'Accessibility']) await call(`${domain}.enable`);
  await call('Emulation.setDeviceMetricsOverride', { width: 320, height: 640, deviceScaleFactor: 2, mobile: true });

  async function untilLoaded(act: () => Promise<unknown>): Promise<void> {
    const loaded = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the page was not loaded')), REPLY_TIMEOUT_MS);
      onLoad = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    await act();
    await loaded;
    onLoad = undefined;
  }
  async function press(key: 'Tab' | 'Enter'): Promise<void> {
    await call('Input.dispatchKeyEvent', { type: 'keyDown', key, code: key, ...KEYS[key] });
    await call('Input.dispatchKeyEvent', { type: 'keyUp', key, code: key, ...KEYS[key] });
  }

  return {
    page: {
      async open(address) {
        await untilLoaded(() => call('Page.navigate', { url: address }));
        return status;
      },
      async evaluate(expression) {
        return (await call('Runtime.evaluate', { expression, returnByValue: true })).result.value;
      },
      press,
      pressEnterAndWait: () => untilLoaded(() => press('Enter')),
      async accessibleNodes() {
        const { nodes } = await call('Accessibility.getFullAXTree');
        return nodes
          .filter((node: any) => !node.ignored)
          .map((node: any) => ({ role: node.role?.value ?? '', name: node.name?.value ?? '' }));
      },
      complaints: () => complaints,
    },
    async close() {
      protocol.close();
      child.kill();
      await exited;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
