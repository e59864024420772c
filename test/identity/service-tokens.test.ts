import { afterAll, beforeAll, expect, test } from "vitest";
import { listActions } from "../../src/operator/audit-log/operator-actions.ts";
import {
  createServiceTokenVerifier,
  issueServiceToken,
  listServiceTokens,
  revokeServiceToken,
  withdrawServiceToken,
} from "../../src/identity/service-tokens.ts";
import { NotFound, ValidationError } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { SECRET_MAX_AGE_MS } from "../../src/kernel/credential-cache.ts";
import { onServer } from "../setup/test-servers.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

let opened: TestDatabase;
beforeAll(async () => {
  opened = await createTestDatabase();
});
afterAll(() => opened.drop());

async function newAccount(): Promise<string> {
  const accountId = uuidv7();
  await opened.database.pool.query("INSERT INTO account (id) VALUES ($1)", [accountId]);
  return accountId;
}

test("a token works until at most five seconds after it was revoked", async () => {
  const { pool } = opened.database;
  const clock = { nowMs: 0, now: () => clock.nowMs };
  const verify = createServiceTokenVerifier(opened.database, clock);
  const accountId = await newAccount();
  const { token, secret } = await issueServiceToken(pool, { accountId, name: "billing" });
  const { tokenId } = token;
  expect(secret).toMatch(/^st_[0-9A-Za-z]{49}$/);
  expect(await verify(secret)).toEqual({ tokenId, accountId, scopes: ["read"] });
  const revoked = await withdrawServiceToken(pool, tokenId);
  expect(revoked).toMatchObject({ isNew: true, token: { tokenId, revokedAt: expect.any(Date) } });
  expect(await withdrawServiceToken(pool, tokenId)).toEqual({ token: revoked.token, isNew: false });
  clock.nowMs += SECRET_MAX_AGE_MS;
  expect(await verify(secret)).toBeNull();
});

test("a token for all accounts is of none", async () => {
  const { token, secret } = await issueServiceToken(opened.database.pool, { accountId: null, name: "all" });
  const known = await createServiceTokenVerifier(opened.database)(secret);
  expect(known).toEqual({ tokenId: token.tokenId, accountId: null, scopes: ["read"] });
});

test("the list shows tokens without what they are", async () => {
  const { token, secret } = await issueServiceToken(opened.database.pool, { accountId: null, name: "listed" });
  const tokens = await listServiceTokens(opened.database);
  expect(tokens[0]).toEqual(token);
  expect(token).toMatchObject({ name: "listed", prefix: secret.slice(0, 7), lastFour: secret.slice(-4) });
  expect(JSON.stringify(tokens)).not.toContain(secret.slice(7, -4));
});

test("refuses an account that does not exist, and a blank name", async () => {
  const { pool } = opened.database;
  await expect(issueServiceToken(pool, { accountId: uuidv7(), name: "x" })).rejects.toThrow(NotFound);
  await expect(issueServiceToken(pool, { accountId: null, name: " " })).rejects.toThrow(ValidationError);
  await expect(withdrawServiceToken(pool, uuidv7())).rejects.toThrow(NotFound);
});

test("a token ends after the days it was given, 90 where none were, and not later than 366", async () => {
  const { pool } = opened.database;
  const daysOf = async (days?: number): Promise<number> => {
    const order = { accountId: null, name: "ends", ...(days === undefined ? {} : { days }) };
    const { expiresAt, createdAt } = (await issueServiceToken(pool, order)).token;
    return Math.round((expiresAt.getTime() - createdAt.getTime()) / 86_400_000);
  };
  expect([await daysOf(), await daysOf(1), await daysOf(366)]).toEqual([90, 1, 366]);
  for (const days of [0, 367, 1.5]) await expect(daysOf(days)).rejects.toThrow(ValidationError);
  const { token, secret } = await issueServiceToken(pool, { accountId: null, name: "over" });
  await onServer(
    opened.url,
    `UPDATE service_token SET expires_at = clock_timestamp() - interval '1 s' WHERE id = '${token.tokenId}'`,
  );
  expect(await createServiceTokenVerifier(opened.database)(secret)).toBeNull();
});

test("a token has the scopes it was given, each once", async () => {
  const { pool } = opened.database;
  const order = { accountId: null, name: "scopes" };
  const { token } = await issueServiceToken(pool, { ...order, scopes: ["keys", "read"] });
  expect(token.scopes).toEqual(["keys", "read"]);
  await expect(issueServiceToken(pool, { ...order, scopes: ["read", "read"] })).rejects.toThrow(ValidationError);
});

test("what serves cannot change whose a token is, what it may do or how long it works", async () => {
  const change = opened.database.pool.query("UPDATE service_token SET account_id = NULL");
  await expect(change).rejects.toMatchObject({ code: "42501" });
  for (const column of ["scopes = '{transfers}'", "expires_at = 'infinity'"]) {
    const more = opened.database.pool.query(`UPDATE service_token SET ${column}`);
    await expect(more).rejects.toMatchObject({ code: "42501" });
  }
});

test("revoking a token again leaves no second line", async () => {
  const { pool } = opened.database;
  const { token } = await issueServiceToken(pool, { accountId: null, name: "twice" });
  const by = { database: opened.database, operator: "ani@example.com" };
  const first = await revokeServiceToken(by, token.tokenId);
  expect(await revokeServiceToken(by, token.tokenId)).toEqual(first);
  const lines = await listActions(pool, { filter: { subject: token.tokenId }, limit: 10 });
  expect(lines.map(({ action, operator }) => [action, operator])).toEqual([
    ["service-token revoke", "ani@example.com"],
  ]);
});
