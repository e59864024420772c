// npm run bench-usage [-- --records N] [--days N]
// How long a summary of many usage records of one account takes, from roll-ups and from the records, on an embedded PostgreSQL
// with the settings of a serving session. The two have to agree; the exit code is 1 when they do not.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { listLedgerEntries } from "../../src/billing/usage/ledger-entries.ts";
import { tokenOf } from "../../src/billing/usage/line-place.ts";
import { rollUpUsage } from "../../src/billing/usage/roll-up.ts";
import { summarizeUsage } from "../../src/billing/usage/summary.ts";
import { exportUsage } from "../../src/billing/usage/usage-export.ts";
import { listUsage } from "../../src/billing/usage/usage.ts";
import { openDatabase } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { openAccount } from "../../src/ledger/accounts.ts";
import { creditAccount } from "../../src/ledger/credits.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { median } from "./statistics.ts";

const { values: flags } = parseArgs({
  options: { records: { type: "string", default: "1000000" }, days: { type: "string", default: "25" } },
});
const PER_STATEMENT = 50_000;
/** In whole statements. */
const RECORDS = Math.ceil(Number(flags.records) / PER_STATEMENT) * PER_STATEMENT;
const DAYS = Number(flags.days);
const CHARGE = 1_000n;
const ROUNDS = 5;
const GOAL_MS = 1_000;

// In the order of time, as settlements write them. Twelve models by four keys by three bases, so that hardly two requests of a quarter of an hour share a roll-up; the id has its time in front and a version 7, as real ones have.
const GROW = `
INSERT INTO usage_record (account_id, request_id, key_id, model, input_tokens_uncached, input_tokens_cached, output_tokens,
  input_price, output_price, cache_hit_price, cost, charge, basis, billing_day, streamed, duration_ms, settled_at)
SELECT $1::uuid, id, uuid_floor(to_timestamp(number / 12 % 4)), 'bench/model-' || number % 12, 1, 0, 0, 1000000000, 0, NULL, ${CHARGE}, ${CHARGE},
  (ARRAY['exact', 'drained', 'estimated'])[1 + number / 48 % 3], (uuid_time(id) AT TIME ZONE 'Asia/Jakarta')::date, false, 1, NULL
FROM (
  SELECT number, (left(uuid_floor($3::timestamptz + number * $4::float8 * interval '1 ms')::text, 14) || '7'
    || substr(gen_random_uuid()::text, 16))::uuid AS id
  FROM generate_series($2::int, $2::int + ${PER_STATEMENT - 1}) AS number
) made`;

const folder = await mkdtemp(join(tmpdir(), "saldo-bench-usage-"));
const stack = new AsyncDisposableStack();
stack.defer(() => rm(folder, { recursive: true, force: true }));
try {
  process.exitCode = (await bench()) ? 0 : 1;
} finally {
  await stack.disposeAsync();
}

async function bench(): Promise<boolean> {
  const database = await openDatabase({ dataDir: folder });
  stack.defer(() => database.close());
  const { pool } = database;
  const accountId = uuidv7();
  await withTransaction(database, async (client) => {
    await openAccount(client, accountId);
    const amount = CHARGE * BigInt(RECORDS + 1);
    await creditAccount(client, {
      accountId,
      amount,
      from: systemAccounts.operatorAdjustments,
      reason: "operator_credit",
    });
  });
  const grower = await database.connect();
  const spanMs = DAYS * 86_400_000;
  const begin = new Date(Date.now() - spanMs);
  for (let made = 0; made < RECORDS; made += PER_STATEMENT) {
    await grower.query(GROW, [accountId, made, begin, spanMs / RECORDS]);
  }
  // What the settlements would have taken.
  await grower.query("UPDATE account SET posted = posted - $2, held = held WHERE id = $1", [
    accountId,
    CHARGE * BigInt(RECORDS),
  ]);
  await grower.end();

  const all = () => summarizeUsage(pool, { accountId, filter: {} });
  const kathmandu = () => summarizeUsage(pool, { accountId, filter: {}, timeZone: "Asia/Kathmandu" });
  const oneModel = () => summarizeUsage(pool, { accountId, filter: { model: "bench/model-3", bases: ["exact"] } });
  const records = await time("summary of all, from the records", all);
  const rolled = await timeOnce("rolling all up, once", () => rollUpUsage(pool));
  const rollUps = await time("summary of all, from roll-ups", all);
  await time("the same by days of another zone", kathmandu);
  await time("summary of a model and a basis", oneModel);
  await time("first page of the list", () => listUsage(pool, { accountId, filter: {}, pageSize: 50, pageToken: "" }));
  await time("first page of a model that has none", () =>
    listUsage(pool, { accountId, filter: { model: "none" }, pageSize: 50, pageToken: "" }),
  );
  const oldest = tokenOf({
    micros: BigInt(Date.now() - (DAYS - 1) * 86_400_000) * 1_000n,
    isDebit: true,
    id: accountId,
  });
  await time("a page of the ledger near its beginning", () =>
    listLedgerEntries(pool, { accountId, pageSize: 50, pageToken: oldest }),
  );
  const bytes = await timeOnce("the whole file", exportedBytes(accountId));

  const [a, b] = [rows(records.result), rows(rollUps.result)];
  const kept = rolled.result.stretches > 0;
  console.log(
    `\n${RECORDS} records over ${DAYS} days; ${rollUps.result.rows.length} rows of a summary, ${bytes.result} bytes of a file.`,
  );
  console.log(`from roll-ups ${(records.ms / rollUps.ms).toFixed(1)} times as fast as from the records`);
  console.log(`${rollUps.ms < GOAL_MS ? "PASS" : "FAIL"} summary under ${GOAL_MS} ms: ${rollUps.ms.toFixed(0)} ms`);
  if (a !== b || !kept) console.error("WRONG: roll-ups say something else than the records");
  return a === b && kept;

  function exportedBytes(account: string) {
    return async () => {
      let sum = 0;
      for await (const piece of exportUsage(pool, { accountId: account, filter: {} })) sum += Buffer.byteLength(piece);
      return sum;
    };
  }
}

function rows(summary: Awaited<ReturnType<typeof summarizeUsage>>): string {
  return JSON.stringify(summary, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}

type Timed<Result> = { readonly ms: number; readonly result: Result };

/** The median of some runs, of which the first warms up. */
async function time<Result>(name: string, run: () => Promise<Result>): Promise<Timed<Result>> {
  const took: number[] = [];
  let result = await run();
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAt = performance.now();
    result = await run();
    took.push(performance.now() - startedAt);
  }
  return tell(name, median(took) ?? 0, result);
}

async function timeOnce<Result>(name: string, run: () => Promise<Result>): Promise<Timed<Result>> {
  const startedAt = performance.now();
  const result = await run();
  return tell(name, performance.now() - startedAt, result);
}

function tell<Result>(name: string, ms: number, result: Result): Timed<Result> {
  console.log(`${name.padEnd(44)} ${ms.toFixed(1).padStart(10)} ms`);
  return { ms, result };
}
