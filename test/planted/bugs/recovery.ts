// Guards of recovery, leases and replay.

import { gateway, ledger, money, type PlantedBug } from "../planted-bug.ts";

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
  SELECT h.*, usage_cost(h.progress_input_tokens, h.progress_cached_tokens, h.progress_output_tokens, NULL, h.input_price,
                         h.output_price, h.cache_hit_price, h.other_prices)::bigint AS cost
  FROM hold h, acc a,`,
      ),
      ledger(
        "recovery.ts",
        `RETURNING h.*, usage_cost(h.progress_input_tokens, h.progress_cached_tokens, h.progress_output_tokens, NULL, h.input_price,
                            h.output_price, h.cache_hit_price, h.other_prices)::bigint AS cost
`,
        "",
      ),
    ],
    noticedBy: money("races", "between a recovery and a late settlement are won by one"),
  },
  {
    name: "a hold whose record the database refuses keeps all others of its page from being resolved",
    edits: [
      ledger("recovery.ts", "if (ROW_REFUSED.test(state)) {", "if (ROW_REFUSED.test(state) && holds.length === 0) {"),
    ],
    noticedBy: money("recovery", "resolves all other holds beside one that the books refuse"),
  },
  {
    name: "a recovery takes the holds of the living",
    edits: [
      ledger("recovery.ts", "NOT EXISTS (SELECT FROM process p WHERE p.id = h.owner AND p.dead_at IS NULL)", "true"),
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
    noticedBy: money(
      "recovery",
      "declares a process with an ended lease dead, and only after a term without a gap of its own",
    ),
  },
  {
    name: "a record of recovery is taken for the settlement's own",
    edits: [ledger("group-commit/settlement.ts", 'isRecovered: recovered === "t"', "isRecovered: recovered === null")],
    noticedBy: money(
      "recovery",
      "lets a process that was declared dead only post the difference, ends its requests, and continues under a new id",
    ),
  },
  {
    name: "a late answer that was refused keeps its name",
    edits: [ledger("late-usage.ts", 'row.outcome === "refused" || basis === "free"', 'basis === "free"')],
    noticedBy: money("idempotency", "are admitted again where nothing was charged"),
  },
  {
    name: "a whole answer is posted in part after its recovery",
    edits: [
      {
        file: "src/database/functions/post_late_usage.sql",
        find: "IF whole AND late < due THEN",
        replace: "IF whole AND late < 0 THEN",
      },
    ],
    noticedBy: money("late-usage", "posts a whole answer in full or not at all"),
  },
  {
    name: "a lock ends the search for a commit of late usage that was lost",
    edits: [ledger("late-usage.ts", "if (!isOpen || performance", "if (!isDatabaseAway(error) || performance")],
    noticedBy: money("late-usage", "waits for a commit that was lost on its way"),
  },
  {
    name: "a stream goes on behind a lease that is over",
    edits: [
      gateway(
        "stream/relay-stream.ts",
        "if (this.#outcome.isOver || this.#facts.term.isOver()) return;\n    if (this.#client.hasBegun)",
        "if (this.#outcome.isOver) return;\n    if (this.#client.hasBegun)",
      ),
    ],
    noticedBy: {
      file: "test/gateway/late-settlements.test.ts",
      test: "keeps the next packet of a stream from being written",
    },
  },
  {
    name: "a request of a wrong clock is admitted",
    edits: [
      ledger("process-lease.ts", "if (aheadMs > NEWEST_REQUEST_MS ||", "if (aheadMs > NEWEST_REQUEST_MS * 1e9 ||"),
    ],
    noticedBy: money("wrong-clock", "has its requests refused before anything is held"),
  },
  {
    name: "the sweep gives back holds that are in use",
    edits: [{ file: "src/ledger/jobs/holds.ts", find: "!ledger.isOpen(requestId)", replace: 'requestId !== ""' }],
    noticedBy: money("recovery", "releases an old hold of its own that it does not know, and keeps those it knows"),
  },
  {
    name: "a statement is replayed while its lost backend may still commit",
    edits: [ledger("group-commit/lane-connection.ts", "await this.#database.endBackend(this.#lost);", "")],
    noticedBy: money("races", "of a lost statement against its own replay"),
  },
  {
    name: "a lost statement is decided anew without a look at what it wrote",
    edits: [
      ledger(
        "group-commit/lane.ts",
        "for (const group of open) for (const waiting of group) waiting.perhapsWritten = true;",
        "",
      ),
    ],
    noticedBy: money(
      "faults",
      "finds the rows of a lost statement, even where it took the last money and the last slot",
    ),
  },
];
