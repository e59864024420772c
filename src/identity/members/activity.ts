// The activity log of an account: what members, internal services and operators changed in it. A line of a change of members is written in
// the transaction of the change, the others behind the call (`transport/calls/record-activity.ts`). A line never changes.

import type { Pool, PoolClient } from "pg";
import { entitiesOn } from "../../database/orm.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { type Page, type PageRequest, readPage } from "../../kernel/paging.ts";

/** A change to be recorded. */
export type Activity = {
  readonly accountId: string;
  /** Null: no person of the account made it. */
  readonly personId: string | null;
  /** An e-mail address, `service-token` with its id, or `operator`. */
  readonly actor: string;
  readonly action: string;
  /** The id of what was changed. Null: the account itself. */
  readonly subject: string | null;
  readonly facts?: Readonly<Record<string, string>>;
};

/** A line of the log. */
export type ActivityLine = Required<Activity> & { readonly lineId: string; readonly doneAt: Date };

const INSERT = `
INSERT INTO account_activity (account_id, id, person_id, actor, action, subject, facts)
VALUES ($1::uuid, $2::uuid, $3::uuid, $4, $5, $6, $7::jsonb)`;

/** Writes a line. */
export async function recordActivity(client: Pick<Pool | PoolClient, "query">, line: Activity): Promise<void> {
  const { accountId, personId, actor, action, subject, facts = {} } = line;
  await client.query(INSERT, [accountId, uuidv7(), personId, actor, action, subject, JSON.stringify(facts)]);
}

/**
 * Lists the lines of an account, newest first. `pools`: the databases that have some; each line is in one of them. Errors:
 * ValidationError.
 */
export function listActivity(
  pools: readonly Pool[],
  { accountId, ...page }: { accountId: string } & PageRequest,
): Promise<Page<ActivityLine>> {
  return readPage(
    page,
    async (range) => {
      const found = await Promise.all(pools.map((pool) => readLines(pool, { accountId, ...range })));
      if (found.length === 1) return found.flat();
      // As many of each as a page has: the newest of all are among them.
      const newestFirst = found.flat().toSorted((a, b) => (a.lineId < b.lineId ? 1 : -1));
      return newestFirst.slice(0, range.limit);
    },
    ({ lineId }) => lineId,
  );
}

async function readLines(
  pool: Pool,
  { accountId, beforeId, limit }: { accountId: string; beforeId: string | null; limit: number },
): Promise<ActivityLine[]> {
  const { em, AccountActivity } = await entitiesOn(pool);
  const where = { accountId, ...(beforeId === null ? {} : { id: { $lt: beforeId } }) };
  const lines = await em.find(AccountActivity, where, { orderBy: { id: "desc" }, limit });
  return lines.map(({ id, personId, subject, ...line }) => ({
    ...line,
    lineId: id,
    personId: personId ?? null,
    subject: subject ?? null,
  }));
}
