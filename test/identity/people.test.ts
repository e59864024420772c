import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCustomer } from "../../src/identity/customers.ts";
import { removeExpired } from "../../src/identity/expired-rows.ts";
import { createPeople, ensureAccount } from "../../src/identity/people.ts";
import { takeTry } from "../../src/identity/throttle.ts";
import { withOwner } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { digestSecretToken } from "../../src/kernel/secret-token.ts";
import { openAccount } from "../../src/ledger/accounts.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

let opened: TestDatabase;
beforeAll(async () => {
  opened = await createTestDatabase();
});
afterAll(() => opened.drop());

const COOKIE = "saldo_session";

async function newPerson({ verified = true } = {}): Promise<{ personId: string; email: string }> {
  const personId = uuidv7();
  const email = `${personId}@test.example`;
  await opened.database.pool.query(
    "INSERT INTO auth.person (id, email, email_verified, name) VALUES ($1, $2, $3, 'Someone')",
    [personId, email, verified],
  );
  return { personId, email };
}

/** A session that began and ends so many days before and after now. */
async function newSession(personId: string, { beganDaysAgo = 0, endsInDays = 1 } = {}): Promise<string> {
  const token = `token-${uuidv7()}`;
  await opened.database.pool.query(
    `INSERT INTO auth.session (id, token_digest, user_id, expires_at, created_at, updated_at)
     VALUES ($1, $2, $3, now() + $4 * interval '1 day', now() - $5 * interval '1 day', now())`,
    [uuidv7(), digestSecretToken(token), personId, endsInDays, beganDaysAgo],
  );
  return token;
}

/** Only the owner's connections see what others wait for. */
async function waitsForLock(): Promise<boolean> {
  const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  return withOwner({ url: opened.url, dataDir: "" }, async (client) => (await client.query(waiting)).rowCount !== 0);
}

function people(accountIds: string[] = []) {
  return createPeople({
    database: opened.database,
    openAccount,
    cookieName: () => COOKIE,
    isDemo: false,
    onAccountOpened: async (accountId) => void accountIds.push(accountId),
  });
}

test("makes one account for a person, however many ask at the same time", async () => {
  const { personId } = await newPerson();
  let opening = 0;
  // The first account is not opened before another caller has come as far, or waits for the person.
  const openLate: typeof openAccount = async (client, accountId) => {
    opening += 1;
    while (opening === 1 && !(await waitsForLock())) await sleep(5);
    await openAccount(client, accountId);
  };
  const asked = Array.from({ length: 8 }, () => ensureAccount(opened.database, { personId, openAccount: openLate }));
  const accounts = new Set(await Promise.all(asked));
  expect(accounts.size).toBe(1);
  const { rows } = await opened.database.pool.query(
    "SELECT c.account_id FROM customer c JOIN auth.person p ON lower(c.email) = p.email WHERE p.id = $1",
    [personId],
  );
  expect(rows).toEqual([{ account_id: [...accounts][0] }]);
});

test("leaves no account behind when the process dies between account and person", async () => {
  const { personId, email } = await newPerson();
  const dies = async (): Promise<void> => {
    throw new Error("killed");
  };
  await expect(ensureAccount(opened.database, { personId, openAccount: dies })).rejects.toThrow("killed");
  const accountId = await ensureAccount(opened.database, { personId, openAccount });
  const { rows } = await opened.database.pool.query("SELECT account_id FROM customer WHERE email = $1", [email]);
  expect(rows).toEqual([{ account_id: accountId }]);
});

test("gives the owner of an address the account that an operator opened for it", async () => {
  const { personId, email } = await newPerson();
  const { accountId } = await withTransaction(opened.database, (client) =>
    createCustomer(client, { email: email.toUpperCase(), openAccount }),
  );
  expect(await ensureAccount(opened.database, { personId, openAccount })).toBe(accountId);
});

test("gives no account for an address that is only claimed", async () => {
  const { personId, email } = await newPerson({ verified: false });
  await withTransaction(opened.database, (client) => createCustomer(client, { email, openAccount }));
  await expect(ensureAccount(opened.database, { personId, openAccount })).rejects.toThrow(/verified/);
  const token = await newSession(personId);
  expect(await people().verifySession(`${COOKIE}=${token}.signature`)).toBeNull();
});

test("knows who is signed in, and opens the account at the first call", async () => {
  const { personId, email } = await newPerson();
  const cookies = `theme=dark; ${COOKIE}=${await newSession(personId)}.c2ln; x=y`;
  const accountIds: string[] = [];
  const first = await people(accountIds).verifySession(cookies);
  expect(first).toMatchObject({ personId, email, isOperator: false });
  expect(await people(accountIds).verifySession(cookies)).toEqual(first);
  expect(accountIds).toEqual([first?.accountId]);
});

test.each([
  ["is over", { endsInDays: -1 }],
  ["is in use for too long", { beganDaysAgo: 31 }],
])("takes no session that %s", async (_case, times) => {
  const { personId } = await newPerson();
  const token = await newSession(personId, times);
  expect(await people().verifySession(`${COOKIE}=${token}.c2ln`)).toBeNull();
});

test("takes no cookie that is there twice, is another one, or is the digest of a token", async () => {
  const { personId } = await newPerson();
  const token = await newSession(personId);
  const someone = people();
  expect(await someone.verifySession(`${COOKIE}=${token}`)).not.toBeNull();
  const others = [
    `${COOKIE}=${token}; ${COOKIE}=${token}`,
    `x${COOKIE}=${token}`,
    `${COOKIE}=${digestSecretToken(token).toString("hex")}`,
    `${COOKIE}=%`,
    `${COOKIE}=`,
    COOKIE,
    "",
  ];
  for (const cookies of others) expect(await someone.verifySession(cookies)).toBeNull();
});

test("knows accounts by their id and nothing else", async () => {
  const { personId } = await newPerson();
  const accountId = await ensureAccount(opened.database, { personId, openAccount });
  const someone = people();
  expect(await someone.accountExists(accountId)).toBe(true);
  expect(await someone.accountExists(accountId)).toBe(true);
  for (const other of [uuidv7(), personId, "", "account"]) expect(await someone.accountExists(other)).toBe(false);
});

test("forgets what is over, and nothing else", async () => {
  const { pool } = opened.database;
  const { personId } = await newPerson();
  await newSession(personId, { endsInDays: -1 });
  const living = await newSession(personId);
  await takeTry(pool, "over", { burst: 1, intervalSeconds: 0 });
  await takeTry(pool, "booked", { burst: 1, intervalSeconds: 600 });
  await removeExpired(pool, { securityLogDays: 90, unverifiedDays: 7 });
  const { rows: sessions } = await pool.query("SELECT token_digest FROM auth.session WHERE user_id = $1", [personId]);
  expect(sessions).toEqual([{ token_digest: digestSecretToken(living) }]);
  const { rows: buckets } = await pool.query("SELECT bucket FROM auth.throttle");
  expect(buckets).toEqual([{ bucket: "booked" }]);
});

test("forgets in a round more than an attack leaves behind in a minute", async () => {
  const { pool } = opened.database;
  const many = `SELECT 'attack-' || n, clock_timestamp() - interval '1 minute' FROM generate_series(1, 3500) n`;
  await pool.query(`INSERT INTO auth.throttle (bucket, booked_until) ${many}`);
  await removeExpired(pool, { securityLogDays: 90, unverifiedDays: 7 });
  expect((await pool.query("SELECT FROM auth.throttle WHERE bucket LIKE 'attack-%'")).rowCount).toBe(0);
});

test("deletes people who never verified their address, and no others", async () => {
  const { pool } = opened.database;
  const add = async (email: string, facts: string) => {
    const text = `INSERT INTO auth.person (id, email, name, email_verified, updated_at) VALUES ($1, $2, 'N', ${facts})`;
    await pool.query(text, [uuidv7(), email]);
  };
  await add("old@test.example", "false, clock_timestamp() - interval '8 days'");
  await add("young@test.example", "false, clock_timestamp() - interval '6 days'");
  await add("verified@test.example", "true, clock_timestamp() - interval '8 days'");
  await removeExpired(pool, { securityLogDays: 90, unverifiedDays: 7 });
  const { rows } = await pool.query("SELECT email FROM auth.person WHERE email LIKE '%@test.example' AND name = 'N'");
  expect(rows.map(({ email }) => String(email)).toSorted()).toEqual(["verified@test.example", "young@test.example"]);
});

test("a bucket has its burst and not one more, however many ask at once", async () => {
  const pace = { burst: 5, intervalSeconds: 600 };
  const waits = await Promise.all(Array.from({ length: 20 }, () => takeTry(opened.database.pool, "rush", pace)));
  expect(waits.filter((seconds) => seconds === 0)).toHaveLength(5);
  expect(waits.filter((seconds) => seconds > 0).every((seconds) => seconds > 590 && seconds <= 600)).toBe(true);
});
