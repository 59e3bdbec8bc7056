import type { AddressInfo } from 'node:net';
import express from 'express';
import pg from 'pg';

/** What Express and PostgreSQL can do at most for a hit: update the one row that is named, answer a picture. */

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['DATABASE_POOL_SIZE']),
});
const picture = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

const app = express();
app.disable('x-powered-by');
app.set('etag', false);
app.get('/:id', async (request, response) => {
  await pool.query('update bare_mail set opens = opens + 1, opened_at = now() where id = $1', [request.params.id]);
  response.type('gif').send(picture);
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on ${(server.address() as AddressInfo).port}\n`);
});
