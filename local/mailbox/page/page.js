const pageSize = 50;
const refreshMs = 2_000;
const element = (id) => document.getElementById(id);
const state = { page: 1, total: 0, chosen: undefined, details: undefined, view: 'html', shown: '', pictures: false };

async function getJson(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.json();
}

function make(tag, text, properties = {}) {
  return Object.assign(document.createElement(tag), { textContent: text }, properties);
}

async function refresh() {
  const query = new URLSearchParams({ page: state.page, pageSize, search: element('search').value });
  const list = await getJson(`/api/messages?${query}`);
  state.total = list.total;
  const first = (state.page - 1) * pageSize;
  element('total').textContent =
    list.total === 0
      ? 'no messages'
      : `${first + 1} to ${first + list.messages.length} of ${list.total.toLocaleString()}`;
  element('hint').textContent = list.total === 0 ? '' : 'Choose a message';
  element('newer').disabled = state.page === 1;
  element('older').disabled = first + pageSize >= list.total;
  const key = JSON.stringify([list.messages.map(({ id }) => id), state.chosen]);
  // Redrawing an unchanged list would take the keyboard focus away.
  if (key === state.shown) return;
  state.shown = key;
  const items = list.messages.map(drawItem);
  element('list').replaceChildren(...(items.length > 0 ? items : [drawEmpty()]));
}

function drawEmpty() {
  const item = make('li', '', { className: 'empty' });
  const isSearch = element('search').value !== '';
  item.append(
    make('strong', isSearch ? 'Nothing found' : 'No email yet'),
    isSearch
      ? 'No subject or address has these words.'
      : 'What this stack sends arrives here. No mail leaves your machine.',
  );
  return item;
}

/** A moment as "2 min", with all of it in its title. */
function drawTime(moment) {
  const seconds = Math.max(0, (Date.now() - new Date(moment)) / 1000);
  const [unit, length] = [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ].find(([, each]) => seconds >= each) ?? ['s', 1];
  return make('time', `${Math.floor(seconds / length)} ${unit}`, {
    dateTime: moment,
    title: new Date(moment).toLocaleString(),
  });
}

function drawItem(message) {
  const button = make('button', '', { type: 'button' });
  button.append(
    make('strong', message.subject || '(no subject)'),
    drawTime(message.receivedAt),
    make('span', `${message.to || message.envelope.to.join(', ')} from ${message.from || message.envelope.from}`),
  );
  button.dataset.id = message.id;
  button.setAttribute('aria-current', String(message.id === state.chosen));
  button.addEventListener('click', () => choose(message.id));
  const item = make('li', '');
  item.append(button);
  return item;
}

async function choose(id) {
  state.chosen = id;
  location.hash = id;
  const details = await getJson(`/api/messages/${encodeURIComponent(id)}`);
  if (state.chosen !== id) return;
  state.details = details;
  state.pictures = false;
  if (!details.html && state.view === 'html') state.view = 'text';
  else if (details.html && state.view === 'text') state.view = 'html';
  element('message').hidden = false;
  element('subject').textContent = details.subject || '(no subject)';
  const facts = [
    ['From', details.from],
    ['To', details.to],
    ['Envelope', `${details.envelope.from || '<>'} to ${details.envelope.to.join(', ')}`],
    ['Received', new Date(details.receivedAt).toLocaleString()],
  ];
  element('facts').replaceChildren(...facts.flatMap(([name, value]) => [make('dt', name), make('dd', value)]));
  element('attachments').replaceChildren(
    ...details.attachments.map((attachment) => {
      const url = `/api/messages/${encodeURIComponent(id)}/attachments/${attachment.number}`;
      const item = make('li', '');
      item.append(
        make('a', `${attachment.filename ?? 'attachment'} (${Math.ceil(attachment.bytes / 1_000)} kB)`, { href: url }),
      );
      return item;
    }),
  );
  await Promise.all([show(), refresh()]);
}

/** The links of a message: their texts, and where they lead. The document is never shown, so it loads nothing. */
function linksIn({ html, text }) {
  const links = [...new DOMParser().parseFromString(html ?? '', 'text/html').querySelectorAll('a[href]')];
  if (html) return links.map((link) => [link.textContent.trim() || '(picture)', link.getAttribute('href')]);
  return (text?.match(/https?:\/\/[^\s<>]+/g) ?? []).map((address) => ['', address]);
}

function drawLinks(links) {
  const rows = links.map(([text, address]) => {
    const isWeb = /^(https?|mailto):/i.test(address);
    const target = isWeb ? make('a', address, { href: address, target: '_blank', rel: 'noreferrer' }) : address;
    const [row, cell] = [make('tr', ''), make('td', '')];
    cell.append(target);
    row.append(make('td', text), cell);
    return row;
  });
  element('links').tBodies[0].replaceChildren(...rows);
}

async function show() {
  const { details, view, pictures } = state;
  const url = `/api/messages/${encodeURIComponent(details.id)}`;
  const links = linksIn(details);
  drawLinks(links);
  for (const button of element('views').querySelectorAll('[data-view]')) {
    if (button.dataset.view === 'links') button.textContent = `Links ${links.length}`;
    button.setAttribute('aria-pressed', String(button.dataset.view === view));
    button.disabled = button.dataset.view === 'html' && !details.html;
  }
  element('html').hidden = view !== 'html';
  element('plain').hidden = view === 'html' || view === 'links';
  element('links').hidden = view !== 'links';
  element('pictures').hidden = view !== 'html' || pictures || !/<img|background|url\(/i.test(details.html);
  if (view === 'html') element('html').src = `${url}/html${pictures ? '?pictures=true' : ''}`;
  else if (view === 'text') element('plain').textContent = details.text ?? '(no text part)';
  else if (view === 'headers') element('plain').textContent = details.headers.join('\n');
  else element('plain').textContent = await (await fetch(`${url}/source`)).text();
}

/** Shows the list again, where a phone showed the message. */
async function leave() {
  state.chosen = undefined;
  element('message').hidden = true;
  await refresh();
}

async function turnPage(by) {
  state.page = Math.max(1, state.page + by);
  await refresh();
}

element('search').addEventListener('input', () => {
  state.page = 1;
  refresh();
});
element('newer').addEventListener('click', () => turnPage(-1));
element('older').addEventListener('click', () => turnPage(1));
element('clear').addEventListener('click', async () => {
  if (!confirm('Delete all messages?')) return;
  await fetch('/api/messages', { method: 'DELETE' });
  location.hash = '';
  state.page = 1;
  await leave();
});
element('views').addEventListener('click', (event) => {
  if (!event.target.dataset.view) return;
  state.view = event.target.dataset.view;
  show();
});

element('pictures').addEventListener('click', () => {
  state.pictures = true;
  show();
});
document.addEventListener('keydown', (event) => {
  if (event.target.matches('input') || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  const buttons = [...element('list').querySelectorAll('button')];
  if (event.key === '/') element('search').focus();
  else if (step !== undefined && !event.target.matches('pre')) {
    const current = buttons.findIndex((button) => button.dataset.id === state.chosen);
    const next = buttons[current === -1 ? 0 : current + step];
    next?.scrollIntoView({ block: 'nearest' });
    next?.click();
  } else return;
  event.preventDefault();
});

window.addEventListener('hashchange', () => {
  const id = location.hash.slice(1);
  if (id === '') leave();
  else if (id !== state.chosen) choose(id).catch(() => undefined);
});
if (location.hash) choose(location.hash.slice(1)).catch(() => undefined);
const loop = () =>
  refresh()
    .catch(() => (element('total').textContent = 'the mailbox does not answer'))
    .finally(() => setTimeout(loop, refreshMs));
loop();
