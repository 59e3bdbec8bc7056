import { html } from '../html.mjs';
import { Empty } from '../parts/basics.mjs';
import { Code } from '../parts/code.mjs';
import { LoadAll } from '../parts/load.mjs';

/** How a first email is sent, from three places. @param {string} domain of the sender */
function samplesOf(domain) {
  const url = `${location.origin}/v1/send`;
  const fields = [
    ['to', 'ada@example.com'],
    ['from', `hello@${domain}`],
    ['subject', 'Hello'],
    ['body', '<p>Hi</p>'],
  ];
  const body = (/** @type {string} */ quote, /** @type {string} */ key) =>
    fields.map(([name, value]) => `${key}${name}${key}: ${quote}${value}${quote}`).join(',\n    ');
  return {
    curl: `curl ${url} \\\n  -H "Authorization: Bearer $SECRET_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '{\n    ${body('"', '"')}\n  }'`,
    TypeScript: `await fetch('${url}', {\n  method: 'POST',\n  headers: { Authorization: \`Bearer \${secretKey}\`, 'Content-Type': 'application/json' },\n  body: JSON.stringify({\n    ${body("'", '')},\n  }),\n});`,
    Python: `requests.post('${url}',\n  headers={'Authorization': f'Bearer {secret_key}'},\n  json={\n    ${body("'", "'")},\n  })`,
  };
}

/**
 * What stands where emails will be: a request that sends the first one, from a domain that may send.
 * @param {{ project: { id: string }, title: string, text: string }} props
 */
export function FirstEmail({ project, title, text }) {
  return html`<${Empty} ...${{ title, text }} icon="paper-airplane" guide="guides/first-email">
    <${LoadAll} path="domains" paths=${{ domains: `/domains/project/${project.id}` }} rows=${4}>
      ${(/** @type {{ domains?: import('../api-types.ts').Domain[] }} */ { domains = [] }) => {
        const domain = domains.find(({ verified }) => verified) ?? domains[0];
        return html`<${Code} label="First email" samples=${samplesOf(domain?.domain ?? 'example.com')} />`;
      }}
    <//>
  <//>`;
}
