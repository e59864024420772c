import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { forgetOldRetries } from "../../src/gateway/retries/retries.ts";
import type { AdmissionRequest } from "../../src/ledger/ledger.ts";
import { recoverHolds } from "../../src/ledger/recovery.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";

const BALANCE = 1_000_000_000n;
const digestOf = (body: string): Buffer => createHash("sha256").update(body).digest();

describe.each(testBackends())("requests under one name on the %s database", (backend) => {
  let setup: MoneySetup;
  let one: TestProcess;
  let other: TestProcess;
  let accountId: string;
  let keyId: string;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    [one, other] = await Promise.all([setup.process(), setup.process()]);
    accountId = await setup.account(BALANCE);
    keyId = await setup.key(accountId);
  });
  afterAll(() => setup.close());

  const named = (name: string, body = "body", key = keyId): AdmissionRequest => ({
    ...admission(accountId, key, 1_000_000n),
    once: { name, bodyDigest: digestOf(body) },
  });

  it("are admitted once, however many come at once and to whichever process", async () => {
    const requests = Array.from({ length: 30 }, () => named("parallel"));
    const admissions = await Promise.all(
      requests.map((request, index) => (index % 2 === 0 ? one : other).ledger.admit(request)),
    );
    const outcomes = admissions.map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === "granted")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "running")).toHaveLength(29);
    const granted = requests[outcomes.indexOf("granted")];
    const process = outcomes.indexOf("granted") % 2 === 0 ? one : other;
    await process.ledger.settle(settlement(accountId, granted?.requestId ?? "", 100));
    expect(await other.ledger.admit(named("parallel"))).toMatchObject({
      outcome: "answered",
      requestId: granted?.requestId,
      keepsAnswers: false,
    });
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("run beside others of the same group that have no name", async () => {
    const requests = [...Array.from({ length: 20 }, () => admission(accountId, keyId, 10n)), named("in a crowd")];
    const admissions = await Promise.all(requests.map((request) => one.ledger.admit(request)));
    expect(new Set(admissions.map(({ outcome }) => outcome))).toEqual(new Set(["granted"]));
    expect(await one.ledger.admit(named("in a crowd"))).toEqual({ outcome: "running" });
  });

  it("return the charge of the first one", async () => {
    const first = named("charged");
    await one.ledger.admit(first);
    const { charge } = await one.ledger.settle(settlement(accountId, first.requestId, 100));
    expect(charge).toBeGreaterThan(0n);
    expect(await one.ledger.admit(named("charged"))).toMatchObject({ outcome: "answered", charge });
  });

  it("are admitted again where the first one was free", async () => {
    const first = named("free");
    await one.ledger.admit(first);
    await one.ledger.release(first);
    const second = named("free", "another body");
    expect(await one.ledger.admit(second)).toMatchObject({ outcome: "granted" });
    expect(await one.ledger.admit(named("free", "another body"))).toEqual({ outcome: "running" });
    await one.ledger.release(second);
  });

  it("take no name when they are refused", async () => {
    expect(await one.ledger.admit({ ...named("poor"), amount: BALANCE * 2n, leastAmount: BALANCE * 2n })).toMatchObject(
      {
        outcome: "refused",
      },
    );
    expect(await one.ledger.admit(named("poor"))).toMatchObject({ outcome: "granted" });
  });

  it("are refused with another body, while the first one runs and after its answer", async () => {
    const first = named("bodies", "first");
    await one.ledger.admit(first);
    expect(await one.ledger.admit(named("bodies", "second"))).toEqual({ outcome: "other_body" });
    await one.ledger.settle(settlement(accountId, first.requestId, 1));
    expect(await one.ledger.admit(named("bodies", "second"))).toEqual({ outcome: "other_body" });
  });

  it("are different under another key, and free again after a day", async () => {
    const first = named("day");
    await one.ledger.admit(first);
    await one.ledger.settle(settlement(accountId, first.requestId, 1));
    expect(await one.ledger.admit(named("day", "body", await setup.key(accountId)))).toMatchObject({
      outcome: "granted",
    });
    await setup.asOwner(
      `UPDATE idempotency_key SET taken_at = taken_at - interval '23 hours 59 minutes' WHERE name = 'day'`,
    );
    expect(await one.ledger.admit(named("day"))).toMatchObject({ outcome: "answered" });
    await setup.asOwner(`UPDATE idempotency_key SET taken_at = taken_at - interval '2 minutes' WHERE name = 'day'`);
    expect(await one.ledger.admit(named("day"))).toMatchObject({ outcome: "granted" });
  });

  it("are not admitted again where the first one's process died", async () => {
    const dying = await setup.process();
    const first = named("died");
    await dying.ledger.admit(first);
    await dying.ledger.extend({ ...first, inputTokens: 100, outputTokens: 10 });
    await setup.asOwner(`UPDATE process SET dead_at = clock_timestamp() WHERE id = '${dying.lease.processId}'`);
    expect(await one.ledger.admit(named("died"))).toEqual({ outcome: "running" });
    await recoverHolds(setup.pool);
    expect(await one.ledger.admit(named("died"))).toMatchObject({ outcome: "answered", requestId: first.requestId });
  });

  it.each([
    ["its answer was refused", { cost: BALANCE * 2n, delivered: false }, "granted"],
    ["it failed", { cost: 0n, basis: "free" as const }, "granted"],
    ["it was delivered", {}, "answered"],
  ])("whose process slept through its lease are admitted again where nothing was charged: %s", async (...row) => {
    const [name, late, outcome] = row;
    const sleeping = await setup.process();
    const first = named(name);
    await sleeping.ledger.admit(first);
    await setup.asOwner(`UPDATE process SET dead_at = clock_timestamp() WHERE id = '${sleeping.lease.processId}'`);
    await recoverHolds(setup.pool);
    expect(await one.ledger.admit(named(name))).toMatchObject({ outcome: "answered", charge: 0n });
    await sleeping.ledger.settle({ ...settlement(accountId, first.requestId, 100), ...late });
    const retry = named(name);
    expect(await one.ledger.admit(retry)).toMatchObject({ outcome });
    if (outcome === "granted") await one.ledger.release(retry);
  });

  it("with a revoked key are refused as revoked", async () => {
    const key = await setup.key(accountId);
    const first = named("revoked", "body", key);
    await one.ledger.admit(first);
    await setup.asOwner(`UPDATE api_key SET revoked_at = clock_timestamp() WHERE id = '${key}'`);
    expect(await one.ledger.admit(named("revoked", "body", key))).toEqual({ outcome: "revoked" });
    expect(await one.ledger.admit({ ...named("nobody's"), keyId: uuidv7() })).toEqual({ outcome: "revoked" });
  });

  it("are deleted after a day", async () => {
    await one.ledger.admit(named("forgotten"));
    await setup.asOwner(
      `UPDATE idempotency_key SET taken_at = taken_at - interval '25 hours' WHERE name = 'forgotten'`,
    );
    expect(await forgetOldRetries(setup.pool)).toBeGreaterThanOrEqual(1);
    const { rows } = await setup.pool.query(`SELECT FROM idempotency_key WHERE name = 'forgotten'`);
    expect(rows).toHaveLength(0);
    expect(await setup.audit()).toEqual(SOUND);
  });
});
