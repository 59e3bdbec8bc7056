import { ApiError } from '../api.mjs';
import { Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Chips, Empty, Facts, Notice, PageHead, Section, Skeleton, Tabs, Timeline } from '../parts/basics.mjs';
import { Code } from '../parts/code.mjs';
import { Action, Menu } from '../parts/dialog.mjs';
import { Bars, Figure, Funnel, Gauge } from '../parts/figures.mjs';
import { Field, Form } from '../parts/form.mjs';
import { Frame } from '../parts/frame.mjs';
import { Icon } from '../parts/icon.mjs';
import { Trouble } from '../parts/load.mjs';
import { Pill } from '../parts/pill.mjs';
import { Table } from '../parts/table.mjs';
import { toast } from '../parts/toast.mjs';
import { linkTo } from '../route.mjs';

const NOW = new Date().toISOString();
const LONG = 'donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft@example.com';
const STATES = [
  'DELIVERED',
  'PENDING',
  'PAUSED',
  'BOUNCED',
  'FAILED',
  'UNSUBSCRIBED',
  'SCHEDULED',
  'COMPLETED',
  'SUPPRESSED',
];
const DAYS = Array.from({ length: 30 }, (_, n) => `2026-11-${String(n + 1).padStart(2, '0')}`);
const ERRORS = {
  refused: {
    message: 'The role of this key does not allow this',
    status: 403,
    code: 'ROLE_REFUSED',
    requestId: '019a',
  },
  offline: { message: 'The API cannot be reached', suggestion: 'Look at the network and whether the API runs' },
  invalid: {
    message: 'Request validation failed',
    status: 422,
    code: 'VALIDATION_ERROR',
    faults: [{ field: 'to', message: 'Must be an address' }],
  },
};
const here = linkTo('parts');
const nothing = async () => 'Done';

/** Parts that say how much. */
function Numbers() {
  return html`<${Section} title="Figures">
      <div class="figures">
        <${Figure}
          label="Sent today"
          value="12,408"
          delta="+312 to yesterday"
          values=${[3, 5, 4, 8, 6, 9, 12]}
          href=${here}
        />
        <${Figure} label="Bounced" value="4.1 %" isBad hint="2 % is the goal" />
        <${Figure}
          label="Complaints"
          value="0.12 %"
          hint=${html`Goal below 0.1 % <${Gauge} value=${0.12} goal=${0.1} limit=${0.3} label="0.12 %" />`}
        />
        <${Figure} label="Nothing yet" value="–" />
      </div>
      <${Bars}
        title="30 days"
        days=${DAYS}
        series=${[
          { label: 'delivered', hue: 'accent', values: DAYS.map((_, n) => (n * 37) % 90) },
          { label: 'bounced', hue: 'bad', values: DAYS.map((_, n) => n % 7) },
        ]}
      />
      <${Bars} title="No day" days=${DAYS} series=${[]} empty="No email in these days" />
    <//>
    <${Section} title="Funnel"
      ><${Funnel}
        steps=${[
          { label: 'Recipients', value: 1200 },
          { label: 'Delivered', value: 1100, note: '91.7 %' },
          { label: 'Opened', value: 420, note: '35.0 %' },
          { label: 'Clicked', value: 0, note: '0.0 %' },
        ]}
    /><//>`;
}

function Lists() {
  const row = (/** @type {string} */ key, /** @type {string} */ name, /** @type {string} */ state) => ({
    key,
    href: here,
    cells: [name, state, 'Receipt 4711', '1,204', NOW],
  });
  return html`<${Section} title="Table">
      <${Table}
        label="Example"
        columns=${[{ label: 'To', kind: 'main' }, { label: 'State', kind: 'pill' }, { label: 'Subject' }, { label: 'Clicks', kind: 'num' }, { label: 'Queued', kind: 'time' }]}
        rows=${[row('1', 'ada@example.com', 'DELIVERED'), row('2', LONG, 'BOUNCED'), row('3', 'مرحبا <script>', 'PENDING')]}
      />
    <//>
    <${Section} title="Loading"><${Skeleton} rows=${3} /><${Skeleton} shape="figures" rows=${2} /><//>
    <${Section} title="Empty"
      ><${Empty} title="No email yet" text="Send the first one" icon="envelope" guide="guides/first-email"
        ><${Code} samples=${{ curl: 'curl -d \'{"to": 1}\' # first', Python: 'import requests' }} /><//
    ><//>
    <${Section} title="Timeline"
      ><${Timeline}
        label="Example"
        entries=${[
          { at: html`<${Time} at=${NOW} />`, word: 'Queued' },
          { at: '2 min', word: 'Deferred', hue: 'wait', detail: html`<p><q>451 try later</q></p>` },
          { at: 'now', word: 'Delivered', hue: 'good' },
          { at: 'now', word: 'Bounced', hue: 'bad', detail: LONG },
        ]}
    /><//>`;
}

/** Parts that tell and ask. */
function Messages() {
  return html`<${Section} title="Errors"
      >${Object.values(ERRORS).map((error) => html`<${Trouble} error=${new ApiError(error)} onRetry=${() => undefined} />`)}<//
    >
    <${Section} title="Notices">
      <${Notice} icon="clock">It waits<//>
      <${Notice} isBad>It failed: ${LONG}<//>
    <//>
    <${Section} title="Facts"
      ><${Facts}
        rows=${[
          ['To', LONG],
          ['Left out', ''],
          ['When', html`<${Time} at=${NOW} isFull />`],
        ]}
    /><//>
    <${Section} title="Form"
      ><${Form} save=${nothing}
        ><${Field} name="one" label="Text" hint="A hint" /><${Field}
          name="two"
          label="Choice"
          options=${{ a: 'A', b: 'B' }} /><//
    ><//>
    <${Section} title="Frame"
      ><${Frame}
        content="<h1>Hello</h1><script>parent.document.title = 'ran'</script><p style='color: red'>Styled</p>"
        label="Example"
    /><//>`;
}

/** Every part in every state, on the local stack only. @param {import('../main.mjs').ViewProps} props */
export function PartsView({ settings }) {
  if (!settings.hasParts) return html`<${PageHead} title="Not found" facts="There is no such page" />`;
  return html`<${PageHead}
      title="Parts"
      pill=${html`<${Pill} state="OK" word="Pill" />`}
      facts="A line of facts"
      up=${{ href: here, label: 'Above' }}
      actions=${html`<${Action} label="Quiet" text="What will happen, with numbers." run=${nothing} />
        <${Action} label="Counted" kind="primary" ask=${async () => ({ text: '2 of 5 can get it.' })} run=${nothing} />
        <${Action}
          label="Impossible"
          ask=${async () => ({ text: 'Nobody can get it.', isImpossible: true })}
          run=${nothing}
        />
        <${Menu} label="More"
          ><${Action} label="Delete" kind="danger" text="It is gone for good." run=${nothing}
        /><//>`}
    />
    <${Section} title="Pills">${STATES.map((state) => html`<${Pill} state=${state} /> `)}<//>
    <${Section} title="Buttons">
      <p class="actions">
        <button>Quiet</button><button class="primary">Primary</button><button class="danger">Danger</button>
        <button class="plain"><${Icon} name="bolt" />Plain</button><button disabled>Disabled</button>
        <button onClick=${() => toast('Done', async () => undefined)}>Toast with Undo</button>
      </p>
    <//>
    <${Section} title="Tabs and chips">
      <${Tabs}
        label="Example"
        current="a"
        tabs=${[
          { key: 'a', label: 'Failed', href: here, count: '3', isBad: true },
          { key: 'b', label: 'Waiting', href: here, count: '0' },
          { key: 'c', label: 'All', href: here },
        ]}
      />
      <${Chips}
        filters=${[
          { name: 'a', label: 'State', value: 'x', options: { x: 'Bounced' } },
          { name: 'b', label: 'Address', value: '' },
        ]}
        onChange=${() => undefined}
        onClear=${() => undefined}
      />
    <//>
    <${Numbers} />
    <${Lists} />
    <${Messages} />`;
}
