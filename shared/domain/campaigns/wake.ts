import { isSameLimits, type ShapingFile } from '../../pure/traffic-rules.ts';
import { sourceLimits } from '../../sending/permit/shaping.ts';
import type { RelayState } from '../../sending/transport/relay-state.ts';
import { campaignStatus, emailStatus } from '../../database/constants.ts';
import { query, sql, type Em } from '../../database/sql.ts';
import { pick, tables } from '../../database/tables.ts';
import { addToOutbox } from '../../durable/outbox/outbox.ts';
import { redeliverHeld } from '../emails/orphaned-deliveries.ts';
// It says what the state of an allowance is.
import type {} from '../emails/permit-store.ts';

/** Emails of one statement: others wait until its writes are on the disk. */
const CHUNK = 1_000;
/** Workers know by then what is so now. They ask the store every second, and before mail waits for a source. */
const KNOWN_SECONDS = { 'no source': 1, 'traffic rule': 1, 'warm-up': 2 } as const;

/** The recipients of campaigns in parts of `CHUNK` numbers; small campaigns share a part. */
function* partsOf(campaigns: readonly { id: string; total: number }[]) {
  const part: { id: string; after: number }[] = [];
  let size = 0;
  for (const { id, total } of campaigns) {
    for (let after = 0; after < total; after += CHUNK) {
      size += Math.min(CHUNK, total - after);
      if (size > CHUNK) yield part.splice(0);
      if (part.length === 0) size = Math.min(CHUNK, total - after);
      part.push({ id, after });
    }
  }
  yield part;
}

/**
 * Lets emails ask again that wait for a reason which a command or a setting may have ended.
 * @param projectId only those of one project
 */
export async function wakeMail(em: Em, reason: keyof typeof KNOWN_SECONDS, projectId?: string): Promise<void> {
  const soon = sql`now() + ${KNOWN_SECONDS[reason]}::int * interval '1 second'`;
  while ((await redeliverHeld(em, { reason, soon, projectId, limit: CHUNK })) === CHUNK);
  const sending = await query(
    em,
    sql`
      select id, project_id as "projectId", total_recipients as total from campaign
      where status = ${campaignStatus.SENDING} and audience_as_of is not null
        and (${projectId ?? null}::uuid is null or project_id = ${projectId ?? null}::uuid)`,
    { ...pick(tables.campaign, 'id', 'projectId'), total: tables.campaign.totalRecipients },
  );
  const woken = new Set<string | null>();
  for (const part of partsOf(sending)) {
    const rows = await query(
      em,
      sql`
        update email e set retry_at = ${soon}
        from unnest(${part.map(({ id }) => id)}::uuid[], ${part.map(({ after }) => after)}::int[]) as p (id, after)
        where e.campaign_id = p.id and e.campaign_seq > p.after and e.campaign_seq <= p.after + ${CHUNK}::int
          and e.status = ${emailStatus.PENDING} and e.wait_reason = ${reason} and e.retry_at > ${soon}
        returning e.campaign_id as id`,
      { id: tables.email.campaignId },
    );
    for (const { id } of rows) woken.add(id);
  }
  const changed = sending.filter(({ id }) => woken.has(id));
  for (const [owner, campaigns] of Map.groupBy(changed, (campaign) => campaign.projectId)) {
    const ids = campaigns.map(({ id }) => id);
    await addToOutbox(em, 'campaign', owner, ids);
  }
}

/** Lets mail ask again that traffic rules keep back, if `SHAPING_FILE` has other ones now than when they were used last. */
export async function wakeAfterNewRules(
  em: Em,
  file: ShapingFile,
  relays: Pick<RelayState, 'source'>[],
): Promise<void> {
  const sources = new Map(relays.map(({ source }) => [source.name, source]));
  const used = await query(
    em,
    sql`select subject, provider, state from allowance where subject = any(${[...sources.keys()]}::text[])`,
    pick(tables.allowance, 'subject', 'provider', 'state'),
  );
  const hasChanged = used.some(({ subject, provider, state: { limits } }) => {
    const source = sources.get(subject);
    return source && limits && !isSameLimits(limits, sourceLimits(file, source, provider));
  });
  if (hasChanged) await wakeMail(em, 'traffic rule');
}
