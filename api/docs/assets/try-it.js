// Sends a request to this server. The key is in the session of this tab only, and the page's policy lets it go nowhere
// else.
const KEY = 'key';

function keptKey(change) {
  try {
    if (change === '') sessionStorage.removeItem(KEY);
    else if (change !== undefined) sessionStorage.setItem(KEY, change);
    return sessionStorage.getItem(KEY) ?? '';
  } catch {
    return change ?? '';
  }
}

/** The request of a form. @throws SyntaxError when its body is not JSON */
function requestOf(form) {
  const { method, path } = form.dataset;
  const headers = { Authorization: `Bearer ${form.elements.key.value.trim()}` };
  const query = new URLSearchParams();
  let address = path;
  for (const { value, dataset } of form.querySelectorAll('[data-in]')) {
    const { name } = dataset;
    if (dataset.in === 'path') address = address.replace(`{${name}}`, () => encodeURIComponent(value));
    else if (value !== '' && dataset.in === 'query') query.append(name, value);
    else if (value !== '') headers[name] = value;
  }
  const { body, file } = form.elements;
  let content;
  if (file) {
    content = new FormData();
    content.set('file', file.files[0]);
  } else if (body && body.value.trim() !== '') {
    headers['Content-Type'] = 'application/json';
    content = JSON.stringify(JSON.parse(body.value));
  }
  return [`${address}${query.size > 0 ? `?${query}` : ''}`, { method, headers, body: content, cache: 'no-store' }];
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function send(form, answer) {
  const [status, shown] = answer.children;
  answer.hidden = false;
  shown.textContent = '';
  try {
    const request = requestOf(form);
    keptKey(form.elements.key.value.trim());
    const startedAt = performance.now();
    const reply = await fetch(...request);
    shown.textContent = pretty(await reply.text());
    const took = Math.round(performance.now() - startedAt);
    status.textContent = `${reply.status} ${reply.statusText}, ${took} ms, request ${reply.headers.get('x-request-id')}`;
    status.className = reply.ok ? 'good' : 'bad';
  } catch (error) {
    status.textContent =
      error instanceof SyntaxError ? `The body is not JSON: ${error.message}` : 'The server does not answer';
    status.className = 'bad';
  }
}

export function startTryIt() {
  const form = document.querySelector('.try form');
  if (!form) return;
  const { key } = form.elements;
  if (key.placeholder.startsWith('sk_')) key.value = keptKey();
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(form, form.querySelector('.answer'));
  });
  form.querySelector('[data-forget]').addEventListener('click', () => {
    keptKey('');
    key.value = '';
    key.focus();
  });
}
