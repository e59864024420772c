// Fills a demo with a month of life, so that every page has something to show. All of it goes through the use cases that
// serve callers, so every sum adds up and the audit finds nothing.

import { doAndRecord, listActions } from "../operator/audit-log/operator-actions.ts";
import { baseUrlOf } from "../app/compose/announcement.ts";
import { presetCatalog } from "../app/compose/catalog.ts";
import { findDemo } from "../app/demo/demo.ts";
import { recountUsage, rollUpUsage } from "../billing/usage/roll-up.ts";
import { createCatalog } from "../catalog/catalog.ts";
import type { CatalogModel } from "../catalog/catalog-model.ts";
import type { Config } from "../app/config/config.ts";
import type { Database } from "../database/database.ts";
import { billingDay, DAY_MS } from "../kernel/clock.ts";
import { ValidationError } from "../kernel/errors.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { issueKey } from "../keys/issue-key.ts";
import { revokeKey } from "../keys/issued-keys.ts";
import { type Command, UsageError } from "./command.ts";
import { orderedHere } from "./operator.ts";
import { integerOption } from "./option-values.ts";
import { type PlannedRequest, planRequests, seededChance } from "../app/demo/seed/plan-requests.ts";
import { openSeededTopUps } from "../app/demo/seed/seed-top-ups.ts";
import { seedTransfers } from "../app/demo/seed/seed-transfers.ts";
import { seedUsage } from "../app/demo/seed/seed-usage.ts";

const ACTION = "seed";
const DAYS = 30;
/** Months of usage that need a partition: those of the days, and the one after them. */
const MONTHS = 3;
/** Any number that no other code locks: two seeds at once take turns. */
const SEED_LOCK = 5_841_020_121;
/** In the order in which a plan names them. The last one is a build that is no longer used. */
const KEY_NAMES = ["laptop", "produksi", "ci"] as const;
/** Far above what a person may call: a month passes within seconds. */
const KEY_RATE_LIMIT = 100_000;
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

type SeedOrder = { readonly config: Config; readonly database: Database; readonly seed: number };

async function seedOnce(order: SeedOrder): Promise<Seeded> {
  const client = await order.database.connect();
  try {
    await client.query("SELECT pg_advisory_lock($1)", [SEED_LOCK]);
    return await seedInTurn(order);
  } finally {
    await client.end(); // which releases the lock
  }
}

async function seedInTurn({ config, database, seed }: SeedOrder): Promise<Seeded> {
  const { accountId, merchantId } = await findDemo(database);
  const filter = { action: ACTION, subject: accountId };
  const [earlier] = await listActions(database.pool, { filter, limit: 1 });
  const nothing = { seeded: false, accountId, days: 0, requests: 0, spent: "0", topUps: 0, transfers: 0 };
  if (earlier !== undefined) return nothing;

  const nowMs = Date.now();
  const requests = planRequests(seededChance(seed), { nowMs, days: DAYS });
  await database.pool.query("SELECT ensure_usage_partitions($1::date, $2)", [
    billingDay(nowMs - (DAYS + 1) * DAY_MS),
    MONTHS,
  ]);
  const { spent, topUps } = await seedAccount({ config, database, accountId, requests, nowMs });
  const by = await orderedHere(() => Promise.resolve(database));
  const transfers = await seedTransfers(database, by, merchantId);
  // A worker may have rolled up the days that were empty until now.
  await recountUsage(database.pool, accountId);
  await rollUpUsage(database.pool);
  const done = { days: DAYS, requests: requests.length, spent: formatMoney(idr(spent)), topUps, transfers };
  await doAndRecord(
    by,
    () => Promise.resolve(),
    () => ({ action: ACTION, subject: accountId, reason: null, facts: { ...done, seed } }),
  );
  return { ...nothing, ...done, seeded: true };
}

async function seedAccount(order: {
  readonly config: Config;
  readonly database: Database;
  readonly accountId: string;
  readonly requests: readonly PlannedRequest[];
  readonly nowMs: number;
}): Promise<{ spent: bigint; topUps: number }> {
  const { config, database, accountId, requests, nowMs } = order;
  const models = await demoModels(config, database);
  const topUps = openSeededTopUps(database, accountId, baseUrlOf(config, config.httpPort));
  try {
    if (await topUps.hasBegun()) {
      const message = "A seed was cut off before. Begin with an empty data directory.";
      throw new ValidationError([{ field: "", rule: "seed.once", message }]);
    }
    await topUps.order(new Date(nowMs - 17 * DAY_MS), "expire");
    const keys = [];
    for (const name of KEY_NAMES) keys.push(await issueKey(database, { accountId, name, rateLimit: KEY_RATE_LIMIT }));
    const keyIds = keys.map(({ keyId }) => keyId);
    const spent = await seedUsage({ database, accountId, keyIds, models, requests, topUp: (at) => topUps.buy(at) });
    await revokeKey(database, { keyId: keyIds.at(-1) ?? "", accountId });
    return { spent, topUps: topUps.paid() };
  } finally {
    await topUps.close();
  }
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
