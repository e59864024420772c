// Fills a demo with a month of usage, so that every page has something to show. The past is written by a role of its own
// (write-history.ts); keys and transfers go through the use cases that serve callers. The audit finds nothing.

import { sealedThrough } from "../billing/proof/seal-store.ts";
import { withAuditLog, listActions } from "../operator/audit-log/operator-actions.ts";
import { baseUrlOf } from "../app/compose/announcement.ts";
import { presetCatalog } from "../app/compose/catalog.ts";
import { whereIs } from "../app/compose/database.ts";
import { findDemo } from "../app/demo/demo.ts";
import { recountUsage, rollUpUsage } from "../billing/usage/roll-up.ts";
import { createCatalog } from "../catalog/catalog.ts";
import type { CatalogModel } from "../catalog/catalog-model.ts";
import type { Config } from "../app/config/config.ts";
import { selectTopUpOfKey } from "../billing/top-ups/store.ts";
import { type Database, withOwner } from "../database/database.ts";
import { billingDay, DAY_MS } from "../kernel/clock.ts";
import { ValidationError } from "../kernel/errors.ts";
import { formatMoney, idr, IDR, parseMoney } from "../kernel/money.ts";
import { issueKey } from "../keys/issue-key.ts";
import { revokeKey } from "../keys/issued-keys.ts";
import { type Command, UsageError } from "./command.ts";
import { operatorHere } from "./operator-here.ts";
import { integerOption } from "./option-values.ts";
import { type PlannedRequest, planRequests, seededChance } from "../app/demo/seed/plan-requests.ts";
import { planTopUps, priceRequests } from "../app/demo/seed/plan-money.ts";
import { seedTransfers } from "../app/demo/seed/seed-transfers.ts";
import { writeHistory } from "../app/demo/seed/write-history.ts";

const ACTION = "seed";
const DAYS = 30;
/** Months of usage that need a partition: those of the days, and the one after them. */
const MONTHS = 3;
/** Any number that no other code locks: two seeds at once take turns. */
const SEED_LOCK = 5_841_020_121;
/** In the order in which a plan names them. The last one is a build that is no longer used. */
const KEY_NAMES = ["laptop", "produksi", "ci"] as const;
/** A top-up that was ordered and never paid. */
const UNPAID = { daysAgo: 17, amount: parseMoney("50000", IDR).units } as const;
const MODELS = ["demo/small", "demo/large", "demo/vision", "demo/echo"] as const;

type Seeded = {
  readonly seeded: boolean;
  readonly accountId: string;
  readonly days: number;
  readonly requests: number;
  readonly spent: string;
  readonly topUps: number;
  readonly transfers: number;
};

export const seedCommands: readonly Command[] = [
  {
    name: "seed",
    about: "Fills the demo's account with 30 days of requests, top-ups and transfers, once. Only in a demo.",
    options: { seed: { required: false, value: "N", about: "another number makes another month; 1" } },
    async run(values, { config, database }) {
      if (!config.demo || config.production) throw new UsageError("saldo seed: works only in a demo.");
      const seed = integerOption(values.get("seed") ?? "1", "seed", { min: 0, max: 2 ** 31 });
      const done = await seedOnce({ config, database: await database(), seed });
      return { json: done, text: textOf(done) };
    },
  },
];

type SeedOptions = { readonly config: Config; readonly database: Database; readonly seed: number };

async function seedOnce(options: SeedOptions): Promise<Seeded> {
  const client = await options.database.connect();
  try {
    await client.query("SELECT pg_advisory_lock($1)", [SEED_LOCK]);
    return await seedInTurn(options);
  } finally {
    await client.end(); // which releases the lock
  }
}

async function seedInTurn({ config, database, seed }: SeedOptions): Promise<Seeded> {
  const { accountId, merchantId } = await findDemo(database);
  const filter = { action: ACTION, subject: accountId };
  const [earlier] = await listActions(database.pool, { filter, limit: 1 });
  const nothing = { seeded: false, accountId, days: 0, requests: 0, spent: "0", topUps: 0, transfers: 0 };
  if (earlier !== undefined) return nothing;
  const sealed = await sealedThrough(database.pool);
  if (sealed !== null) {
    const message = `The books are sealed up to ${sealed}, and nothing may come before. Begin with an empty data directory.`;
    throw new ValidationError([{ field: "", rule: "seed.sealed", message }]);
  }

  const nowMs = Date.now();
  const requests = planRequests(seededChance(seed), { nowMs, days: DAYS });
  await database.pool.query("SELECT ensure_usage_partitions($1::date, $2)", [
    billingDay(nowMs - (DAYS + 1) * DAY_MS),
    MONTHS,
  ]);
  const { spent, topUps } = await seedAccount({ config, database, accountId, requests, nowMs });
  const by = await operatorHere(() => Promise.resolve(database));
  const transfers = await seedTransfers(database, by, merchantId);
  // A worker may have rolled up the days that were empty until now.
  await recountUsage(database.pool, accountId);
  await rollUpUsage(database.pool);
  const done = { days: DAYS, requests: requests.length, spent: formatMoney(idr(spent)), topUps, transfers };
  await withAuditLog(
    by,
    () => Promise.resolve(),
    () => ({ action: ACTION, subject: accountId, reason: null, facts: { ...done, seed }, inAccount: null }),
  );
  return { ...nothing, ...done, seeded: true };
}

async function seedAccount(account: {
  readonly config: Config;
  readonly database: Database;
  readonly accountId: string;
  readonly requests: readonly PlannedRequest[];
  readonly nowMs: number;
}): Promise<{ spent: bigint; topUps: number }> {
  const { config, database, accountId, requests, nowMs } = account;
  if ((await selectTopUpOfKey(database.pool, { accountId, idempotencyKey: "seed-1" })) !== null) {
    const message = "A seed was cut off before. Begin with an empty data directory.";
    throw new ValidationError([{ field: "", rule: "seed.once", message }]);
  }
  const models = await demoModels(config, database);
  const keyIds: string[] = [];
  for (const name of KEY_NAMES) keyIds.push((await issueKey(database, { accountId, name })).keyId);
  const priced = priceRequests(requests, { keyIds, models });
  const paid = planTopUps(priced);
  const unpaid = { atMs: nowMs - UNPAID.daysAgo * DAY_MS, amount: UNPAID.amount, state: "expired" } as const;
  const history = {
    accountId,
    topUps: [...paid, unpaid],
    requests: priced,
    baseUrl: baseUrlOf(config, config.httpPort),
  };
  await withOwner(whereIs(config), (client) => writeHistory(client, history));
  await revokeKey(database, { keyId: keyIds.at(-1) ?? "", accountId });
  return { spent: priced.reduce((sum, { cost }) => sum + cost, 0n), topUps: paid.length };
}

/** The demo's models at the prices they have now. */
async function demoModels(config: Config, database: Database): Promise<CatalogModel[]> {
  const { models } = await createCatalog({ database, ...presetCatalog(config) }).snapshot();
  return MODELS.flatMap((id) => models.get(id) ?? []);
}

function textOf({ seeded, days, requests, spent, topUps, transfers }: Seeded): string {
  if (!seeded) return "This demo was seeded before. Nothing was done.";
  return `${days} days: ${requests} requests for Rp ${spent}, ${topUps} top-ups, ${transfers} transfers.`;
}
