import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import pg from 'pg';
import { SMTPServer } from 'smtp-server';

/** What `smtp-server` and PostgreSQL can do at most: read a message, insert one row, answer. */

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['DATABASE_POOL_SIZE']),
});
await pool.query(
  'create table bare_message (id uuid primary key, content bytea not null, created_at timestamptz not null)',
);

async function store(content: Buffer): Promise<void> {
  const text = 'insert into bare_message (id, content, created_at) values ($1, $2, now())';
  await pool.query(text, [randomUUID(), content]);
}

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  disableReverseLookup: true,
  logger: false,
  onAuth: (_auth, _session, callback) => callback(null, { user: 'bench' }),
  allowInsecureAuth: true,
  onData(stream, _session, callback) {
    buffer(stream)
      .then(store)
      .then(() => callback(), callback);
  },
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on ${(server.server.address() as AddressInfo).port}\n`);
});
