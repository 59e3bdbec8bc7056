import type { LocalFile } from './local-project.ts';

const TEMPORAL_LATER = `
Temporal is still being fetched, which takes some minutes. Requests are taken now, and carried out when it is there: a
line below will say so.
`;

/**
 * What `npm start` prints once the API answers: all addresses, both keys, and a first request to paste.
 * @param isTemporalLater whether Temporal is still being fetched
 */
export function formatBanner(file: LocalFile, localFile: string, isTemporalLater: boolean): string {
  const mail = JSON.stringify({
    to: 'you@example.com',
    from: `hello@${file.domain}`,
    subject: 'Hello from Everpost',
    body: '<p>It works.</p>',
  });
  const rows: [string, string][] = [
    ['API', file.apiUrl],
    ['Docs', file.docsUrl],
    ['Console', `${file.apiUrl}/console`],
    ['Temporal UI', file.temporalUiUrl ?? 'that of your own Temporal server'],
    ['Mailbox', file.mailboxUrl ?? 'none: mail goes to the servers of SMTP_URL'],
    [
      'SMTP',
      `host ${new URL(file.apiUrl).hostname}, port ${file.submissionPort}, user everpost, password: the secret key`,
    ],
    ['Secret key', file.secretKey],
    ['Public key', file.publicKey],
    ['All of this', localFile],
  ];
  return `
Everpost is running.

${rows.map(([name, value]) => `  ${name.padEnd(14)} ${value}`).join('\n')}
${isTemporalLater ? TEMPORAL_LATER : ''}
For the requests of the docs, and for a first email:

  export EVERPOST_URL=${file.apiUrl}
  export SECRET_KEY=${file.secretKey}
  export PUBLIC_KEY=${file.publicKey}

  curl -sS "$EVERPOST_URL/v1/send" \\
    -H "Authorization: Bearer $SECRET_KEY" \\
    -H 'Content-Type: application/json' \\
    -d '${mail}'

Ctrl-C stops everything; the data stays.
`;
}
