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
/** The money statements of a request, which are functions of the database. */
const statement = (find: string, replace: string): Edit => ({
  file: "src/database/migrations/0009-request-functions.ts",
  find,
  replace,
});
const gateway = (file: string, find: string, replace: string): Edit => ({ file: `src/gateway/${file}`, find, replace });
const money = (file: string, test: string) => ({ file: `test/money/${file}.test.ts`, test });

const ADMISSION: readonly PlantedBug[] = [
  {
    name: "a request alone is admitted without a look at the balance",
    edits: [statement("IF other < least_amount THEN outcome := 'refused'; RETURN; END IF;", "")],
    noticedBy: money("admission", "holds what there is when that is still useful"),
  },
  {
    name: "a group is admitted without a look at the balance",
    edits: [statement("IF other < a_least[i] THEN outcome", "IF false THEN outcome")],
    noticedBy: money("admission", "admits exactly as many of 100 parallel requests"),
  },
  {
    name: "a request alone holds more than there is",
    edits: [statement("amount := least(wanted, other);", "amount := wanted;")],
    noticedBy: money("admission", "holds what there is when that is still useful"),
  },
  {
    name: "a group holds more than there is, and the database has to refuse it",
    edits: [statement("amount := least(a_amount[i], other);", "amount := a_amount[i];")],
    noticedBy: money("admission", "never leans on the database's own guard"),
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
  {
    name: "the account is read and not locked, for a request alone",
    edits: [
      statement(
        "frozen\n  FROM account a WHERE a.id = account FOR NO KEY UPDATE",
        "frozen\n  FROM account a WHERE a.id = account",
      ),
    ],
    noticedBy: money("races", "they see it once the row is theirs"),
  },
  {
    name: "the accounts are read and not locked, for a group",
    edits: [statement("ORDER BY a.id FOR NO KEY UPDATE", "ORDER BY a.id")],
    noticedBy: money("races", "for the last money admit exactly as many as it covers"),
  },
  {
    name: "the key is read and not locked, for a request alone",
    edits: [statement("k.id = key FOR NO KEY UPDATE;", "k.id = key;")],
    noticedBy: money("races", "all are counted in its window"),
  },
  {
    name: "the keys are read and not locked, for a group",
    edits: [statement("ORDER BY k.account_id, k.id FOR NO KEY UPDATE LOOP", "ORDER BY k.account_id, k.id LOOP")],
    noticedBy: money("races", "all are counted in its window"),
  },
  {
    name: "the clock is read before the lock, for a request alone",
    edits: [
      statement(
        "t := clock_timestamp();\n    used := slots_used(slots,",
        "t := statement_timestamp();\n    used := slots_used(slots,",
      ),
    ],
    noticedBy: money("races", "they are counted when they were let in"),
  },
  {
    name: "the clock is read before the locks, for a group",
    edits: [
      statement(
        "t := clock_timestamp();\n        used := slots_used(key.",
        "t := statement_timestamp();\n        used := slots_used(key.",
      ),
    ],
    noticedBy: money("races", "they are counted when they were let in"),
  },
  {
    name: "the rate window lets one too many in, alone",
    edits: [statement("IF rate_limit > 0 AND used >= rate_limit THEN", "IF rate_limit > 0 AND used > rate_limit THEN")],
    noticedBy: money("admission", "frees a slot when the request that took it is 60 seconds old"),
  },
  {
    name: "the rate window lets one too many in, in a group",
    edits: [statement("used + taken >= rate_limit THEN", "used + taken > rate_limit THEN")],
    noticedBy: money("admission", "gives exactly the window's slots to 100 parallel requests"),
  },
  {
    name: "the rate window is a second short",
    edits: [
      {
        file: "src/database/migrations/0001-rate-window.ts",
        find: "\"width_bucket(t - interval '60 s', slots)\"",
        replace: "\"width_bucket(t - interval '59 s', slots)\"",
      },
    ],
    noticedBy: money("admission", "frees a slot when the request that took it is 60 seconds old"),
  },
  {
    name: "a revoked key is not looked at, alone",
    edits: [statement("IF revoked THEN outcome := 'revoked'; RETURN; END IF;", "")],
    noticedBy: money("admission", "refuses a key from the moment its revocation is committed"),
  },
  {
    name: "a revoked key is not looked at, in a group",
    edits: [statement("IF key.revoked THEN outcome", "IF false THEN outcome")],
    noticedBy: money("admission", "refuses a key from the moment its revocation is committed"),
  },
  {
    name: "a frozen account is not looked at, alone",
    edits: [statement("IF frozen THEN outcome := 'frozen'; RETURN; END IF;", "")],
    noticedBy: money("admission", "refuses a frozen account"),
  },
  {
    name: "a frozen account is not looked at, in a group",
    edits: [statement("ELSIF frozen[here] THEN outcome", "ELSIF false THEN outcome")],
    noticedBy: money("admission", "refuses a frozen account"),
  },
  {
    name: "one request too many runs at once, alone",
    edits: [statement("open_holds >= max_open_holds THEN", "open_holds > max_open_holds THEN")],
    noticedBy: money("admission", "lets as many requests run at once"),
  },
  {
    name: "one request too many runs at once, in a group",
    edits: [statement("open_holds[here] >= max_open_holds[here] THEN", "open_holds[here] > max_open_holds[here] THEN")],
    noticedBy: money("admission", "lets as many requests run at once"),
  },
];

const SETTLEMENT: readonly PlantedBug[] = [
  {
    name: "a settlement charges its whole cost, whatever there is",
    edits: [statement("charge := least(cost, freed.amount + posted - held);", "charge := cost;")],
    noticedBy: money("settlement", "takes above the hold only what is available"),
  },
  {
    name: "a settlement charges no more than its hold, though there is more",
    edits: [statement("charge := least(cost, freed.amount + posted - held);", "charge := least(cost, freed.amount);")],
    noticedBy: money("settlement", "takes above the hold only what is available"),
  },
  {
    name: "a settlement charges again what has a record already, alone",
    edits: [statement("    charge := 0;\n", "")],
    noticedBy: money("settlement", "gives back a hold whose request has its record already"),
  },
  {
    name: "a settlement that meets a record fails, and its hold stays, alone",
    edits: [statement("ON CONFLICT DO NOTHING;\n  IF FOUND", ";\n  IF FOUND")],
    noticedBy: money("settlement", "gives back a hold whose request has its record already"),
  },
  {
    name: "a settlement charges again what has a record already, in a group",
    edits: [statement("WHERE r.key_id IS NOT NULL;", "WHERE r.key_id IS NOT NULL ON CONFLICT DO NOTHING;")],
    noticedBy: money("settlement", "gives back a hold whose request has its record already"),
  },
  {
    name: "a group of settlements takes from what others hold",
    edits: [
      statement("more := least(s_cost[i] - charge[i], posted[here] - held[here]);", "more := s_cost[i] - charge[i];"),
    ],
    noticedBy: money("settlement", "charges a batch as if its members came one after the other"),
  },
  {
    name: "a settled request still counts as running",
    edits: [statement("held - freed.amount, open_holds = open_holds - 1", "held - freed.amount")],
    noticedBy: money("admission", "lets as many requests run at once"),
  },
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
    name: "an extension grants more than there is",
    edits: [
      statement(
        "least(greatest(e_amount[i] - extended, 0), posted[here] - held[here])",
        "greatest(e_amount[i] - extended, 0)",
      ),
    ],
    noticedBy: money("extension", "grants what there is when that is still useful"),
  },
  {
    name: "an extension takes back what is held",
    edits: [
      statement(
        "least(greatest(e_amount[i] - extended, 0), posted[here] - held[here])",
        "least(e_amount[i] - extended, posted[here] - held[here])",
      ),
    ],
    noticedBy: money("extension", "never takes back what is held or recorded"),
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
        "const billed = await bill.settleCompleted(",
        'sink.start({ streamed: false, rate, costIdr: "0", demo: false });\n  const billed = await bill.settleCompleted(',
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
  {
    name: "no gate is put before a stream that holds a slab",
    edits: [
      gateway(
        "answer-streamed.ts",
        "if (outputCap !== null || plan.heldOutput",
        "if (outputCap === null || plan.heldOutput",
      ),
    ],
    noticedBy: { file: "test/gateway/slabs.test.ts", test: "waits with what goes beyond the slab" },
  },
  {
    name: "a client that leaves pays for what it never had, where the upstream says no usage",
    edits: [
      gateway(
        "relay-stream.ts",
        "if (!this.#isDraining) this.#facts.output.add(events);",
        "this.#facts.output.add(events);",
      ),
    ],
    noticedBy: { file: "test/gateway/drains.test.ts", test: "is billed by an estimate of what was relayed" },
  },
];

/** All of them. */
export const PLANTED_BUGS: readonly PlantedBug[] = [...ADMISSION, ...SETTLEMENT, ...RECOVERY, ...PURE_BUGS, ...ANSWERS];
