// Operators and settings of two nodes on two cells: what is ordered acts on the account where it is, and on all cells where it is for all.

import { Code, createClient } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { MembersService } from "#gen/saldo/identity/v1/members_service_pb.ts";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { chat, newCustomer } from "../app/customer.ts";
import { HELLO } from "../app/rolling-load.ts";
import { createOperatorClient } from "../setup/operator-client.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { accountOfPerson, atHome, callsOf, customerInTwo, newPerson, useTwoNodes } from "./two-cells.ts";

const use = useTwoNodes();
const { node } = use;

describe("operators", () => {
  const operator = async (index = 0) => {
    const person = await newPerson(use.cells);
    await use.cells.home.database.pool.query("UPDATE auth.person SET is_operator = true WHERE id = $1", [
      person.personId,
    ]);
    return createOperatorClient(callsOf(node(index), person));
  };

  it("see and change an account where it is", async () => {
    const { accountId, person } = await customerInTwo(use.cells, node(0), "12");
    const calls = await operator(1);
    const command = { accountId, amount: "5", reason: "gift", idempotencyKey: `gift ${accountId}` };
    expect((await calls.creditAccount(command)).posting).toMatchObject({ isNew: true });
    expect((await calls.creditAccount(command)).posting).toMatchObject({ isNew: false });
    const { accounts } = await calls.listAccounts({ query: person.email });
    expect(accounts.map(({ id, balance }) => [id, balance?.posted])).toEqual([[accountId, "17"]]);
  });

  it("stop and start the requests of all cells", async () => {
    const two = await customerInTwo(use.cells, node(0), "10000");
    const home = await newCustomer(atHome(use.cells), { amount: "10000" });
    const calls = await operator();
    const statuses = () =>
      Promise.all([two.key, home.key].map(async (key) => (await chat(node(0).httpUrl, key, HELLO)).status));
    await calls.stopAdmission({ reason: "test" });
    await expect.poll(statuses, { timeout: 20_000 }).toEqual([503, 503]);
    await calls.startAdmission({});
    await expect.poll(statuses, { timeout: 20_000 }).toEqual([200, 200]);
  });

  it("end the sessions of the person of an account that they freeze, at home and by the command", async () => {
    const { accountId, person } = await customerInTwo(use.cells, node(0), "12");
    const frozen = () => createClient(BillingService, callsOf(node(1), person)).getBalance({});
    const sessions = async () =>
      (await use.cells.home.database.pool.query("SELECT FROM auth.session WHERE user_id = $1", [person.personId]))
        .rowCount;
    await expect(frozen()).resolves.toHaveProperty("balance");
    const calls = await operator();
    expect((await calls.freezeAccount({ accountId, reason: "stolen" })).limits?.frozenAt).toBeDefined();
    expect(await sessions()).toBe(0);
    await expect(frozen()).rejects.toMatchObject({ code: Code.Unauthenticated });
    // A command that is repeated ends the sessions that an earlier one could not end.
    await use.cells.home.database.pool.query(
      `INSERT INTO auth.session (id, token_digest, user_id, expires_at, created_at, updated_at)
       VALUES ($1, $3, $2, now() + interval '1 hour', now(), now())`,
      [person.sessionId, person.personId, Buffer.alloc(32)],
    );
    await saldoJson(["account", "freeze", "--cell", "two", "--account", accountId], use.cells.settings);
    expect(await sessions()).toBe(0);
  });

  it("leave lines that the account's people read, among those of the home cell", async () => {
    const { accountId, person } = await customerInTwo(use.cells, node(0), "12");
    const members = createClient(MembersService, callsOf(node(0), person));
    await createClient(KeysService, callsOf(node(0), person)).createKey({ name: "own" });
    await createClient(BillingService, callsOf(node(1), person)).createTopUp({
      amount: "50000",
      idempotencyKey: "a line",
    });
    await (await operator(1)).setAccountLimit({ accountId, maxOpenRequests: 7, reason: "small" });
    const actions: string[] = [];
    let pageToken = "";
    do {
      const page = await members.listActivity({ pageSize: 2, pageToken });
      actions.push(...page.lines.map(({ action }) => action));
      ({ nextPageToken: pageToken } = page);
    } while (pageToken !== "");
    expect(actions).toEqual([
      "account.limited",
      "BillingService/CreateTopUp",
      "KeysService/CreateKey",
      "key.created",
      "account.credited",
    ]);
  });
});

it("gives no welcome credit to an account of before the setting, and one to each later, wherever it is asked for", async () => {
  const [early, later] = [await newPerson(use.cells), await newPerson(use.cells)];
  const balanceAt = async (index: number, person: typeof early) =>
    (await createClient(BillingService, callsOf(node(index), person)).getBalance({})).balance?.posted;
  expect(await balanceAt(0, early)).toBe("0");
  await saldoJson(["settings", "welcome-credit", "--amount", "25", "--reason", "test"], use.cells.settings);
  const there = async () =>
    (await saldoJson(["settings", "show", "--cell", "two"], use.cells.settings))["welcomeCredit"];
  await expect.poll(there, { timeout: 40_000 }).toContain("25");
  expect(await balanceAt(1, early)).toBe("0");
  expect(new Set(await Promise.all([0, 1, 0, 1].map((index) => balanceAt(index, later))))).toEqual(new Set(["25"]));
  const gifts = "SELECT FROM posting WHERE account_id = $1 AND reason = 'welcome_credit'";
  expect((await use.cells.two.database.pool.query(gifts, [await accountOfPerson(use.cells, later)])).rowCount).toBe(1);
});
