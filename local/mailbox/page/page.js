const pageSize = 50;
const refreshMs = 2_000;
const element = (id) => document.getElementById(id);
const state = { page: 1, total: 0, chosen: undefined, details: undefined, view: 'html', shown: '' };

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
    list.total === 0 ? 'no messages' : `${first + 1} to ${first + list.messages.length} of ${list.total}`;
  element('newer').disabled = state.page === 1;
  element('older').disabled = first + pageSize >= list.total;
  const key = JSON.stringify([list.messages.map(({ id }) => id), state.chosen]);
  // Redrawing an unchanged list would take the keyboard focus away.
  if (key === state.shown) return;
  state.shown = key;
  const items = list.messages.map(drawItem);
  element('list').replaceChildren(
    ...(items.length > 0 ? items : [make('li', 'Nothing here yet.', { className: 'empty' })]),
  );
}

function drawItem(message) {
  const button = make('button', '', { type: 'button' });
  button.append(
    make('strong', message.subject || '(no subject)'),
    make('small', message.to || message.envelope.to.join(', ')),
    make('small', `${message.from || message.envelope.from} · ${new Date(message.receivedAt).toLocaleString()}`),
  );
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
      item.append(make('a', `${attachment.filename ?? 'attachment'} (${attachment.bytes} bytes)`, { href: url }));
      return item;
    }),
  );
  await Promise.all([show(), refresh()]);
}

async function show() {
  const { details, view } = state;
  const url = `/api/messages/${encodeURIComponent(details.id)}`;
  for (const button of element('views').children) {
    button.setAttribute('aria-pressed', String(button.dataset.view === view));
    button.disabled = button.dataset.view === 'html' && !details.html;
  }
  element('html').hidden = view !== 'html';
  element('plain').hidden = view === 'html';
  if (view === 'html') element('html').src = `${url}/html`;
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
