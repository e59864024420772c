// The windows of people, merchant pairs and service tokens on their rows: exact over nodes, and dead with their credential.

import type { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { issueServiceToken, withdrawServiceToken } from "../../src/identity/service-tokens.ts";
import { removeExpired } from "../../src/identity/expired-rows.ts";
import { InvalidApiKey, InvalidCredentials, TooManyRequests } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { createCallerWindows } from "../../src/keys/caller-windows.ts";
import { createMerchant } from "../../src/merchant/merchants/merchants.ts";
import { revokePair } from "../../src/merchant/merchants/credentials.ts";
import { onServer } from "../setup/test-servers.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

let opened: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  opened = await createTestDatabase();
  ({ pool } = opened.database);
});
afterAll(() => opened.drop());

const LIMITS = { person: 3, merchant: 3, service: 3 };

function newNode(limits = LIMITS) {
  const clock = { nowMs: 0, now: () => clock.nowMs };
  return { clock, take: createCallerWindows({ pool, limits, clock }) };
}

const person = () => ({ kind: "person", callerId: uuidv7() }) as const;

/** Whether each of so many calls at once was let in. */
async function takeAtOnce(take: () => Promise<void>, calls: number): Promise<boolean[]> {
  const outcomes = await Promise.allSettled(Array.from({ length: calls }, take));
  return outcomes.map(({ status }) => status === "fulfilled");
}

async function windowOf(callerId: string): Promise<unknown> {
  return (await pool.query("SELECT slots, slot_counts, xmin FROM caller_window WHERE caller = $1", [callerId])).rows[0];
}

/** Lets time pass for a window. */
async function age(callerId: string, seconds: number): Promise<void> {
  const text = `UPDATE caller_window SET slots = (SELECT array_agg(s - $2 * interval '1 s') FROM unnest(slots) s) WHERE caller = $1`;
  await pool.query(text, [callerId, seconds]);
}

test("several nodes together let in as many as the limit allows, also on the first call ever", async () => {
  const caller = person();
  const nodes = [newNode(), newNode()];
  const [a, b] = await Promise.all(nodes.map(({ take }) => takeAtOnce(() => take(caller), 10)));
  expect([...(a ?? []), ...(b ?? [])].filter(Boolean)).toHaveLength(LIMITS.person);
});

test("a caller that storms on after a refusal neither moves its window nor reaches the database", async () => {
  const caller = person();
  const node = newNode();
  await takeAtOnce(() => node.take(caller), 3);
  await expect(node.take(caller)).rejects.toMatchObject({ code: "rate_limit", retryAfterSeconds: 60 });
  const before = await windowOf(caller.callerId);
  const blocked = createCallerWindows({
    pool: { query: () => Promise.reject(new Error("asked")) } as unknown as Pool,
    limits: LIMITS,
    clock: node.clock,
  });
  await expect(blocked(caller)).rejects.toThrow("asked");
  expect(await takeAtOnce(() => node.take(caller), 200)).not.toContain(true);
  expect(await takeAtOnce(() => newNode().take(caller), 5)).not.toContain(true);
  expect(await windowOf(caller.callerId)).toEqual(before);
  // As soon as a slot is free, and not a refused call later.
  await age(caller.callerId, 60);
  node.clock.nowMs += 60_000;
  await expect(node.take(caller)).resolves.toBeUndefined();
});

test("a limit over 600 counts by seconds, and 0 is none and leaves no row", async () => {
  const [many, unlimited] = [person(), person()];
  const node = newNode({ ...LIMITS, person: 700 });
  const outcomes = await takeAtOnce(() => node.take(many), 750);
  expect(outcomes.filter(Boolean)).toHaveLength(700);
  const free = newNode({ ...LIMITS, person: 0 });
  expect(await takeAtOnce(() => free.take(unlimited), 20)).not.toContain(false);
  expect(await windowOf(unlimited.callerId)).toBeUndefined();
});

test("a pair or token that was revoked, or has expired, is refused by its own row at once", async () => {
  const node = newNode();
  const account = uuidv7();
  await pool.query("INSERT INTO account (id) VALUES ($1)", [account]);
  const merchant = await createMerchant(opened.database, { accountId: account, environment: "sandbox" });
  const { rows } = await pool.query<{ id: string }>("SELECT id FROM merchant_credential WHERE merchant_id = $1", [
    merchant.merchantId,
  ]);
  const pair = { kind: "merchant", callerId: rows[0]?.id ?? "" } as const;
  await node.take(pair);
  await revokePair(opened.database, pair.callerId);
  await expect(node.take(pair)).rejects.toThrow(InvalidCredentials);

  const issue = async () => (await issueServiceToken(pool, { accountId: null, name: "any" })).token.tokenId;
  const [revoked, expired] = [await issue(), await issue()];
  await node.take({ kind: "service", callerId: revoked });
  await withdrawServiceToken(pool, revoked);
  await expect(node.take({ kind: "service", callerId: revoked })).rejects.toThrow(InvalidApiKey);
  await onServer(opened.url, `UPDATE service_token SET expires_at = clock_timestamp() WHERE id = '${expired}'`);
  await expect(node.take({ kind: "service", callerId: expired })).rejects.toThrow(InvalidApiKey);
});

test("a token's last use is written, and not for every call", async () => {
  const { tokenId } = (await issueServiceToken(pool, { accountId: null, name: "used" })).token;
  const row = async () =>
    (await pool.query("SELECT last_used_at, xmin FROM service_token WHERE id = $1", [tokenId])).rows[0];
  expect(await row()).toMatchObject({ last_used_at: null });
  const node = newNode({ ...LIMITS, service: 0 });
  await node.take({ kind: "service", callerId: tokenId });
  const first = await row();
  expect(first).toMatchObject({ last_used_at: expect.any(Date) });
  await takeAtOnce(() => node.take({ kind: "service", callerId: tokenId }), 5);
  expect(await row()).toEqual(first);
});

test("unused windows are removed, and one that is used again begins empty", async () => {
  const [old, young] = [person(), person()];
  await newNode().take(old);
  await newNode().take(young);
  await age(old.callerId, 3_600);
  await removeExpired(pool, { securityLogDays: 90, unverifiedDays: 7 });
  expect(await windowOf(old.callerId)).toBeUndefined();
  expect(await windowOf(young.callerId)).toBeDefined();
  await expect(newNode().take(old)).resolves.toBeUndefined();
  await expect(newNode({ ...LIMITS, person: 1 }).take(young)).rejects.toThrow(TooManyRequests);
});
