import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import express from 'express';
import pg from 'pg';

/** What Express and PostgreSQL can do at most: parse a JSON body, insert one row, answer. */

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['DATABASE_POOL_SIZE']),
});
await pool.query(
  'create table bare_request (id uuid primary key, body jsonb not null, created_at timestamptz not null)',
);

const app = express();
app.disable('x-powered-by');
app.set('etag', false);
app.use(express.json());
app.post('/', async (request, response) => {
  const id = randomUUID();
  await pool.query('insert into bare_request (id, body, created_at) values ($1, $2, now())', [id, request.body]);
  response.json({ success: true, data: { id } });
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on ${(server.address() as AddressInfo).port}\n`);
});
