// Creates a template and a thousand contacts, sends a campaign to all of them and waits until it is out.
// Usage: node docs/examples/first-campaign.mjs            (reads .everpost/local.json of a running `npm start`)
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const { apiUrl, secretKey, domain, temporalUiUrl, mailboxUrl } = JSON.parse(
  readFileSync(`${process.env.EVERPOST_HOME ?? '.everpost'}/local.json`, 'utf8'),
);

async function api(method, path, body) {
  const isForm = body instanceof FormData;
  const response = await fetch(apiUrl + path, {
    method,
    headers: { Authorization: `Bearer ${secretKey}`, ...(!isForm && { 'Content-Type': 'application/json' }) },
    body: isForm ? body : body && JSON.stringify(body),
  });
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

console.log(`importing ${CONTACTS} contacts`);
const rows = Array.from(
  { length: CONTACTS },
  (_, index) => `reader${index + 1}@example.com,Reader ${index + 1},${index + 1}`,
);
const form = new FormData();
form.append('file', new Blob([['email,firstName,number', ...rows].join('\n')], { type: 'text/csv' }), 'readers.csv');
const { jobId } = await api('POST', '/contacts/import', form);
for (let job = { state: 'waiting' }; job.state !== 'completed'; job = await api('GET', `/contacts/import/${jobId}`)) {
  if (job.state === 'failed') throw new Error(`import: ${job.failedReason}`);
  await sleep(200);
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
