// A person's sessions are ended by an operator, and the security log is read: by a call and by a command.

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCustomer } from "../../src/identity/customers.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { digestSecretToken } from "../../src/kernel/secret-token.ts";
import { openAccount } from "../../src/ledger/accounts.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { Browser } from "./browser.ts";

const GET_ME = "accounts.v1.AccountsService/GetMe";

let opened: TestDatabase;
let saldo: SaldoHere;
let operator: Browser;
const settings = (): Record<string, string> => ({ DATABASE_URL: opened.url });
beforeAll(async () => {
  opened = await createTestDatabase();
  saldo = await SaldoHere.start(settings());
  operator = new Browser(saldo.httpUrl);
  await operator.auth("/demo/sign-in", {});
});
afterAll(async () => {
  await saldo.stop();
  await opened.drop();
});

type SignedIn = { email: string; personId: string; accountId: string; browsers: Browser[] };

/** A person who is signed in twice. */
async function signedIn({ isOperator = false } = {}): Promise<SignedIn> {
  const { pool } = opened.database;
  const [personId, email] = [uuidv7(), `${uuidv7()}@test.example`];
  const { accountId } = await withTransaction(opened.database, (client) =>
    createCustomer(client, { email, openAccount }),
  );
  const person = `INSERT INTO auth.person (id, email, name, email_verified, account_id, is_operator) VALUES ($1, $2, 'N', true, $3, $4)`;
  await pool.query(person, [personId, email, accountId, isOperator]);
  const browsers: Browser[] = [];
  for (let i = 0; i < 2; i += 1) {
    const token = randomBytes(24).toString("base64url");
    const session = `INSERT INTO auth.session (id, token_digest, user_id, expires_at, created_at, updated_at)
      VALUES ($1, $2, $3, clock_timestamp() + interval '1 day', clock_timestamp(), clock_timestamp())`;
    await pool.query(session, [uuidv7(), digestSecretToken(token), personId]);
    browsers.push(new Browser(saldo.httpUrl).with(`saldo_session=${token}.c2lnbmF0dXJl`));
  }
  return { email, personId, accountId, browsers };
}

async function statuses({ browsers }: SignedIn): Promise<number[]> {
  return Promise.all(browsers.map(async (browser) => (await browser.rpcStatus(GET_ME)).status));
}

const saldoCommand = (...words: string[]) => saldoJson(words, settings());

test("an operator signs a person out everywhere, and no other person", async () => {
  const [person, other] = [await signedIn(), await signedIn()];
  expect(await statuses(person)).toEqual([200, 200]);
  const order = { email: person.email.toUpperCase(), reason: "a lost laptop" };
  expect(await operator.rpc("accounts.v1.AccountsService/SignOutPerson", order)).toEqual({ sessions: 2 });
  expect([await statuses(person), await statuses(other)]).toEqual([
    [401, 401],
    [200, 200],
  ]);
  expect((await other.browsers[0]?.rpcStatus("accounts.v1.AccountsService/SignOutPerson", order))?.status).toBe(403);
  const unknown = { email: "nobody@test.example" };
  expect((await operator.rpcStatus("accounts.v1.AccountsService/SignOutPerson", unknown)).status).toBe(404);
  const filter = { filter: { subject: person.personId } };
  const { actions } = await operator.rpc<{ actions: object[] }>(
    "operator.v1.SystemService/ListOperatorActions",
    filter,
  );
  expect(actions).toEqual([expect.objectContaining({ action: "person sign-out", reason: "a lost laptop" })]);
});

test("a command signs out, and so do taking the operator's role and freezing the account", async () => {
  const [person, dismissed, frozen] = [await signedIn(), await signedIn({ isOperator: true }), await signedIn()];
  expect(await saldoCommand("person", "sign-out", person.email)).toEqual({ personId: person.personId, sessions: 2 });
  await saldoCommand("operator", "remove", "--email", dismissed.email);
  await saldoCommand("account", "freeze", "--account", frozen.accountId, "--reason", "test");
  for (const each of [person, dismissed, frozen]) expect(await statuses(each)).toEqual([401, 401]);
});

test("freezing an account signs out its members, also one who acts for the own account at that moment", async () => {
  const [frozen, member, other] = [await signedIn(), await signedIn(), await signedIn()];
  const join = "INSERT INTO account_member (account_id, person_id, role) VALUES ($1, $2, 'admin')";
  await opened.database.pool.query(join, [frozen.accountId, member.personId]);
  expect(await statuses(member)).toEqual([200, 200]);
  await saldoCommand("account", "freeze", "--account", frozen.accountId, "--reason", "test");
  expect([await statuses(frozen), await statuses(member), await statuses(other)]).toEqual([
    [401, 401],
    [401, 401],
    [200, 200],
  ]);
});

test("the security log is read by call and by command, by person and address, page by page", async () => {
  const person = await signedIn();
  const sessions = await person.browsers[0]?.rpc<{ sessions: { id: string; isCurrent?: true }[] }>(
    "accounts.v1.AccountsService/ListSessions",
  );
  await opened.database.pool.query("UPDATE auth.session SET proved_at = clock_timestamp() WHERE user_id = $1::uuid", [
    person.personId,
  ]);
  const other = sessions?.sessions.find(({ isCurrent }) => isCurrent !== true)?.id ?? "";
  await person.browsers[0]?.rpc("accounts.v1.AccountsService/RevokeSession", { sessionId: other });
  await new Browser(saldo.httpUrl).auth("/sign-in/email", { email: person.email, password: "not the password" });
  const list = async (request: object) =>
    operator.rpc<{ events?: Record<string, string>[]; nextPageToken?: string }>(
      "accounts.v1.AccountsService/ListSecurityEvents",
      request,
    );
  await expect
    .poll(async () => (await list({ personId: person.personId })).events, { timeout: 10_000 })
    .toEqual([
      expect.objectContaining({
        kind: "SECURITY_EVENT_KIND_SESSION_END",
        outcome: "SECURITY_OUTCOME_SUCCEEDED",
        subject: other,
        times: 1,
      }),
    ]);
  const about = (lines: { events?: Record<string, string>[] }) =>
    lines.events?.map(({ kind, outcome }) => [kind, outcome]);
  // Not every line has the hash of the address: the end of a session has the person only.
  await expect
    .poll(async () => about(await list({ email: person.email })), { timeout: 10_000 })
    .toEqual([
      ["SECURITY_EVENT_KIND_SIGN_IN", "SECURITY_OUTCOME_REFUSED"],
      ["SECURITY_EVENT_KIND_SESSION_END", "SECURITY_OUTCOME_SUCCEEDED"],
    ]);
  const byEmail = await list({ email: person.email });
  expect(byEmail.events?.[0]).toMatchObject({ network: "127.0.0.1" });
  const byAccount = await list({ accountId: person.accountId });
  expect(byAccount.events).toEqual([
    expect.objectContaining({
      kind: "SECURITY_EVENT_KIND_SESSION_END",
      personId: person.personId,
      accountId: person.accountId,
    }),
  ]);
  const { events } = (await saldoCommand("security", "log", "--email", person.email)) as unknown as {
    events: object[];
  };
  expect(events).toHaveLength(2);
  expect(events[0]).toMatchObject({ kind: "sign_in", outcome: "refused", times: 1 });
  expect(JSON.stringify([byEmail, events])).not.toContain(person.email);

  const kindsOf = async (request: object) => new Set((await list(request)).events?.map(({ kind }) => kind));
  await expect.poll(() => kindsOf({}), { timeout: 10_000 }).toContain("SECURITY_EVENT_KIND_OPERATOR_READ");
  expect(await kindsOf({ withoutOperatorReads: true })).not.toContain("SECURITY_EVENT_KIND_OPERATOR_READ");
  expect(await kindsOf({ withoutOperatorReads: true, kind: "SECURITY_EVENT_KIND_OPERATOR_READ" })).toEqual(
    new Set(["SECURITY_EVENT_KIND_OPERATOR_READ"]),
  );

  const first = await list({ pageSize: 1 });
  const second = await list({ pageSize: 1, pageToken: first.nextPageToken });
  expect([first.events?.length, second.events?.length]).toEqual([1, 1]);
  expect(String(second.events?.[0]?.["id"]) < String(first.events?.[0]?.["id"])).toBe(true);
  expect((await operator.rpcStatus("accounts.v1.AccountsService/ListSecurityEvents", { pageToken: "x" })).status).toBe(
    400,
  );
});

test("what an operator reads of customers is in the log, with the account", async () => {
  const person = await signedIn();
  await operator.rpcStatus("billing.v1.BillingService/ListUsage", {}, { "x-saldo-account": person.accountId });
  await operator.rpc("operator.v1.AccountService/ListAccounts");
  const read = async () =>
    (
      await opened.database.pool.query<{ subject: string; detail: string }>(
        "SELECT subject, detail FROM auth.security_event WHERE kind = 'operator_read'",
      )
    ).rows;
  await expect.poll(read, { timeout: 10_000 }).toEqual(
    expect.arrayContaining([
      { subject: person.accountId, detail: "BillingService/ListUsage" },
      { subject: "", detail: "AccountService/ListAccounts" },
    ]),
  );
});

test("what a service token changes is a line of the operators' log", async () => {
  const { accountId } = await signedIn();
  const { token = "", tokenId = "" } = await saldoCommand("service-token", "create", "--all", "--scope", "read,keys");
  const headers = { authorization: `Bearer ${token}`, "x-saldo-account": accountId };
  const call = (method: string, body: object) => new Browser(saldo.httpUrl).rpcStatus(method, body, headers);
  expect((await call("keys.v1.KeysService/CreateKey", { name: "batch" })).status).toBe(200);
  expect((await call("keys.v1.KeysService/ListKeys", {})).status).toBe(200);
  const refused = await call("merchant.v1.MerchantService/CreateMerchant", { environment: "ENVIRONMENT_PRODUCTION" });
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("transfers")]);
  const { rows } = await opened.database.pool.query("SELECT action, subject FROM operator_action WHERE operator = $1", [
    `service-token ${tokenId}`,
  ]);
  expect(rows).toEqual([{ action: "KeysService/CreateKey", subject: accountId }]);
});
