import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { openPool } from "../../src/database/login-connections.ts";
import {
  InvalidApiKey,
  LimitExceeded,
  NotFound,
  RateLimited,
  UpstreamBusy,
  ValidationError,
} from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { newSecretToken } from "../../src/kernel/secret-token.ts";
import { issueKey, MAX_WORKING_KEYS } from "../../src/keys/issue-key.ts";
import { listKeys, updateKey, revokeKey } from "../../src/keys/issued-keys.ts";
import { NO_LIMITS } from "../../src/keys/key-limits.ts";
import { createKeys, type Keys } from "../../src/keys/keys.ts";
import type { VerifiedKey } from "../../src/keys/verified-key.ts";
import { createTestDatabase, testBackends, type TestDatabase } from "../setup/test-database.ts";

async function takeAll({ key, keys }: { key: VerifiedKey; keys: Keys }, count: number): Promise<void> {
  for (let taken = 0; taken < count; taken += 1) await keys.takeSlot(key);
}

/** How many calls succeeded; the others must all have failed in the way that was asked for. */
function countFulfilled(
  outcomes: readonly PromiseSettledResult<unknown>[],
  refusal: new (facts: never) => Error,
): number {
  const failures = outcomes.filter((each) => each.status === "rejected").map(({ reason }) => reason as unknown);
  expect(failures.filter((reason) => !(reason instanceof refusal))).toEqual([]);
  return outcomes.length - failures.length;
}

describe.each(testBackends())("keys on the %s server", (backend) => {
  let opened: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    opened = await createTestDatabase({ backend });
    database = opened.database;
  });
  afterAll(() => opened.drop());

  async function newAccount(): Promise<string> {
    const accountId = uuidv7();
    await database.pool.query("INSERT INTO account (id) VALUES ($1)", [accountId]);
    return accountId;
  }

  async function newKey(rateLimit = 60): Promise<{ key: VerifiedKey; secret: string; keys: Keys }> {
    const { secret } = await issueKey(database, { accountId: await newAccount(), name: "test", rateLimit });
    const keys = createKeys({ database });
    const key = await keys.verify(secret);
    if (key === null) throw new Error("a new key works");
    return { key, secret, keys };
  }

  /** Makes every counted request older, which is what waiting does. */
  async function letTimePass({ keyId }: VerifiedKey, interval: string): Promise<void> {
    const shifted = "(SELECT array_agg(slot - $2::interval ORDER BY slot) FROM unnest(slots) AS slot)";
    await database.pool.query(`UPDATE api_key SET slots = ${shifted} WHERE id = $1`, [keyId, interval]);
  }

  test("issues a key that works and stores nothing it could be made from", async () => {
    const accountId = await newAccount();
    const issued = await issueKey(database, { accountId, name: "laptop" });
    expect(await createKeys({ database }).verify(issued.secret)).toEqual({
      keyId: issued.keyId,
      accountId,
      rateLimit: 60,
    });
    expect(issued.secret.startsWith(issued.prefix) && issued.secret.endsWith(issued.lastFour)).toBe(true);
    const { rows } = await database.pool.query("SELECT api_key::text AS row FROM api_key WHERE id = $1", [
      issued.keyId,
    ]);
    expect(JSON.stringify(rows)).not.toContain(issued.secret.slice(7, -4));
  });

  test("gives null for every kind of wrong key alike", async () => {
    const { key, secret, keys } = await newKey();
    await revokeKey(database, { keyId: key.keyId });
    const typo = secret.slice(0, -1) + (secret.endsWith("0") ? "1" : "0");
    const wrong = ["", "gw_", "Bearer", typo, newSecretToken("gw_"), newSecretToken("st_"), newSecretToken("sk_")];
    for (const text of wrong) expect(await keys.verify(text)).toBeNull();
    expect(await createKeys({ database }).verify(secret)).toBeNull();
  });

  test("refuses to issue for no account, without a name or with an absurd limit", async () => {
    const accountId = await newAccount();
    await expect(issueKey(database, { accountId: randomUUID(), name: "x" })).rejects.toThrow(NotFound);
    await expect(issueKey(database, { accountId: "me", name: "x" })).rejects.toThrow(NotFound);
    for (const name of ["", "   ", "x".repeat(101)]) {
      await expect(issueKey(database, { accountId, name })).rejects.toThrow(ValidationError);
    }
    for (const rateLimit of [-1, 1.5, 1_000_001, Number.NaN]) {
      await expect(issueKey(database, { accountId, name: "x", rateLimit })).rejects.toMatchObject({
        details: [{ field: "rateLimit", rule: "rate_limit.range" }],
      });
    }
  });

  test("lets an account have so many working keys, also when it issues many at once", async () => {
    const accountId = await newAccount();
    for (let made = 0; made < MAX_WORKING_KEYS - 1; made += 1) await issueKey(database, { accountId, name: "x" });
    // Every connection is open before, so that they really race.
    await Promise.all(Array.from({ length: 10 }, () => database.pool.query("SELECT")));
    const last = await Promise.allSettled(
      Array.from({ length: 10 }, () => issueKey(database, { accountId, name: "x" })),
    );
    expect(countFulfilled(last, LimitExceeded)).toBe(1);
    const { items: keys } = await listKeys(database, { accountId });
    await revokeKey(database, { accountId, keyId: keys[0]?.keyId ?? "" });
    expect((await issueKey(database, { accountId, name: "x" })).keyId).not.toBe("");
  });

  test("counts no key that has ended among those that work, until it is to work again", async () => {
    const accountId = await newAccount();
    for (let made = 0; made < MAX_WORKING_KEYS; made += 1) await issueKey(database, { accountId, name: "x" });
    await expect(issueKey(database, { accountId, name: "x" })).rejects.toThrow(LimitExceeded);
    const { items } = await listKeys(database, { accountId });
    const [first, second] = items.map(({ keyId }) => keyId);
    const end = "UPDATE api_key SET expires_at = clock_timestamp() - interval '1 s' WHERE id = $1";
    await database.pool.query(end, [first]);
    const last = await issueKey(database, { accountId, name: "x" });
    const revive = (keyId: string | undefined) =>
      updateKey(database, { accountId, keyId: keyId ?? "", name: "y", limits: NO_LIMITS });
    await expect(revive(first)).rejects.toThrow(LimitExceeded);
    // One that works is changed, whatever the number.
    expect(await revive(second)).toMatchObject({ name: "y" });
    await revokeKey(database, { accountId, keyId: last.keyId });
    expect(await revive(first)).toMatchObject({ name: "y", limits: { expiresAt: null } });
    await expect(issueKey(database, { accountId, name: "x" })).rejects.toThrow(LimitExceeded);
  });

  test("lists an account's keys newest first, page by page, revoked ones included", async () => {
    const accountId = await newAccount();
    const issued = [];
    for (const name of ["one", "two", "three"]) issued.push(await issueKey(database, { accountId, name }));
    await issueKey(database, { accountId: await newAccount(), name: "somebody else's" });
    await revokeKey(database, { keyId: issued[1]?.keyId ?? "" });
    const first = await listKeys(database, { accountId, pageSize: 2 });
    const second = await listKeys(database, { accountId, pageSize: 2, pageToken: first.nextPageToken });
    expect([...first.items, ...second.items].map(({ name }) => name).toSorted()).toEqual(["one", "three", "two"]);
    expect(second.nextPageToken).toBe("");
    expect(first.items.map(({ keyId }) => keyId)).toEqual(
      first.items
        .map(({ keyId }) => keyId)
        .toSorted()
        .toReversed(),
    );
    const all = await listKeys(database, { accountId });
    expect(all.items.find(({ name }) => name === "two")?.revokedAt).toBeInstanceOf(Date);
    await expect(listKeys(database, { accountId, pageToken: "7" })).rejects.toThrow(ValidationError);
    await expect(listKeys(database, { accountId, pageSize: 201 })).rejects.toThrow(ValidationError);
  });

  test("renames a key of the account and no other", async () => {
    const { key } = await newKey();
    expect(await updateKey(database, { ...key, name: "desk" })).toMatchObject({ keyId: key.keyId, name: "desk" });
    const stranger = await newAccount();
    await expect(updateKey(database, { ...key, accountId: stranger, name: "mine" })).rejects.toThrow(NotFound);
    await expect(updateKey(database, { ...key, keyId: "7", name: "mine" })).rejects.toThrow(NotFound);
    await expect(updateKey(database, { ...key, name: "" })).rejects.toThrow(ValidationError);
  });

  test("revokes once and for all: the next slot is refused although the lookup still remembers the key", async () => {
    const { key, secret, keys } = await newKey();
    await keys.takeSlot(key);
    const first = await revokeKey(database, key);
    const again = await revokeKey(database, { keyId: key.keyId });
    expect(again.revokedAt).toEqual(first.revokedAt);
    expect(await keys.verify(secret)).toEqual(key);
    await expect(keys.takeSlot(key)).rejects.toThrow(InvalidApiKey);
    await expect(revokeKey(database, { keyId: key.keyId, accountId: await newAccount() })).rejects.toThrow(NotFound);
  });

  test("shows when a key was last used", async () => {
    const { key, keys } = await newKey();
    const before = await listKeys(database, key);
    await keys.takeSlot(key);
    const after = await listKeys(database, key);
    expect([before.items[0]?.lastUsedAt, after.items[0]?.lastUsedAt]).toEqual([null, expect.any(Date)]);
  });

  test("counts down what remains and refuses the request after the last", async () => {
    const { key, keys } = await newKey(3);
    const states = [await keys.takeSlot(key), await keys.takeSlot(key), await keys.takeSlot(key)];
    expect(states.map(({ remaining }) => remaining)).toEqual([2, 1, 0]);
    expect(states[0]).toEqual({ limit: 3, remaining: 2, resetSeconds: 60 });
    await expect(keys.takeSlot(key)).rejects.toMatchObject({ code: "rate_limit", limit: 3, retryAfterSeconds: 60 });
  });

  test("lets exactly 60 of 100 in that come at once to two nodes", async () => {
    const { key } = await newKey();
    const second = await openDatabase({ url: opened.url, dataDir: "" });
    try {
      const nodes = [database, second].map((each) => createKeys({ database: each }));
      const calls = Array.from({ length: 50 }, () => nodes.map((keys) => keys.takeSlot(key))).flat();
      const outcomes = await Promise.allSettled(calls);
      expect(countFulfilled(outcomes, RateLimited)).toBe(60);
    } finally {
      await second.close();
    }
  });

  test("frees a slot when it is 60 seconds old, and not before", async () => {
    const used = await newKey(2);
    await takeAll(used, 2);
    await letTimePass(used.key, "58 seconds");
    const keys = createKeys({ database });
    await expect(keys.takeSlot(used.key)).rejects.toThrow(RateLimited);
    await letTimePass(used.key, "2 seconds");
    await createKeys({ database }).takeSlot(used.key);
  });

  test("refuses on this node without the database until the slot is free", async () => {
    const used = await newKey(1);
    await takeAll(used, 1);
    await expect(used.keys.takeSlot(used.key)).rejects.toThrow(RateLimited);
    // The database would let it in now; the node keeps to what it answered the client.
    await letTimePass(used.key, "60 seconds");
    await expect(used.keys.takeSlot(used.key)).rejects.toThrow(RateLimited);
    expect(() => used.keys.refuseWhileLimited(used.key)).toThrow(RateLimited);
    await createKeys({ database }).takeSlot(used.key);
  });

  test("obeys a raised and a lowered limit at once", async () => {
    const used = await newKey(3);
    const setLimit = (limit: number) =>
      database.pool.query("UPDATE api_key SET rate_limit = $2 WHERE id = $1", [used.key.keyId, limit]);
    await takeAll(used, 3);
    await setLimit(5);
    expect(await used.keys.takeSlot(used.key)).toMatchObject({ limit: 5, remaining: 1 });
    await setLimit(2);
    await expect(used.keys.takeSlot(used.key)).rejects.toMatchObject({ limit: 2 });
    await setLimit(601);
    expect(await createKeys({ database }).takeSlot(used.key)).toMatchObject({ limit: 601, remaining: 596 });
    await setLimit(5);
    await expect(createKeys({ database }).takeSlot(used.key)).rejects.toThrow(RateLimited);
  });

  test("counts nothing for a key without a limit", async () => {
    const { key, keys } = await newKey(0);
    expect(await keys.takeSlot(key)).toEqual({ limit: 0, remaining: 0, resetSeconds: 0 });
    const { rows } = await database.pool.query("SELECT slots FROM api_key WHERE id = $1", [key.keyId]);
    expect(rows).toEqual([{ slots: [] }]);
  });

  test("is busy, not broken, when the database is away", async () => {
    const { key, secret } = await newKey();
    const pool = openPool({ host: "/nowhere" }, 1);
    const keys = createKeys({ database: { pool } });
    await expect(keys.verify(secret)).rejects.toThrow(UpstreamBusy);
    await expect(keys.takeSlot(key)).rejects.toThrow(UpstreamBusy);
    await pool.end();
  });
});
