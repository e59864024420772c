// Two nodes on two cells: what is promised of an account holds in whichever cell it is.

import { Code, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TopUpState } from "#gen/saldo/billing/v1/top_up_pb.ts";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { MembersService } from "#gen/saldo/identity/v1/members_service_pb.ts";
import { AccountRole } from "#gen/saldo/options/v1/options_pb.ts";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { presetCatalog } from "../../src/app/compose/catalog.ts";
import { keyRoleOf } from "../../src/app/compose/members.ts";
import { placementOf } from "../../src/app/compose/open-in-cell.ts";
import { readConfig } from "../../src/app/config/config.ts";
import { publishCatalog } from "../../src/catalog/apply-catalog.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { RoleMissing } from "../../src/kernel/errors.ts";
import { countAccountsByCell } from "../../src/ledger/accounts.ts";
import { chat, newCustomer } from "../app/customer.ts";
import { HELLO } from "../app/rolling-load.ts";
import { createOperatorClient } from "../setup/operator-client.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { accountOfPerson, askAll, callsOf, customerInTwo, newPerson, type TwoCells, twoCells } from "./two-cells.ts";

/** Holds less than two rupiah, so that ten cover some of thirty at once. */
const SHORT = { ...HELLO, max_tokens: 100 };
const SOUND = { ok: true, violations: [] };

let cells: TwoCells;
const nodes: SaldoHere[] = [];
const node = (index: number): SaldoHere => {
  const found = nodes[index % 2];
  if (found === undefined) throw new Error("two nodes run");
  return found;
};
const atHome = () => ({ ...cells.settings, SALDO_NEW_ACCOUNTS_IN: "home" });

beforeAll(async () => {
  cells = await twoCells();
  nodes.push(...(await Promise.all([SaldoHere.start(cells.settings), SaldoHere.start(cells.settings)])));
});
afterAll(async () => {
  await Promise.all(nodes.map((each) => each.stop()));
  await cells.close();
});

describe("an account in another cell", () => {
  it("is billed there, and its row at home stays empty", async () => {
    const { accountId, key, person } = await customerInTwo(cells, node(0), "1000");
    expect((await chat(node(1).httpUrl, key, HELLO)).status).toBe(200);
    const { balance } = await createClient(BillingService, callsOf(node(1), person)).getBalance({});
    expect(balance?.held).toBe("0");
    expect(Number(balance?.available)).toBeLessThan(1_000);
    const charged = "SELECT FROM usage_record WHERE account_id = $1";
    expect((await cells.two.database.pool.query(charged, [accountId])).rowCount).toBe(1);
    expect((await cells.home.database.pool.query(charged, [accountId])).rowCount).toBe(0);
    const { rows } = await cells.home.database.pool.query("SELECT posted, cell FROM account WHERE id = $1", [
      accountId,
    ]);
    expect(rows).toEqual([{ posted: 0n, cell: "two" }]);
  });

  it("spends no more than it has, like one at home, while both nodes race for both", async () => {
    const two = await customerInTwo(cells, node(0), "10");
    const home = await newCustomer(atHome(), { amount: "10" });
    const [inTwo, inHome] = await Promise.all([two, home].map(({ key }) => askAll(nodes, key, 30, SHORT)));
    for (const [statuses = [], { accountId }, { database }] of [
      [inTwo, two, cells.two],
      [inHome, home, cells.home],
    ] as const) {
      expect(new Set(statuses)).toEqual(new Set([200, 402]));
      const { rows } = await database.pool.query<{ posted: bigint; held: bigint; used: number; spent: string }>(
        `SELECT posted, held, (SELECT count(*)::int FROM usage_record WHERE account_id = a.id AND charge > 0) AS used,
           (SELECT sum(charge) FROM usage_record WHERE account_id = a.id) AS spent
         FROM account a WHERE id = $1`,
        [accountId],
      );
      expect(rows[0]).toMatchObject({ held: 0n, used: statuses.filter((status) => status === 200).length });
      expect(BigInt(rows[0]?.spent ?? 0) + (rows[0]?.posted ?? 0n)).toBe(10_000_000n);
    }
    expect(await saldoJson(["audit"], cells.settings)).toMatchObject(SOUND);
    expect(await saldoJson(["audit", "--cell", "two"], cells.settings)).toMatchObject(SOUND);
  });

  it("is topped up there, by a notification that any node takes", async () => {
    const person = await newPerson(cells);
    const billing = createClient(BillingService, callsOf(node(0), person));
    const { topUp } = await billing.createTopUp({ amount: "50000", idempotencyKey: "top-up in two" });
    const page = topUp?.paymentUrl ?? "";
    const act = { method: "POST", redirect: "manual", body: new URLSearchParams({ action: "pay" }) } as const;
    const other = page.replace(node(0).httpUrl, node(1).httpUrl);
    expect(await (await fetch(other)).text()).toContain("50");
    expect((await fetch(other, act)).status).toBe(303);
    const stateOf = async () => (await billing.getTopUp({ topUpId: topUp?.id ?? "" })).topUp?.state;
    await expect.poll(stateOf, { timeout: 20_000 }).toBe(TopUpState.PAID);
    await expect.poll(async () => (await billing.getBalance({})).balance?.posted, { timeout: 20_000 }).toBe("50000");
    const orders = await cells.home.database.pool.query("SELECT FROM top_up WHERE id = $1", [topUp?.id]);
    expect(orders.rowCount).toBe(0);
  });

  it("is refused by every command that does not name its cell", async () => {
    const { accountId } = await customerInTwo(cells, node(0), "10000");
    const refused = [
      ["account", "show", "--account", accountId],
      ["account", "credit", "--account", accountId, "--amount", "1", "--reason", "r", "--reference", "elsewhere"],
      ["account", "freeze", "--account", accountId],
      ["key", "create", "--account", accountId, "--name", "k"],
      ["merchant", "create", "--account", accountId, "--environment", "sandbox"],
    ];
    for (const words of refused) {
      expect(await runSaldo(words, cells.settings)).toMatchObject({
        code: 1,
        stderr: "The account is in the cell two.\n",
      });
    }
    expect((await runSaldo([...(refused[0] ?? []), "--cell", "two"], cells.settings)).code).toBe(0);
    const listed = await saldoJson(["account", "list", "--limit", "1000"], cells.settings);
    expect(listed["accounts"]).toContainEqual(expect.objectContaining({ accountId, available: null, cell: "two" }));
    const changed = cells.home.database.pool.query("UPDATE account SET posted = 1 WHERE id = $1", [accountId]);
    await expect(changed).rejects.toThrow("account_elsewhere_empty");
  });

  it("has no member but its holder", async () => {
    const { person } = await customerInTwo(cells, node(0), "10000");
    const members = createClient(MembersService, callsOf(node(0), person));
    const invited = members.inviteMember({ email: "other@test.example", role: AccountRole.DEVELOPER });
    await expect(invited).rejects.toMatchObject({ code: Code.NotFound });
    expect((await members.listMembers({})).members).toHaveLength(1);
  });

  it("makes no key for a person who has lost the account meanwhile", async () => {
    const { accountId, person } = await customerInTwo(cells, node(0), "10");
    const keys = createClient(KeysService, callsOf(node(0), person));
    await expect(keys.createKey({ name: "own" })).resolves.toHaveProperty("secret");
    const requireRole = keyRoleOf(cells.two.database, cells.home.database);
    const asked = (personId: string) =>
      withTransaction(cells.two.database, (client) => requireRole(client, { accountId, personId }));
    await expect(asked(person.personId)).resolves.toBeUndefined();
    await cells.home.database.pool.query("UPDATE auth.person SET account_id = NULL WHERE id = $1", [person.personId]);
    await expect(asked(person.personId)).rejects.toBeInstanceOf(RoleMissing);
  });

  it("is placed by the rule: where the fewest are, counted once a minute", async () => {
    const [two] = readConfig({ SALDO_CELLS: cells.settings["SALDO_CELLS"] }).cells;
    const { pool } = cells.home.database;
    const counts = await countAccountsByCell(pool);
    const ahead = (counts.get("two") ?? 0) - (counts.get(null) ?? 0);
    const place = placementOf({ cells: two === undefined ? [] : [two], newAccountsIn: "least-full" }, pool);
    for (let more = 0; more < Math.abs(ahead); more += 1) expect(await place()).toBe(ahead > 0 ? null : "two");
    expect(new Set([await place(), await place()])).toEqual(new Set([null, "two"]));
  });
});

describe("operators", () => {
  const operator = async (index = 0) => {
    const person = await newPerson(cells);
    await cells.home.database.pool.query("UPDATE auth.person SET is_operator = true WHERE id = $1", [person.personId]);
    return createOperatorClient(callsOf(node(index), person));
  };

  it("see and change an account where it is", async () => {
    const { accountId, person } = await customerInTwo(cells, node(0), "12");
    const calls = await operator(1);
    const command = { accountId, amount: "5", reason: "gift", idempotencyKey: `gift ${accountId}` };
    expect((await calls.creditAccount(command)).posting).toMatchObject({ isNew: true });
    expect((await calls.creditAccount(command)).posting).toMatchObject({ isNew: false });
    const { accounts } = await calls.listAccounts({ query: person.email });
    expect(accounts.map(({ id, balance }) => [id, balance?.posted])).toEqual([[accountId, "17"]]);
  });

  it("stop and start the requests of all cells", async () => {
    const two = await customerInTwo(cells, node(0), "10000");
    const home = await newCustomer(atHome(), { amount: "10000" });
    const calls = await operator();
    const statuses = () =>
      Promise.all([two.key, home.key].map(async (key) => (await chat(node(0).httpUrl, key, HELLO)).status));
    await calls.stopAdmission({ reason: "test" });
    await expect.poll(statuses, { timeout: 20_000 }).toEqual([503, 503]);
    await calls.startAdmission({});
    await expect.poll(statuses, { timeout: 20_000 }).toEqual([200, 200]);
  });
});

it("gives no welcome credit to an account of before the setting, and one to each later, wherever it is asked for", async () => {
  const [early, later] = [await newPerson(cells), await newPerson(cells)];
  const balanceAt = async (index: number, person: typeof early) =>
    (await createClient(BillingService, callsOf(node(index), person)).getBalance({})).balance?.posted;
  expect(await balanceAt(0, early)).toBe("0");
  await saldoJson(["settings", "welcome-credit", "--amount", "25", "--reason", "test"], cells.settings);
  const there = async () => (await saldoJson(["settings", "show", "--cell", "two"], cells.settings))["welcomeCredit"];
  await expect.poll(there, { timeout: 40_000 }).toContain("25");
  expect(await balanceAt(1, early)).toBe("0");
  expect(new Set(await Promise.all([0, 1, 0, 1].map((index) => balanceAt(index, later))))).toEqual(new Set(["25"]));
  const gifts = "SELECT FROM posting WHERE account_id = $1 AND reason = 'welcome_credit'";
  expect((await cells.two.database.pool.query(gifts, [await accountOfPerson(cells, later)])).rowCount).toBe(1);
});

it("publishes the catalog of the home cell to the others", async () => {
  const catalog = async (...more: string[]) =>
    (await saldoJson(["catalog", "export", "-", ...more], cells.settings))["yaml"];
  const wanted = ((await catalog()) ?? "").replace("Demo Large", "Published Large");
  await withTransaction(cells.home.database, (client) =>
    publishCatalog(client, { ...presetCatalog(readConfig({})), operator: "test", reason: null, yaml: wanted }),
  );
  expect(await catalog()).toContain("Published Large");
  await expect.poll(() => catalog("--cell", "two"), { timeout: 40_000 }).toBe(await catalog());
});
