// Bugs to plant: each is a change of the sources that a tired engineer could make, and the test that must notice it. They are
// data, so that they are easy to add: whoever builds a guard adds the bug that takes it away.

/** One replacement. The text to find lies in its file exactly once. */
export type Edit = { readonly file: string; readonly find: string; readonly replace: string };

export type PlantedBug = {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The test file that is run, and a part of the name of a test in it that must fail. */
  readonly noticedBy: { readonly file: string; readonly test: string };
};

const ledger = (file: string, find: string, replace: string): Edit => ({ file: `src/ledger/${file}`, find, replace });
const gateway = (file: string, find: string, replace: string): Edit => ({ file: `src/gateway/${file}`, find, replace });
const money = (file: string, test: string) => ({ file: `test/money/${file}.test.ts`, test });

const RESOLVED: readonly PlantedBug[] = [
  {
    name: "a release charges",
    edits: [ledger("group-commit.ts", "cost: 0n,", "cost: 1n,")],
    noticedBy: money("races", "between a settlement and a sweep are won by one"),
  },
  {
    name: "a credit that comes twice counts twice",
    edits: [ledger("accounts.ts", "FROM acc l, ins WHERE", "FROM acc l WHERE")],
    noticedBy: money("races", "between credits of one reference are won by one"),
  },
  {
    name: "the database allows a negative balance",
    edits: [
      {
        file: "src/database/migrations/0001-ledger.ts",
        find: "CHECK (held >= 0 AND posted >= held)",
        replace: "CHECK (held >= 0)",
      },
    ],
    noticedBy: money("races", "the database itself refuses"),
  },
];

const RECOVERY: readonly PlantedBug[] = [
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
      ledger("recovery.ts", "AND p.id = h.owner AND p.dead_at IS NOT NULL", "AND p.id = h.owner"),
      ledger("recovery.ts", "WHERE p.dead_at IS NOT NULL AND (h.account_id", "WHERE (h.account_id"),
    ],
    noticedBy: money("recovery", "resolves the holds of a dead process once"),
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

/** Those whose tests need no database. */
export const PURE_BUGS: readonly PlantedBug[] = [
  {
    name: "a cost is computed in floating point",
    edits: [
      {
        file: "src/billing/cost.ts",
        find: "return divideCeil(total, TOKENS_PER_PRICE)",
        replace: "return BigInt(Math.ceil(Number(total) / Number(TOKENS_PER_PRICE)))",
      },
    ],
    noticedBy: { file: "src/billing/cost.test.ts", test: "is the least whole micro-rupiah" },
  },
  {
    name: "cached tokens are billed on top of the input",
    edits: [
      gateway("usage.ts", "inputTokensUncached: input.tokens - cached.tokens", "inputTokensUncached: input.tokens"),
    ],
    noticedBy: { file: "src/gateway/usage.test.ts", test: "bills cached tokens as a part of the input" },
  },
  {
    name: "cached tokens are billed at the full price",
    edits: [{ file: "src/billing/cost.ts", find: "(prices.cacheHit ?? prices.input)", replace: "prices.input" }],
    noticedBy: { file: "src/billing/cost.test.ts", test: "cached tokens at the cache-hit price" },
  },
  {
    name: "a cost is rounded down",
    edits: [
      {
        file: "src/billing/cost.ts",
        find: "return divideCeil(total, TOKENS_PER_PRICE)",
        replace: "return total / TOKENS_PER_PRICE",
      },
    ],
    noticedBy: { file: "src/billing/cost.test.ts", test: "is the least whole micro-rupiah" },
  },
  {
    name: "an upstream may count below zero",
    edits: [gateway("usage.ts", "Math.max(Math.ceil(said), 0)", "Math.ceil(said)")],
    noticedBy: { file: "src/gateway/usage.test.ts", test: "makes whole counts within the bounds" },
  },
  {
    name: "a hold forgets that cached input may be the dearer",
    edits: [
      gateway(
        "hold.ts",
        "prices.cacheHit > prices.input ? prices.cacheHit : prices.input",
        "false ? prices.cacheHit : prices.input",
      ),
    ],
    noticedBy: { file: "src/gateway/hold.test.ts", test: "is never below the cost of a request" },
  },
  {
    name: "a hold is sized for one of several answers",
    edits: [gateway("hold.ts", "outputTokens * request.choices, prices", "outputTokens, prices")],
    noticedBy: { file: "src/gateway/hold.test.ts", test: "is never below the cost of a request" },
  },
  {
    name: "a fee is rounded down",
    edits: [
      {
        file: "src/merchant/fee-schedule.ts",
        find: "divideCeil(terms.rate * amount.units, FEE_UNIT)",
        replace: "(terms.rate * amount.units) / FEE_UNIT",
      },
    ],
    noticedBy: { file: "src/merchant/fee-schedule.test.ts", test: "lies less than one unit above the exact value" },
  },
  {
    name: "a decimal that is too fine is cut off",
    edits: [
      {
        file: "src/kernel/decimal.ts",
        find: "if (digits % divisor !== 0n) throw",
        replace: "if (divisor === 0n) throw",
      },
    ],
    noticedBy: { file: "src/kernel/decimal.test.ts", test: "agrees with a rational number" },
  },
];

const ANSWERS: readonly PlantedBug[] = [
  {
    name: "an answer in one piece is shown before it is settled",
    edits: [
      gateway(
        "answer-whole.ts",
        "  bill.firstByteReached();",
        '  bill.firstByteReached();\n  sink.start({ streamed: false, rate, costIdr: "0", demo: false });',
      ),
      gateway(
        "answer-whole.ts",
        "sink.start({ streamed: false, rate, costIdr: costIdr(billed)",
        "void ({ costIdr: costIdr(billed)",
      ),
    ],
    noticedBy: { file: "test/gateway/whole-answers.test.ts", test: "are settled before they are shown" },
  },
  {
    name: "the last frames of a stream are shown before they are settled",
    edits: [
      gateway(
        "answer-streamed.ts",
        "const billed = await exchange.bill.settleCompleted(",
        "for (const frame of end.held) exchange.sink.write(frame);\n        const billed = await exchange.bill.settleCompleted(",
      ),
    ],
    noticedBy: { file: "test/gateway/streams.test.ts", test: "hold back everything from the finish on" },
  },
];

/** All of them. */
export const PLANTED_BUGS: readonly PlantedBug[] = [...RESOLVED, ...RECOVERY, ...PURE_BUGS, ...ANSWERS];
