// Past usage, written as `saldo seed` writes it: requests around a midnight in Jakarta and over the weeks
// before it, of more models than the chart has colours for. Every cost is a whole number of hundredths of a rupiah, so
// that the displayed numbers add up; one model is different.

import { rollUpUsage } from "../../src/billing/usage/roll-up.ts";
import type { CatalogModel } from "../../src/catalog/catalog-model.ts";
import type { PlannedRequest } from "../../src/app/demo/seed/plan-requests.ts";
import { priceRequests } from "../../src/app/demo/seed/plan-money.ts";
import { writeHistory } from "../../src/app/demo/seed/write-history.ts";
import { type Database, withOwner } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { IDR, parseMoney } from "../../src/kernel/money.ts";
import { issueKey } from "../../src/keys/issue-key.ts";
import { creditAccount } from "../../src/ledger/credits.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import type { UsageBasis } from "../../src/ledger/ledger.ts";
import { seededRandom } from "../money/random.ts";
import type { TestDatabase } from "../setup/test-database.ts";

export const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const DAYS = 45;
const REQUESTS_OF_A_DAY = 4;
const SEED = 17;
const TOP_UP = parseMoney("10000000", IDR).units;

/** Names that would have a meaning in an address, a style or a page. */
export const KEY_NAMES = ["laptop", `ci "><script>alert(1)</script>`, "produksi/β:2.0"] as const;
export const MODELS = [
  "acme/small",
  "acme/large-v1.5:free",
  "x/a?b=c&d#e",
  "img/<img src=x onerror=alert(1)>",
  "kecil",
  "%2e%2e/%00",
  "constructor",
  "a.b.c/d:e:f",
  "{{7*7}}",
] as const;
/** Its costs have all six decimals. */
export const FINE_MODEL = "acme/fine";
const FINE_DAYS_AGO = 100;

/** One record, as the database has it. */
export type KeptRecord = {
  readonly requestId: string;
  readonly atMs: number;
  readonly model: string;
  readonly keyId: string;
  readonly basis: UsageBasis;
  /** Millionths of a rupiah. */
  readonly charge: bigint;
  readonly tokens: bigint;
};

export type UsageHistory = {
  readonly keyIds: readonly string[];
  readonly records: readonly KeptRecord[];
};

/** Makes it on an account, and returns its rows in the database. */
export async function makeHistory(
  { database, url }: Pick<TestDatabase, "database" | "url">,
  { accountId, midnightMs }: { accountId: string; midnightMs: number },
): Promise<UsageHistory> {
  await database.pool.query("SELECT ensure_usage_partitions($1::date, $2)", [
    new Date(midnightMs - (FINE_DAYS_AGO + 31) * DAY_MS).toISOString().slice(0, 10),
    Math.ceil(FINE_DAYS_AGO / 28) + 3,
  ]);
  const keyIds: string[] = [];
  for (const name of KEY_NAMES) keyIds.push((await issueKey(database, { accountId, name, rateLimit: 0 })).keyId);
  const models = [...MODELS.map((id, index) => model(id, `${10_000 * (index + 1)}`)), model(FINE_MODEL, "0.123457")];
  const requests = priceRequests(plan(midnightMs), { keyIds, models });
  const credit = { accountId, amount: TOP_UP, from: systemAccounts.promotions, reason: "demo_credit" } as const;
  await withTransaction(database, (client) => creditAccount(client, credit));
  await withOwner({ url, dataDir: "" }, (client) =>
    writeHistory(client, { accountId, topUps: [], requests, baseUrl: "" }),
  );
  await rollUpUsage(database.pool);
  return { keyIds, records: await keptRecords(database, accountId) };
}

function plan(midnightMs: number): PlannedRequest[] {
  const random = seededRandom(SEED);
  const at = (atMs: number): PlannedRequest => request(random, atMs, Math.floor(random() * MODELS.length));
  const fine = [0, 1, 2].map((minute) =>
    request(random, midnightMs - FINE_DAYS_AGO * DAY_MS + minute * MINUTE_MS, MODELS.length, "exact"),
  );
  const scattered = Array.from({ length: DAYS * REQUESTS_OF_A_DAY }, () => midnightMs - random() * DAYS * DAY_MS);
  const around = [-MINUTE_MS, -1, 0, MINUTE_MS].map((off) => midnightMs + off);
  const early = [-1, 0].map((off) => midnightMs - 7 * DAY_MS + off);
  return [
    ...fine,
    ...[...scattered, ...early, ...around]
      .map(Math.floor)
      .toSorted((a, b) => a - b)
      .map(at),
  ];
}

function request(random: () => number, atMs: number, modelIndex: number, known?: UsageBasis): PlannedRequest {
  const whole = (below: number): number => Math.floor(random() * below);
  const basis = known ?? (["exact", "exact", "drained", "estimated", "free"] as const)[whole(5)] ?? "exact";
  const isFree = basis === "free";
  return {
    requestId: uuidv7(atMs),
    atMs,
    key: whole(KEY_NAMES.length),
    model: modelIndex,
    counts: {
      inputTokensUncached: isFree ? 0 : 1 + whole(5_000),
      inputTokensCached: isFree ? 0 : whole(2) * whole(3_000),
      outputTokens: isFree ? 0 : 1 + whole(900),
    },
    basis,
    failure: null,
    streamed: random() < 0.5,
    durationMs: 100 + whole(3_000),
    firstByteMs: isFree ? null : 40 + whole(60),
  };
}

function model(id: string, price: string): CatalogModel {
  const rupiah = parseMoney(price, IDR).units;
  return {
    id,
    name: id,
    description: "",
    badge: null,
    inputModalities: ["text"],
    contextLength: 100_000,
    maxOutputTokens: 4_096,
    mediaTokens: { image: 0, audio: 0, video: 0 },
    kind: "chat",
    hiddenOutput: false,
    inputPrice: rupiah,
    outputPrice: rupiah * 3n,
    cacheHitPrice: rupiah,
    routes: [],
    createdAt: new Date(0),
  };
}

async function keptRecords(database: Database, accountId: string): Promise<KeptRecord[]> {
  const { rows } = await database.pool.query<Omit<KeptRecord, "atMs" | "charge" | "tokens"> & Record<string, string>>(
    `SELECT request_id AS "requestId", model, key_id AS "keyId", basis, charge::text, (input_tokens_uncached
       + input_tokens_cached + output_tokens)::text AS tokens FROM usage_record WHERE account_id = $1`,
    [accountId],
  );
  return rows.map(({ requestId, model: id, keyId, basis, charge = "", tokens = "" }) => ({
    requestId,
    // The first 48 bits of a UUIDv7 are its timestamp.
    atMs: Number.parseInt(requestId.replaceAll("-", "").slice(0, 12), 16),
    model: id,
    keyId,
    basis,
    charge: BigInt(charge),
    tokens: BigInt(tokens),
  }));
}
