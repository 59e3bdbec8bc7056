// Creates a template and a thousand contacts, sends a campaign to all of them and waits until it is out.
// Usage: node docs/examples/first-campaign.mjs            (reads .everpost/local.json of a running `npm start`)
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const { apiUrl, secretKey, domain, temporalUiUrl, mailboxUrl } = JSON.parse(
  readFileSync(`${process.env.EVERPOST_HOME ?? '.everpost'}/local.json`, 'utf8'),
);

async function api(method, path, body) {
  const response = await fetch(apiUrl + path, {
    method,
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  if (response.status === 429) {
    const seconds = Number(response.headers.get('retry-after'));
    console.log(`  the limit of requests a minute is reached, going on in ${seconds} s`);
    await sleep(seconds * 1000);
    return api(method, path, body);
  }
  const reply = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${reply.error?.message ?? reply.error}`);
  return reply;
}

const CONTACTS = Number(process.argv[2] ?? 1000);
const content = {
  subject: 'Hello {{firstName ?? "friend"}}',
  body: '<h1>Hello {{firstName ?? "friend"}}</h1><p>You are number {{number}}.</p>',
  from: `news@${domain}`,
  fromName: 'Everpost',
};

const template = await api('POST', '/templates', { name: 'Hello', ...content });
console.log(`template ${template.id}`);

console.log(`creating ${CONTACTS} contacts`);
for (let number = 1; number <= CONTACTS; number++) {
  await api('POST', '/contacts', {
    email: `reader${number}@example.com`,
    data: { firstName: `Reader ${number}`, number },
  });
}

const { data: campaign } = await api('POST', '/campaigns', {
  name: 'First campaign',
  subject: template.subject,
  body: template.body,
  from: template.from,
  fromName: template.fromName,
  audienceType: 'ALL',
});
const startedAt = Date.now();
const { message } = await api('POST', `/campaigns/${campaign.id}/send`, {});
console.log(`campaign ${campaign.id}: ${message}`);

for (;;) {
  const { status, totalRecipients, sentCount } = await api('GET', `/campaigns/${campaign.id}`);
  console.log(`  ${status}: ${sentCount} of ${totalRecipients}`);
  if (status === 'SENT') break;
  await sleep(1000);
}
console.log(`done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
console.log(`its execution: ${temporalUiUrl}/namespaces/default/workflows/campaign%2F${campaign.id}`);
console.log(`its mail:      ${mailboxUrl}`);
