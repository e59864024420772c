// Guards of recovery, leases and replay.

import { ledger, money, type PlantedBug } from "../planted-bug.ts";

/** Each with the test that must notice it. */
export const RECOVERY_BUGS: readonly PlantedBug[] = [
  {
    name: "a recovery charges what it has read instead of what it has deleted",
    edits: [
      ledger(
        "recovery.ts",
        "), del AS (\n  DELETE FROM hold h USING acc a,",
        `), gone AS (
  DELETE FROM hold WHERE account_id = ANY ($1::uuid[]) AND id = ANY ($2::uuid[])
), del AS (
  SELECT h.*, ceil((h.progress_input_tokens::numeric * h.input_price + h.progress_output_tokens::numeric * h.output_price)
                   / 1000000)::bigint AS cost
  FROM hold h, acc a,`,
      ),
      ledger(
        "recovery.ts",
        `RETURNING h.*, ceil((h.progress_input_tokens::numeric * h.input_price + h.progress_output_tokens::numeric * h.output_price)
                      / 1000000)::bigint AS cost
`,
        "",
      ),
    ],
    noticedBy: money("races", "between a recovery and a late settlement are won by one"),
  },
  {
    name: "a recovery takes the holds of the living",
    edits: [
      ledger("recovery.ts", "AND NOT EXISTS (SELECT FROM process p WHERE p.id = h.owner AND p.dead_at IS NULL)", ""),
      ledger(
        "recovery.ts",
        "WHERE NOT EXISTS (SELECT FROM process p WHERE p.id = h.owner AND p.dead_at IS NULL) AND (h.account_id",
        "WHERE (h.account_id",
      ),
    ],
    noticedBy: money("recovery", "resolves the holds of a dead process once"),
  },
  {
    name: "a recovery charges above its hold",
    edits: [
      ledger("recovery.ts", "SELECT account_id, id, cost, least(cost, amount),", "SELECT account_id, id, cost, cost,"),
    ],
    noticedBy: money("recovery", "charges no more than the hold"),
  },
  {
    name: "a process without a whole term buries others",
    edits: [ledger("process-lease.ts", "\n      AND m.gapless_since <= clock_timestamp() - ${TERM})", ")")],
    noticedBy: money("recovery", "only if the gravedigger had no gap for a term"),
  },
  {
    name: "the sweep gives back holds that are in use",
    edits: [{ file: "src/workers/holds.ts", find: "!ledger.isOpen(requestId)", replace: 'requestId !== ""' }],
    noticedBy: money("recovery", "gives back an old hold of its own that it does not know"),
  },
  {
    name: "a statement is replayed while its lost backend may still commit",
    edits: [ledger("lane-connection.ts", "await this.#database.endBackend(this.#lost);", "")],
    noticedBy: money("races", "of a lost statement against its own replay"),
  },
  {
    name: "a lost statement is decided anew without a look at what it wrote",
    edits: [ledger("lane.ts", "for (const waiting of group) waiting.perhapsWritten = true;", "")],
    noticedBy: money("faults", "finds what a lost statement has written"),
  },
];
