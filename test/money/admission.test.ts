import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Admission } from "../../src/ledger/ledger.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";

const outcomes = (admissions: readonly Admission[]): string[] => admissions.map(({ outcome }) => outcome);
const count = (admissions: readonly Admission[], outcome: Admission["outcome"]): number =>
  admissions.filter((each) => each.outcome === outcome).length;

describe.each(testBackends())("admission on the %s database", (backend) => {
  let setup: MoneySetup;
  let process: TestProcess;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    process = await setup.process();
  });
  afterAll(() => setup.close());

  it("holds the requested amount when the balance covers it", async () => {
    const account = await setup.account(1_000n);
    const key = await setup.key(account);
    expect(await process.ledger.admit(admission(account, key, 600n))).toMatchObject({
      outcome: "granted",
      amount: 600n,
    });
    expect(await setup.balance(account)).toEqual({ posted: 1_000n, held: 600n, available: 400n });
  });

  it("holds the available amount when it is still useful, and refuses one unit below", async () => {
    const account = await setup.account(1_000n);
    const key = await setup.key(account);
    expect(await process.ledger.admit(admission(account, key, 5_000n, 1_001n))).toEqual({
      outcome: "refused",
      available: 1_000n,
      rate: { limit: 0, remaining: 0, resetSeconds: 0 },
    });
    expect(await process.ledger.admit(admission(account, key, 5_000n, 1_000n))).toMatchObject({
      outcome: "granted",
      amount: 1_000n,
    });
    expect(await setup.balance(account)).toMatchObject({ available: 0n });
  });

  it("refuses only the unaffordable one of a batch", async () => {
    const account = await setup.account(1_000n);
    const key = await setup.key(account);
    const requests = [admission(account, key, 1_200n), admission(account, key, 700n)];
    expect(outcomes(await Promise.all(requests.map((each) => process.ledger.admit(each))))).toEqual([
      "refused",
      "granted",
    ]);
    expect(await setup.balance(account)).toMatchObject({ held: 700n });
  });

  it("never needs the database's own constraint to refuse a group", async () => {
    const account = await setup.account(1_000n);
    const key = await setup.key(account);
    const { replays } = process.ledger.statistics();
    const requests = Array.from({ length: 8 }, () => admission(account, key, 600n, 100n));
    const admissions = await Promise.all(requests.map((each) => process.ledger.admit(each)));
    const refused = { outcome: "refused", available: 0n };
    expect(admissions).toMatchObject([
      { outcome: "granted", amount: 600n },
      { outcome: "granted", amount: 400n },
      ...requests.slice(2).map(() => refused),
    ]);
    expect(process.ledger.statistics().replays).toBe(replays);
  });

  it("does not let one account's poverty touch another's requests in the same batch", async () => {
    const [poor, rich] = [await setup.account(0n), await setup.account(1_000_000n)];
    const [poorKey, richKey] = [await setup.key(poor), await setup.key(rich)];
    const requests = Array.from({ length: 30 }, (_, index) =>
      index % 2 === 0 ? admission(poor, poorKey, 10n) : admission(rich, richKey, 10n),
    );
    const admissions = await Promise.all(requests.map((each) => process.ledger.admit(each)));
    expect(outcomes(admissions)).toEqual(requests.map((_, index) => (index % 2 === 0 ? "refused" : "granted")));
  });

  it.each([1, 2])(
    "admits exactly as many of 100 parallel requests as the balance covers, in %i processes",
    async (processes) => {
      const account = await setup.account(3_700n);
      const key = await setup.key(account);
      const all = [process, ...(processes === 2 ? [await setup.process()] : [])];
      const admissions = await Promise.all(
        Array.from({ length: 100 / all.length }).flatMap(() =>
          all.map(({ ledger }) => ledger.admit(admission(account, key, 100n))),
        ),
      );
      expect(count(admissions, "granted")).toBe(37);
      expect(count(admissions, "refused")).toBe(63);
      expect(await setup.balance(account)).toEqual({ posted: 3_700n, held: 3_700n, available: 0n });
    },
  );

  it("gives exactly the window's slots to 100 parallel requests of a key, in two processes", async () => {
    const account = await setup.account(1_000_000n);
    const key = await setup.key(account, 60);
    const other = await setup.process();
    const admissions = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        (index % 2 === 0 ? process : other).ledger.admit(admission(account, key, 1n)),
      ),
    );
    expect(count(admissions, "granted")).toBe(60);
    expect(count(admissions, "limited")).toBe(40);
    for (const each of admissions) {
      if (each.outcome !== "limited") continue;
      expect(each.retryAfterMs).toBeGreaterThan(50_000);
      expect(each.retryAfterMs).toBeLessThanOrEqual(60_000);
      expect(each.rate).toMatchObject({ limit: 60, remaining: 0 });
    }
  });

  it("counts in the window of each key of a group its own requests", async () => {
    const [one, other] = [await setup.account(1_000n), await setup.account(1_000n)];
    // Windows of single requests, one of whole seconds, and none.
    const used = [
      { account: one, key: await setup.key(one, 60), limit: 60, times: 3 },
      { account: one, key: await setup.key(one, 60), limit: 60, times: 1 },
      { account: other, key: await setup.key(other, 700), limit: 700, times: 2 },
      { account: other, key: await setup.key(other, 0), limit: 0, times: 2 },
    ];
    const { groups } = process.ledger.statistics();
    const asked = used.flatMap(({ account, key, times }) =>
      Array.from({ length: times }, () => process.ledger.admit(admission(account, key, 1n))),
    );
    expect(count(await Promise.all(asked), "granted")).toBe(8);
    expect(process.ledger.statistics().groups).toBe(groups + 1);
    for (const { account, key, limit, times } of used)
      expect(await process.ledger.admit(admission(account, key, 1n))).toMatchObject({
        rate: { limit, remaining: Math.max(0, limit - times - 1) },
      });
  });

  it("counts a refusal for money in the window once, and a refusal for the rate not at all", async () => {
    const account = await setup.account(0n);
    const key = await setup.key(account, 3);
    const first = await Promise.all([1, 2].map(() => process.ledger.admit(admission(account, key, 1n))));
    expect(outcomes(first)).toEqual(["refused", "refused"]);
    expect(await process.ledger.admit(admission(account, key, 1n))).toMatchObject({
      outcome: "refused",
      rate: { remaining: 0 },
    });
    expect(outcomes(await Promise.all([1, 2].map(() => process.ledger.admit(admission(account, key, 1n)))))).toEqual([
      "limited",
      "limited",
    ]);
    const { rows } = await setup.pool.query("SELECT cardinality(slots) AS taken FROM api_key WHERE id = $1", [key]);
    expect(rows).toEqual([{ taken: 3 }]);
  });

  it("frees a slot when the request that took it is 60 seconds old", async () => {
    const account = await setup.account(1_000n);
    const key = await setup.key(account, 2);
    await process.ledger.admit(admission(account, key, 1n));
    await process.ledger.admit(admission(account, key, 1n));
    const age = (seconds: number) =>
      setup.pool.query("UPDATE api_key SET slots[1] = clock_timestamp() - $2 * interval '1 second' WHERE id = $1", [
        key,
        seconds,
      ]);
    await age(59);
    expect(await process.ledger.admit(admission(account, key, 1n))).toMatchObject({ outcome: "limited" });
    await age(60);
    expect(await process.ledger.admit(admission(account, key, 1n))).toMatchObject({
      outcome: "granted",
      rate: { remaining: 0 },
    });
  });

  it("refuses a key from the moment its revocation is committed", async () => {
    const account = await setup.account(1_000n);
    const key = await setup.key(account, 60);
    expect(await process.ledger.admit(admission(account, key, 1n))).toMatchObject({ outcome: "granted" });
    await setup.pool.query("UPDATE api_key SET revoked_at = clock_timestamp() WHERE id = $1", [key]);
    const requests = [1, 2, 3, 4, 5].map(() => process.ledger.admit(admission(account, key, 1n)));
    expect(outcomes(await Promise.all(requests))).toEqual(requests.map(() => "revoked"));
    expect(await process.ledger.admit(admission(account, key, 1n))).toEqual({ outcome: "revoked" });
  });

  it("refuses a frozen account, after its key and before its window and its money", async () => {
    const account = await setup.account(1_000n);
    const [key, revoked] = [await setup.key(account, 1), await setup.key(account)];
    await setup.pool.query("UPDATE api_key SET revoked_at = clock_timestamp() WHERE id = $1", [revoked]);
    const freeze = (at: string) => setup.pool.query(`UPDATE account SET frozen_at = ${at} WHERE id = $1`, [account]);
    await freeze("clock_timestamp()");
    for (const size of [1, 5]) {
      const requests = Array.from({ length: size }, () => admission(account, key, 5_000n));
      const admissions = await Promise.all(requests.map((each) => process.ledger.admit(each)));
      expect(admissions).toEqual(requests.map(() => ({ outcome: "frozen" })));
      const dead = Array.from({ length: size }, () => process.ledger.admit(admission(account, revoked, 1n)));
      expect(outcomes(await Promise.all(dead))).toEqual(requests.map(() => "revoked"));
    }
    await freeze("NULL");
    expect(await process.ledger.admit(admission(account, key, 1n))).toMatchObject({
      outcome: "granted",
      rate: { remaining: 0 },
    });
  });

  it.each([1, 2])("admits as many simultaneous requests as the account's limit, in %i processes", async (processes) => {
    const account = await setup.account(1_000_000n);
    const key = await setup.key(account, 60);
    await setup.pool.query("UPDATE account SET max_open_holds = 7 WHERE id = $1", [account]);
    const all = [process, ...(processes === 2 ? [await setup.process()] : [])];
    const requests = Array.from({ length: 40 }, () => admission(account, key, 1n));
    const admissions = await Promise.all(
      requests.map((each, index) => (index % 2 === 0 ? process : (all[1] ?? process)).ledger.admit(each)),
    );
    expect(count(admissions, "granted")).toBe(7);
    expect(count(admissions, "crowded")).toBe(33);
    expect(admissions.find(({ outcome }) => outcome === "crowded")).toMatchObject({
      rate: { limit: 60, remaining: 53 },
    });
    const [granted] = requests.filter((_, index) => admissions[index]?.outcome === "granted");
    await process.ledger.settle(settlement(account, granted?.requestId ?? "", 0));
    expect(await process.ledger.admit(admission(account, key, 1n))).toMatchObject({ outcome: "granted" });
    expect(await process.ledger.admit(admission(account, key, 1n))).toMatchObject({ outcome: "crowded" });
  });

  it("treats an unknown account, an unknown key and another account's key as revoked", async () => {
    const account = await setup.account(1_000n);
    const key = await setup.key(account);
    const foreign = await setup.key(await setup.account(1_000n));
    const unknown = () => [
      admission(uuidv7(), key, 1n),
      admission(account, uuidv7(), 1n),
      admission(account, foreign, 1n),
    ];
    const requests = [...unknown(), ...unknown(), admission(account, key, 1n)];
    expect(outcomes(await Promise.all(requests.map((each) => process.ledger.admit(each))))).toEqual([
      ...requests.slice(1).map(() => "revoked"),
      "granted",
    ]);
    for (const each of unknown()) expect(await process.ledger.admit(each)).toEqual({ outcome: "revoked" });
  });

  it("gives a replay of the same request the hold of the first", async () => {
    const account = await setup.account(1_000n);
    const key = await setup.key(account, 60);
    const request = admission(account, key, 400n);
    const [first, second] = await Promise.all([process.ledger.admit(request), process.ledger.admit(request)]);
    expect([first, second]).toMatchObject([
      { outcome: "granted", amount: 400n },
      { outcome: "granted", amount: 400n },
    ]);
    expect(await process.ledger.admit(request)).toMatchObject({ outcome: "granted", amount: 400n });
    expect(await setup.balance(account)).toMatchObject({ held: 400n });
    await process.ledger.settle(settlement(account, request.requestId, 0));
  });

  it("allows free models on an empty account", async () => {
    const account = await setup.account(0n);
    const key = await setup.key(account);
    const admissions = await Promise.all([1, 2, 3].map(() => process.ledger.admit(admission(account, key, 0n))));
    expect(outcomes(admissions)).toEqual(["granted", "granted", "granted"]);
  });

  it("keeps the books in order through all of this", async () => {
    expect(await setup.audit()).toEqual(SOUND);
  });
});
