import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { NotFound } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { newSecretToken } from "../../src/kernel/secret-token.ts";
import {
  createPairVerifier,
  issuePair,
  listPairs,
  PAIR_CACHE_MS,
  revokePair,
} from "../../src/merchant/merchants/credentials.ts";
import { createMerchant, listMerchants } from "../../src/merchant/merchants/merchants.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { newMerchant } from "./merchant-accounts.ts";

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
});
afterAll(() => testDatabase.drop());

/** The database with its reads counted. */
function countingReads(): { pool: Database["pool"]; reads: () => number } {
  let reads = 0;
  const pool = new Proxy(database.pool, {
    get(target, name) {
      if (name !== "query") return Reflect.get(target, name);
      reads += 1;
      return target.query.bind(target);
    },
  });
  return { pool, reads: () => reads };
}

describe("a new merchant", () => {
  test("has one pair of its environment, which names it", async () => {
    for (const [environment, infix] of [
      ["sandbox", "_test"],
      ["production", ""],
    ] as const) {
      const { merchantId, pairId, apiKey, secretKey } = await newMerchant(database, environment);
      expect(apiKey).toMatch(new RegExp(`^mk${infix}_[0-9A-Za-z]{49}$`));
      expect(secretKey).toMatch(new RegExp(`^sk${infix}_[0-9A-Za-z]{49}$`));
      expect(await createPairVerifier(database)({ apiKey, secretKey })).toEqual({
        kind: "merchant",
        merchantId,
        pairId,
        environment,
      });
    }
  });

  test("is refused for an account that does not exist", async () => {
    for (const accountId of [uuidv7(), "nobody", ""]) {
      await expect(createMerchant(database, { accountId, environment: "sandbox" })).rejects.toThrow(NotFound);
    }
  });

  test("is listed with its account", async () => {
    const { merchantId } = await newMerchant(database);
    const { rows } = await database.pool.query<{ account_id: string }>(
      "SELECT account_id FROM merchant WHERE id = $1::uuid",
      [merchantId],
    );
    expect(await listMerchants(database, rows[0]?.account_id ?? "")).toMatchObject([
      { merchantId, environment: "sandbox" },
    ]);
  });
});

describe("a pair", () => {
  test("does not verify with any half wrong, swapped, foreign or malformed", async () => {
    const mine = await newMerchant(database);
    const other = await newMerchant(database, "production");
    const verify = createPairVerifier(database);
    for (const [apiKey, secretKey] of [
      [mine.apiKey, other.secretKey],
      [other.apiKey, mine.secretKey],
      [mine.secretKey, mine.apiKey],
      [mine.apiKey, newSecretToken("sk_test_")],
      [newSecretToken("mk_test_"), mine.secretKey],
      [mine.apiKey, `${mine.secretKey}x`],
      [mine.apiKey, ""],
      ["", ""],
      ["\u0000", "\u0000"],
    ] as const) {
      expect(await verify({ apiKey, secretKey })).toBeNull();
    }
    expect(await verify(mine)).not.toBeNull();
  });

  test("costs one read when its key is unknown and one when its secret is wrong, the first time and every time", async () => {
    const { apiKey, secretKey } = await newMerchant(database);
    const counted = countingReads();
    const verify = createPairVerifier(counted, { now: () => 0 });
    await verify({ apiKey, secretKey });
    expect(counted.reads()).toBe(1);
    // The right pair is cached by now, and a wrong secret must not profit from that.
    await verify({ apiKey, secretKey: newSecretToken("sk_test_") });
    expect(counted.reads()).toBe(2);
    await verify({ apiKey: newSecretToken("mk_test_"), secretKey });
    expect(counted.reads()).toBe(3);
    await verify({ apiKey, secretKey });
    expect(counted.reads()).toBe(3);
  });

  test("that is revoked counts for at most five seconds from the start of the last read", async () => {
    const { merchantId, apiKey, secretKey } = await newMerchant(database);
    let nowMs = 0;
    const verify = createPairVerifier(database, { now: () => nowMs });
    expect(await verify({ apiKey, secretKey })).not.toBeNull();
    const [pair] = await listPairs(database, merchantId);
    await revokePair(database, pair?.pairId ?? "");
    nowMs = PAIR_CACHE_MS - 1;
    expect(await verify({ apiKey, secretKey })).not.toBeNull();
    nowMs = PAIR_CACHE_MS;
    expect(await verify({ apiKey, secretKey })).toBeNull();
  });

  test("is one of several, and revoking it leaves the others", async () => {
    const { merchantId, ...first } = await newMerchant(database);
    const second = await issuePair(database.pool, merchantId);
    await revokePair(database, first.pairId);
    await revokePair(database, first.pairId);
    const verify = createPairVerifier(database);
    expect(await verify(first)).toBeNull();
    expect(await verify(second)).toMatchObject({ merchantId });
    const pairs = await listPairs(database, merchantId);
    expect(pairs.map((pair) => [pair.pairId, pair.revokedAt !== null])).toEqual([
      [first.pairId, true],
      [second.pairId, false],
    ]);
    expect(second.apiKey.startsWith(pairs[1]?.keyPrefix ?? "-")).toBe(true);
  });

  test("that does not exist cannot be revoked, and a merchant that does not exist gets none", async () => {
    await expect(revokePair(database, uuidv7())).rejects.toThrow(NotFound);
    await expect(revokePair(database, "pair")).rejects.toThrow(NotFound);
    await expect(issuePair(database.pool, uuidv7())).rejects.toThrow(NotFound);
  });

  test("is not remembered when its read failed", async () => {
    const pair = await newMerchant(database);
    let broken = true;
    const pool = new Proxy(database.pool, {
      get(target, name) {
        if (name === "query" && broken) return () => Promise.reject(new Error("the database is away"));
        return name === "query" ? target.query.bind(target) : Reflect.get(target, name);
      },
    });
    const verify = createPairVerifier({ pool }, { now: () => 0 });
    await expect(verify(pair)).rejects.toThrow("the database is away");
    broken = false;
    expect(await verify(pair)).toMatchObject({ merchantId: pair.merchantId });
  });

  test("leaves neither of its halves in the database", async () => {
    const pair = await newMerchant(database);
    const { rows } = await database.pool.query<{ row: string }>(
      "SELECT c::text AS row FROM merchant_credential c UNION ALL SELECT m::text FROM merchant m",
    );
    const dump = rows.map(({ row }) => row).join("\n");
    for (const token of [pair.apiKey, pair.secretKey]) {
      expect(dump).not.toContain(token);
      expect(dump).not.toContain(Buffer.from(token).toString("hex"));
    }
  });
});
