import { AppError, badRequest } from '../../pure/app-error.ts';
import { createWebhookSecret } from '../../platform/webhook/signature.ts';
import { SealError } from '../../platform/sealed-values.ts';
import type { DkimKeyring } from '../../sending/compose/dkim/key-pair.ts';
import { deliveryStatus } from '../../database/constants.ts';
import { inSql, query, queryCount, queryOne, sql, SqlFragment, type Em } from '../../database/sql.ts';
import { boolean, notNull, number, tables, text } from '../../database/tables.ts';
import type { WebhookSecrets } from '../projects/webhook-secrets.ts';
import { MIGRATIONS } from '../schema/migrations.ts';
import { addressKeyOf, type Manifest } from './export-project.ts';
import { tablesOfFile, type TableName } from './project-tables.ts';
import { once } from './once.ts';
import { openProjectFile, type FilePart } from './read-file.ts';

export interface ImportOptions {
  webhookSecrets: WebhookSecrets;
  /** Undefined without APP_SECRET. */
  keyring: DkimKeyring | undefined;
  /** Whether keys that cannot be read are replaced by new ones. */
  newSecrets: boolean;
  /** Whether suppressions of erased people are left out when their hashes do not fit this installation. */
  dropHashes: boolean;
}

export interface ImportedProject {
  id: string;
  name: string;
  rows: Partial<Record<TableName, number>>;
  /** Suppressions of erased people that were left out. */
  droppedSuppressions: number;
  /** Sender domains and webhook endpoints that got new keys. */
  newSecrets: string[];
  /** Deliveries to webhook endpoints that waited for another try, and are given up. */
  droppedDeliveries: number;
}

/** @throws AppError CONFLICT or BAD_REQUEST when the file does not fit this installation */
async function assertFits(em: Em, { schema, project }: Manifest): Promise<void> {
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  const unknown = schema.find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw badRequest(`The file comes from a newer version of Everpost, with the migration ${unknown}`, {
      suggestion: 'Update this installation first',
    });
  }
  const existing = await queryOne(em, sql`select name from project where id = ${project.id}::uuid`, {
    name: tables.project.name,
  });
  if (existing) {
    throw new AppError('CONFLICT', {
      message: `This installation has the project ${project.id} (${existing.name}) already`,
      suggestion: 'A project is imported as a whole; delete the one that is here first if the file shall replace it',
    });
  }
}

/** Takes over the address key of the file where that harms nobody. @returns whether the hashes of the file fit */
async function fitAddressKey(em: Em, { addressKey: { id, pads }, project }: Manifest): Promise<boolean> {
  if ((await addressKeyOf(em)).id === id) return true;
  if (!pads) return false;
  const changed = await query(
    em,
    sql`
      update address_hash_key set inner_pad = decode(${pads[0]}, 'hex'), outer_pad = decode(${pads[1]}, 'hex')
      where not exists (select from project where id <> ${project.id}::uuid) returning is_only as "isOnly"`,
    { isOnly: tables.addressHashKey.isOnly },
  );
  return changed.length > 0;
}

/** The columns that PostgreSQL computes itself, as `table.column`. */
async function computedColumns(em: Em): Promise<Set<string>> {
  const rows = await query(
    em,
    sql`select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = current_schema() and is_generated = ${'ALWAYS'}`,
    { name: text },
  );
  return new Set(rows.map((row) => row.name));
}

/**
 * Stores rows as they are. Those that an earlier, unfinished import has stored are left.
 * @returns whether any was stored
 */
async function store(em: Em, { table, columns, lines }: FilePart, computed: ReadonlySet<string>): Promise<boolean> {
  const name = new SqlFragment(inSql(table));
  const stored = columns.filter((column) => !computed.has(`${name.sql}.${column}`));
  const list = new SqlFragment(stored.map((column) => `"${column}"`).join(', '));
  const stores = await query(
    em,
    sql`
      with stored as (
        insert into ${name} (${list}) select ${list} from jsonb_populate_recordset(null::${name}, ${`[${lines.join(',')}]`}::jsonb)
        on conflict do nothing returning 1
      ) select exists (select from stored) as any`,
    { any: boolean },
  );
  return stores[0]?.any ?? false;
}

/** Stores the row of the project, disabled. @throws AppError CONFLICT when another import of it has ended meanwhile */
async function storeProject(tx: Em, manifest: Manifest, part: FilePart, computed: ReadonlySet<string>): Promise<void> {
  const { id } = manifest.project;
  if (!(await store(tx, part, computed))) await assertFits(tx, manifest);
  // A trigger has made keys of its own for the project; the file has the real ones.
  await query(tx, sql`delete from api_key where project_id = ${id}::uuid`);
  await query(tx, sql`update project set disabled = true where id = ${id}::uuid`);
}

/** @throws AppError CONFLICT for a row that could not be stored */
async function assertComplete(em: Em, projectId: string, rows: ImportedProject['rows']): Promise<void> {
  for (const [name, { belongs, isShared }] of tablesOfFile()) {
    if (isShared) continue;
    const table = new SqlFragment(inSql(name));
    const stored = await queryOne(em, sql`select count(*) from ${table} r where ${belongs(projectId)}`, {
      count: number,
    });
    if (stored?.count === (rows[name] ?? 0)) continue;
    throw new AppError('CONFLICT', {
      message: `The file has ${rows[name] ?? 0} rows of ${name}, and ${stored?.count ?? 0} could be stored`,
      suggestion:
        'Import the file again if a clean-up has removed old rows meanwhile. Otherwise another project of this installation has the same keys or reply addresses, or rows of an older import are left: `everpost project import --undo` removes them',
    });
  }
}

/** Hashes addresses again with the key of this installation. @returns how many suppressions have no address to hash */
async function rehash(tx: Em, projectId: string): Promise<number> {
  const hashed = (address: SqlFragment) =>
    sql`(select everpost_address_hash(k.inner_pad, k.outer_pad, project_id, ${address}) from address_hash_key k)`;
  await query(
    tx,
    sql`update suppression set address_hash = ${hashed(sql`email`)} where project_id = ${projectId}::uuid and email is not null`,
  );
  await query(
    tx,
    sql`update erased_contact set address_hash = ${hashed(sql`address`)} where project_id = ${projectId}::uuid and address is not null`,
  );
  return queryCount(
    tx,
    sql`
      with gone as (delete from suppression where project_id = ${projectId}::uuid and email is null returning 1)
      select count(*) from gone`,
  );
}

function opens(open: () => unknown): boolean {
  try {
    open();
    return true;
  } catch (error) {
    if (error instanceof SealError) return false;
    throw error;
  }
}

/** The names of what has a key that this installation cannot read, with what gives it a new one. */
async function unreadable(tx: Em, projectId: string, { keyring, webhookSecrets }: ImportOptions) {
  const { id, domain, dkimPrivateKey } = tables.senderDomain;
  const domains = await query(
    tx,
    sql`select id, domain, dkim_private_key as sealed from sender_domain
      where project_id = ${projectId}::uuid and dkim_private_key is not null`,
    { id, domain, sealed: notNull(dkimPrivateKey) },
  );
  const signers = await query(
    tx,
    sql`
      select id, 'webhooks of steps' as name, webhook_secret as secret from project where id = ${projectId}::uuid
      union all select id, url, secret from webhook_endpoint where project_id = ${projectId}::uuid`,
    { id, name: domain, secret: tables.project.webhookSecret },
  );
  return [
    ...domains
      .filter((row) => !keyring || !opens(() => keyring.open(row.sealed, row.id)))
      .map((row) => ({
        name: row.domain,
        renew: async () => {
          const pair = await keyring?.generate(row.id);
          await query(
            tx,
            sql`
              update sender_domain set dkim_selector = ${pair?.selector ?? null}, dkim_public_key = ${pair?.publicKey ?? null},
                dkim_private_key = ${pair?.sealedPrivateKey ?? null}, dns_verified = false, verified = trusted
              where id = ${row.id}`,
          );
        },
      })),
    ...signers
      .filter((row) => !opens(() => webhookSecrets.open(row.secret, row.id)))
      .map((row) => ({
        name: row.name,
        renew: async () => {
          const secret = webhookSecrets.seal(createWebhookSecret(), row.id);
          await query(tx, sql`update project set webhook_secret = ${secret} where id = ${row.id}`);
          await query(
            tx,
            sql`update webhook_endpoint set secret = ${secret}, previous_secret = null, previous_secret_until = null
              where id = ${row.id}`,
          );
        },
      })),
  ];
}

/** Gives new keys in place of those that cannot be read. @throws AppError BAD_REQUEST unless that is wanted */
async function renewSecrets(tx: Em, projectId: string, options: ImportOptions): Promise<string[]> {
  const found = await unreadable(tx, projectId, options);
  if (found.length > 0 && !options.newSecrets) {
    throw badRequest(`APP_SECRET does not open the keys of ${found.map(({ name }) => name).join(', ')}`, {
      suggestion:
        'Add the APP_SECRET of the old installation to APP_SECRETS_PREVIOUS, or repeat the command with --new-secrets: then domains have to be verified again, and receivers of webhooks need new secrets',
    });
  }
  for (const { renew } of found) await renew();
  return found.map(({ name }) => name);
}

/** What means something else here: the return path of domains, and positions among the events of the installation. */
async function settle(tx: Em, projectId: string): Promise<number> {
  await query(
    tx,
    sql`update sender_domain set return_path = false, next_check_at = now() where project_id = ${projectId}::uuid`,
  );
  await query(
    tx,
    sql`
      with horizon as materialized (select 1 from webhook_horizon for share),
      position as materialized (select everpost_feed_last_no() as no from horizon)
      update webhook_endpoint set cursor_no = no, news_no = no, parked_at = null from position
      where project_id = ${projectId}::uuid`,
  );
  await query(tx, sql`delete from blocked_link where subject = ${projectId}`);
  return queryCount(
    tx,
    sql`
      with given_up as (
        update webhook_delivery d set status = ${deliveryStatus.FAILED}, retry_at = null, no = null from webhook_endpoint w
        where w.id = d.endpoint_id and w.project_id = ${projectId}::uuid and d.status = ${deliveryStatus.RETRYING} returning 1
      ) select count(*) from given_up`,
  );
}

/**
 * Imports the file of a project with the ids that its rows have. Nothing of it is there until the file was read to its
 * end and everything fits; then the project is there at once, disabled. After an interruption, another import of the file
 * goes on: large tables are stored part by part before, where nothing uses them without the project.
 * @throws AppError BAD_REQUEST for a damaged file or one that does not fit, CONFLICT when the project is here already
 */
export async function importProject(
  em: Em,
  octets: AsyncIterable<Buffer>,
  options: ImportOptions,
): Promise<ImportedProject> {
  const { manifest, rows, parts } = await openProjectFile(octets);
  const { id, name } = manifest.project;
  await assertFits(em, manifest);
  const isEarly = new Map(tablesOfFile().map(([table, { isEarly: early }]) => [table, early]));
  const computed = await computedColumns(em);
  let part = await parts.next();
  for (; !part.done && isEarly.get(part.value.table); part = await parts.next())
    await store(em.fork(), part.value, computed);
  return once(em, async (tx) => {
    for (; !part.done; part = await parts.next()) {
      if (part.value.table === 'project') await storeProject(tx, manifest, part.value, computed);
      else await store(tx, part.value, computed);
    }
    await assertComplete(tx, id, rows);
    const droppedSuppressions = (await fitAddressKey(tx, manifest)) ? 0 : await rehash(tx, id);
    if (droppedSuppressions > 0 && !options.dropHashes) {
      throw badRequest(
        `${droppedSuppressions} suppressions are of erased people, and this installation hashes addresses with another key`,
        {
          suggestion:
            'Import a file of `everpost project export --with-address-key` before this installation has a project, or repeat the command with --drop-hashes: then these people can be written to again',
        },
      );
    }
    const newSecrets = await renewSecrets(tx, id, options);
    const droppedDeliveries = await settle(tx, id);
    return { id, name, rows, droppedSuppressions, newSecrets, droppedDeliveries };
  });
}

/** The id of the project in a file. @throws AppError as `importProject` */
export async function projectOfFile(em: Em, octets: AsyncIterable<Buffer>): Promise<string> {
  const { manifest } = await openProjectFile(octets);
  await assertFits(em, manifest);
  return manifest.project.id;
}
