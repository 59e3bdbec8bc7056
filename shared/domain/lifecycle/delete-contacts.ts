import { ADDRESS_HASH_KEY, addressHash } from '../suppressions/address-hash.ts';
import { cancelExecutions, lockExecutions } from '../automations/cancel-executions.ts';
import { lockContacts } from '../contacts/contact-locks.ts';
import { outboxInsert } from '../../durable/outbox/outbox.ts';
import { query, sql, inTransaction, type Em } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';

/**
 * Deletes contacts for good. Their executions end at once, and their queued emails are not sent, because the delivery
 * checks that the contact exists. `eraseNext` erases all other data about them: an outbox row has it called until
 * nothing is left.
 * @returns the ids that existed
 */
export async function deleteContacts(em: Em, projectId: string, contactIds: string[]): Promise<string[]> {
  return inTransaction(em, async (tx) => {
    const owned = await query(
      tx,
      sql`select id from contact where project_id = ${projectId} and id = any(${contactIds}::uuid[])`,
      { id: tables.contact.id },
    );
    const ownedIds = owned.map((contact) => contact.id);
    // The order of locks at `inTransaction`: executions, contacts, waits of the executions.
    const executionIds = await lockExecutions(tx, ownedIds);
    const ids = await lockContacts(tx, projectId, ownedIds, 'deletion');
    // Executions that were started since then are cancelled by the erasure, because the transaction that locks one of
    // them
    // may wait for these contacts.
    await cancelExecutions(tx, executionIds, 'contact deleted');
    const deleted = await query(
      tx,
      sql`
        with deleted as (
          delete from contact where id = any(${ids}::uuid[]) returning id, project_id, email
        )
        insert into erased_contact (contact_id, project_id, address_hash, address)
        select id, project_id, ${addressHash(sql`project_id`, sql`email`)}, email
        from deleted cross join ${ADDRESS_HASH_KEY}
        returning contact_id as id`,
      { id: tables.erasedContact.contactId },
    );
    if (deleted.length > 0) await query(tx, outboxInsert('erasure', projectId, [projectId], { isBatched: true }));
    return deleted.map((contact) => contact.id);
  });
}
