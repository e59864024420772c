// How a sealed month leaves the table and comes back. The mark decides which records count, in the snapshot of each reader. So it moves
// first; then all transactions are waited for that may have read it before; and only then the partition is detached. On the way
// back the partition is attached first, and the mark moves last.
//
// PostgreSQL detaches no partition CONCURRENTLY from a table with a default partition, which usage_record has. The plain form waits for
// its lock a moment at a time, as changes of the schema do, and holds it for that of a catalog change.

import { setTimeout as sleep } from "node:timers/promises";
import type { ClientBase } from "pg";
import { LimitExceeded } from "../../kernel/errors.ts";
import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import { PATIENCE } from "../../database/schema/patience.ts";
import { sqlState, sqlStates } from "../../database/transactions.ts";
import { addStep, attachedMonths, dateOf, sealBefore } from "./archive-store.ts";
import { keepRecords, requireDroppable, requireOver, requireTakeable } from "./takeable.ts";
import { type Month, monthAfter } from "./month.ts";
import type { Seal } from "./signed-text.ts";

const NEEDED_CODE = "usage-archive";
const WAIT_MS = 100;
/** Where the mark is while no month is in the archive. */
const BEFORE_ALL_MONTHS = { name: "1970-01", fromId: BEFORE_ALL_IDS };
const MARK = `SELECT to_char(before_month, 'YYYY-MM') AS month FROM usage_archive_mark`;
const MOVE_MARK = `UPDATE usage_archive_mark SET before_month = $1::date, before_id = $2::uuid WHERE before_month = $3::date`;
const IS_BEHIND = "SELECT FROM usage_archive_mark WHERE before_month > $1::date FOR SHARE";
const REFUSE_IDS = "SELECT refuse_ids_before($1::regclass, $2::uuid)";
/** Where a request begins, and where a record goes whose month has no table. */
const TABLES_OF_NEW_IDS = ["hold", "usage_record_default"];
const REQUIRE_CODE = "SELECT * FROM require_code($1)";
// Each open transaction locks its own number, which every login sees. When one began is seen by superusers alone. Vacuum has no user.
const OPEN_TRANSACTIONS = `
SELECT l.virtualxid AS id FROM pg_locks l JOIN pg_stat_activity s ON s.pid = l.pid
WHERE l.locktype = 'virtualxid' AND l.mode = 'ExclusiveLock' AND l.granted AND s.usesysid IS NOT NULL
  AND s.datid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND l.pid <> ALL ($1::int[])`;
const LOST_A_LOCK: ReadonlySet<string | undefined> = new Set([sqlStates.lockTimeout, sqlStates.deadlock]);

/** The first month whose records count in the table. */
export async function readMark(client: ClientBase): Promise<string> {
  return (await client.query<{ month: string }>(MARK)).rows[0]?.month ?? "";
}

/** Runs work in a transaction of the owner. */
export async function transact<Outcome>(client: ClientBase, work: () => Promise<Outcome>): Promise<Outcome> {
  await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
  try {
    const outcome = await work();
    await client.query("COMMIT");
    return outcome;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {
      // The connection is gone, and with it the transaction.
    });
    throw error;
  }
}

/**
 * Moves the mark behind a month: from now on its records are in the archive for every new reader. Errors: LimitExceeded, naming why the
 * month cannot be taken away.
 */
export async function moveMarkBehind(client: ClientBase, month: Month, seal: Seal): Promise<void> {
  const mark = await readMark(client);
  await requireOver(client, month);
  await refuseIdsBefore(client, monthAfter(month));
  await transact(client, async () => {
    await requireTakeable(client, month, seal);
    const [oldest] = await attachedMonths(client);
    if (oldest !== month.name) throw new LimitExceeded(`${oldest} is older than ${month.name}: archive it first.`);
    await keepRecords(client, month, "all");
    const older = await client.query(REQUIRE_CODE, [NEEDED_CODE]);
    if (older.rowCount !== 0)
      throw new LimitExceeded(
        `${older.rowCount} processes of an older version may still run, and would not count what is in the archive. ` +
          `Stop the older version on all nodes. One that ended without notice counts for a minute more.`,
      );
    await moveMark(client, monthAfter(month), mark);
  });
}

async function moveMark(
  client: ClientBase,
  { fromId, name }: Pick<Month, "fromId" | "name">,
  from: string,
): Promise<void> {
  const moved = await client.query(MOVE_MARK, [`${name}-01`, fromId, `${from}-01`]);
  if (moved.rowCount !== 1) throw new Error("Another archive has moved the mark.");
}

/** Refuses new requests with ids of before a month. Each table is locked for a moment, and no two at once. */
async function refuseIdsBefore(client: ClientBase, { fromId }: Pick<Month, "fromId">): Promise<void> {
  for (const table of TABLES_OF_NEW_IDS)
    await untilUnlocked(client, async () => void (await client.query(REFUSE_IDS, [table, fromId])));
}

/** Waits until no transaction is open that was before this moment. `holder`: the connection that holds the archive's lock. */
export async function waitForReaders(client: ClientBase, holder: number, signal?: AbortSignal): Promise<void> {
  const own = (await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0]?.pid ?? 0;
  const open = async (): Promise<string[]> =>
    (await client.query<{ id: string }>(OPEN_TRANSACTIONS, [[own, holder]])).rows.map(({ id }) => id);
  for (let older = await open(); older.length > 0;) {
    await sleep(WAIT_MS, undefined, signal === undefined ? {} : { signal });
    const now = new Set(await open());
    older = older.filter((id) => now.has(id));
  }
}

/** Detaches the partition of a month behind the mark. It stays as a table. */
export async function detach(client: ClientBase, month: Month): Promise<void> {
  // Notes that were written by readers of the former mark.
  await keepRecords(client, month, "recent");
  await untilUnlocked(client, async () => {
    // A run that has lost the connection with the archive's lock may run beside another one.
    if ((await client.query(IS_BEHIND, [dateOf(month)])).rowCount !== 1)
      throw new LimitExceeded(`${month.name} was restored meanwhile.`);
    await client.query(`ALTER TABLE usage_record DETACH PARTITION ${month.table}`);
    await addStep(client, month, "detached");
  });
}

/** Attaches the table of a month, which was compared with its seal, and lets its records count. */
export async function attach(client: ClientBase, month: Month, { isAttached }: { isAttached: boolean }): Promise<void> {
  if (!isAttached) {
    const bounds = `request_id >= '${month.fromId}' AND request_id < '${month.untilId}'`;
    // With it PostgreSQL does not read the table under its locks.
    await client.query(`ALTER TABLE ${month.table} DROP CONSTRAINT IF EXISTS in_month`);
    await client.query(`ALTER TABLE ${month.table} ADD CONSTRAINT in_month CHECK (${bounds})`);
    await untilUnlocked(client, async () => {
      await client.query(
        `ALTER TABLE usage_record ATTACH PARTITION ${month.table} FOR VALUES FROM ('${month.fromId}') TO ('${month.untilId}')`,
      );
      await client.query(`ALTER TABLE ${month.table} DROP CONSTRAINT in_month`);
      await client.query(`
        CREATE OR REPLACE TRIGGER append_only_truncate BEFORE TRUNCATE ON ${month.table} FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
        ALTER TABLE ${month.table} ENABLE ALWAYS TRIGGER append_only_truncate;
        ALTER TABLE ${month.table} ENABLE ALWAYS TRIGGER append_only`);
    });
  }
  const first = (await sealBefore(client, month)) === null ? BEFORE_ALL_MONTHS : month;
  await transact(client, async () => {
    await moveMark(client, first, monthAfter(month).name);
    await addStep(client, month, "restored");
  });
  await refuseIdsBefore(client, first);
}

/** Removes the table of a month, whose file was compared with its seal. Errors: LimitExceeded where it has records that no file has. */
export async function dropTable(client: ClientBase, month: Month, seal: Seal): Promise<void> {
  await untilUnlocked(client, async () => {
    await requireDroppable(client, month, seal);
    await client.query(`DROP TABLE ${month.table}`);
    await addStep(client, month, "dropped");
  });
}

async function untilUnlocked(client: ClientBase, work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transact(client, async () => {
        await client.query(`SET LOCAL lock_timeout = ${PATIENCE.lockTimeoutMs}`);
        await work();
      });
    } catch (error) {
      if (!LOST_A_LOCK.has(sqlState(error)) || attempt === PATIENCE.attempts) throw error;
      await sleep(PATIENCE.pauseMs);
    }
  }
}
