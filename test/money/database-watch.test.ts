// Each metric of the database changes with the event that it is for.

import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countUnknownPayments } from "../../src/billing/top-ups/find-top-ups.ts";
import { readSealedAge } from "../../src/billing/proof/seal-store.ts";
import { sealDays } from "../../src/billing/proof/seal.ts";
import { proofKey } from "../../src/billing/proof/signing.ts";
import { DAY_MS, startOfBillingDay } from "../../src/kernel/clock.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { watchDatabase, type DatabaseFacts, type DatabaseWatch } from "../../src/app/observability/database-watch.ts";
import { watchRoom } from "../../src/app/observability/database-room.ts";
import { testBackends } from "../setup/test-database.ts";
import { MoneySetup } from "./money-setup.ts";

describe.each(testBackends())("the watch on the %s database", (backend) => {
  let setup: MoneySetup;
  let watch: DatabaseWatch;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    watch = watchDatabase(setup.pool, { dataDir: tmpdir(), readSealedAge, countUnknownPayments });
  });
  afterAll(() => setup.close());

  async function look(): Promise<DatabaseFacts> {
    await watch.tick.run(new AbortController().signal);
    const facts = watch.facts();
    if (facts === null) throw new Error("the watch has looked");
    return facts;
  }

  it("has no values before its first run, and sees nothing wrong in an empty database", async () => {
    expect(watch.facts()).toBeNull();
    expect(await look()).toMatchObject({
      oldestHoldSeconds: 0,
      leaseAgeSeconds: 0,
      defaultPartitionRows: 0,
      sealedAgeSeconds: null,
      audits: { incremental: { lagSeconds: null, violations: 0 }, full: { lagSeconds: null, violations: 0 } },
    });
  });

  it("sees the room that is used: on the disk, in the log, of connections and of transaction ids", async () => {
    const { room } = await look();
    expect(room.bytes).toBeGreaterThan(1_000_000);
    expect(room.walBytes).toBeGreaterThan(1_000_000);
    expect(room.slotWalBytes).toBe(0);
    expect(room.wraparoundShare).toBeGreaterThan(0);
    expect(room.wraparoundShare).toBeLessThan(0.1);
    expect(room.connectionsShare).toBeGreaterThan(0);
    expect(room.connectionsShare).toBeLessThanOrEqual(1);
    expect(Object.keys(room.deadRows).toSorted()).toEqual(["account", "api_key", "hold", "process"]);
    expect(room.diskFreeBytes).toBeGreaterThan(0);
    expect(room.diskFreeShare).toBeGreaterThan(0);
    expect(room.diskFreeShare).toBeLessThan(1);
  });

  it("has no figures of a data folder that is not there, nor of a log that the owner may not see", async () => {
    const room = await watchRoom(setup.pool, "/no/such/folder")();
    expect([room.diskFreeBytes, room.diskFreeShare]).toEqual([null, null]);
    await setup.asOwner("ALTER FUNCTION write_ahead_log_bytes SECURITY INVOKER");
    expect((await watchRoom(setup.pool, tmpdir())()).walBytes).toBeNull();
    await setup.asOwner("ALTER FUNCTION write_ahead_log_bytes SECURITY DEFINER");
  });

  it("sees how old the last sealed moment is", async () => {
    await setup.account(1_000_000n);
    const keys = [proofKey("a secret of a test that looks at the age of a root")];
    const root = await sealDays(setup.pool, { keys, share: 1, nowMs: Date.now() + 2 * DAY_MS });
    const { day } = JSON.parse(root?.text ?? "{}") as { day: string };
    const sealedSeconds = (startOfBillingDay(day) + DAY_MS) / 1_000;
    const { sealedAgeSeconds } = await look();
    expect(sealedAgeSeconds).toBeGreaterThan(Date.now() / 1_000 - sealedSeconds - 60);
    expect(sealedAgeSeconds).toBeLessThan(Date.now() / 1_000 - sealedSeconds + 60);
  });

  it("sees the oldest hold, the oldest lease and usage outside every month", async () => {
    const id = "01800000-0000-7000-8000-000000000000";
    await setup.asOwner(`
      INSERT INTO process (id, renewed_at, expires_at) VALUES ('${id}', now() - interval '90 s', now());
      INSERT INTO process (id, renewed_at, expires_at, dead_at) VALUES ('${uuidv7()}', now() - interval '1 day', now(), now());
      INSERT INTO hold (account_id, id, owner, amount, key_id, model, input_price, output_price, placed_at)
        VALUES ('${id}', '${id}', '${id}', 0, '${id}', 'm', 1, 1, now() - interval '1 hour'),
               ('${id}', '${uuidv7()}', '${id}', 0, '${id}', 'm', 1, 1, now());
      INSERT INTO usage_record (account_id, request_id, key_id, model, input_tokens_uncached, input_tokens_cached, output_tokens,
        input_price, output_price, cost, charge, basis, billing_day, streamed, duration_ms)
        VALUES ('${id}', '${id}', '${id}', 'm', 0, 0, 0, 1, 1, 0, 0, 'free', now()::date, false, 0)`);
    const facts = await look();
    expect(Math.round(facts.oldestHoldSeconds / 60)).toBe(60);
    expect(Math.round(facts.leaseAgeSeconds / 30)).toBe(3);
    expect(facts.defaultPartitionRows).toBe(1);
    await setup.audit();
    const { audits } = await look();
    expect(audits.full.violations).toBeGreaterThan(0);
    expect(audits.full.lagSeconds).toBeLessThan(60);
  });

  it("sees an open snapshot of any login", async () => {
    const before = (await look()).oldestSnapshotSeconds;
    const owner = await setup.connectAsOwner();
    try {
      await owner.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
      await owner.query("SELECT count(*) FROM account");
      // The age is that of the transaction: it grows with the clock.
      await expect
        .poll(async () => (await look()).oldestSnapshotSeconds, { timeout: 10_000 })
        .toBeGreaterThan(before + 0.2);
      await owner.query("COMMIT");
    } finally {
      await owner.end();
    }
    await expect.poll(async () => (await look()).oldestSnapshotSeconds, { timeout: 10_000 }).toBeLessThan(0.2);
  });
});
