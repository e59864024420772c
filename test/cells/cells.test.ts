// Two nodes on two cells: what is promised of an account holds in whichever cell it is.

import { Code, createClient } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { TopUpState } from "#gen/saldo/billing/v1/top_up_pb.ts";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { MembersService } from "#gen/saldo/identity/v1/members_service_pb.ts";
import { AccountRole } from "#gen/saldo/options/v1/options_pb.ts";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { keyRoleOf } from "../../src/app/compose/members.ts";
import { placementOf } from "../../src/app/compose/open-in-cell.ts";
import { receiptWork } from "../../src/app/compose/receipts.ts";
import { topicAudits } from "../../src/app/compose/topic-audits.ts";
import { readConfig } from "../../src/app/config/config.ts";
import { issueReceipts } from "../../src/billing/receipts/issue-receipts.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { RoleMissing } from "../../src/kernel/errors.ts";
import { countAccountsByCell } from "../../src/ledger/accounts.ts";
import { audit } from "../../src/ledger/audit/audit.ts";
import { chat } from "../app/customer.ts";
import { HELLO } from "../app/rolling-load.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { callsOf, customerInTwo, newPerson, useTwoNodes } from "./two-cells.ts";

const use = useTwoNodes();
const { node } = use;

describe("an account in another cell", () => {
  it("is billed there, and its row at home stays empty", async () => {
    const { accountId, key, person } = await customerInTwo(use.cells, node(0), "1000");
    expect((await chat(node(1).httpUrl, key, HELLO)).status).toBe(200);
    const { balance } = await createClient(BillingService, callsOf(node(1), person)).getBalance({});
    expect(balance?.held).toBe("0");
    expect(Number(balance?.available)).toBeLessThan(1_000);
    const charged = "SELECT FROM usage_record WHERE account_id = $1";
    expect((await use.cells.two.database.pool.query(charged, [accountId])).rowCount).toBe(1);
    expect((await use.cells.home.database.pool.query(charged, [accountId])).rowCount).toBe(0);
    const { rows } = await use.cells.home.database.pool.query("SELECT posted, cell FROM account WHERE id = $1", [
      accountId,
    ]);
    expect(rows).toEqual([{ posted: 0n, cell: "two" }]);
  });

  it("is topped up there, by a notification that any node takes", async () => {
    const person = await newPerson(use.cells);
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
    const orders = await use.cells.home.database.pool.query("SELECT FROM top_up WHERE id = $1", [topUp?.id]);
    expect(orders.rowCount).toBe(0);
    // Each cell counts the receipts of one seller alone, so the number has the name of the cell.
    await issueReceipts(receiptWork({ demo: true }, use.cells.two.database));
    const receipted = await billing.getTopUp({ topUpId: topUp?.id ?? "" });
    expect(receipted.topUp?.receiptNumber).toMatch(/^DEMO-KW-TWO-20\d\d-000001$/);
  });

  it("is refused by every command that does not name its cell", async () => {
    const { accountId } = await customerInTwo(use.cells, node(0), "10000");
    const refused = [
      ["account", "show", "--account", accountId],
      ["account", "credit", "--account", accountId, "--amount", "1", "--reason", "r", "--reference", "elsewhere"],
      ["account", "freeze", "--account", accountId],
      ["key", "create", "--account", accountId, "--name", "k"],
      ["merchant", "create", "--account", accountId, "--environment", "sandbox"],
    ];
    for (const words of refused) {
      expect(await runSaldo(words, use.cells.settings)).toMatchObject({
        code: 1,
        stderr: "The account is in the cell two.\n",
      });
    }
    expect((await runSaldo([...(refused[0] ?? []), "--cell", "two"], use.cells.settings)).code).toBe(0);
    const listed = await saldoJson(["account", "list", "--limit", "1000"], use.cells.settings);
    expect(listed["accounts"]).toContainEqual(expect.objectContaining({ accountId, available: null, cell: "two" }));
    const changed = use.cells.home.database.pool.query("UPDATE account SET posted = 1 WHERE id = $1", [accountId]);
    await expect(changed).rejects.toThrow("account_elsewhere_empty");
  });

  it("has no member but its holder", async () => {
    const { person } = await customerInTwo(use.cells, node(0), "10000");
    const members = createClient(MembersService, callsOf(node(0), person));
    const invited = members.inviteMember({ email: "other@test.example", role: AccountRole.DEVELOPER });
    await expect(invited).rejects.toMatchObject({ code: Code.NotFound });
    expect((await members.listMembers({})).members).toHaveLength(1);
  });

  it("makes no key for a person who has lost the account meanwhile", async () => {
    const { accountId, person } = await customerInTwo(use.cells, node(0), "10");
    const keys = createClient(KeysService, callsOf(node(0), person));
    await expect(keys.createKey({ name: "own" })).resolves.toHaveProperty("secret");
    const requireRole = keyRoleOf(use.cells.two.database, use.cells.home.database);
    const asked = (personId: string) =>
      withTransaction(use.cells.two.database, (client) => requireRole(client, { accountId, personId }));
    await expect(asked(person.personId)).resolves.toBeUndefined();
    await use.cells.home.database.pool.query("UPDATE auth.person SET account_id = NULL WHERE id = $1", [
      person.personId,
    ]);
    await expect(asked(person.personId)).rejects.toBeInstanceOf(RoleMissing);
  });

  it("is placed by the rule: where the fewest are, counted once a minute", async () => {
    const [two] = readConfig({ SALDO_CELLS: use.cells.settings["SALDO_CELLS"] }).cells;
    const { pool } = use.cells.home.database;
    const counts = await countAccountsByCell(pool);
    const ahead = (counts.get("two") ?? 0) - (counts.get(null) ?? 0);
    const place = placementOf({ cells: two === undefined ? [] : [two], newAccountsIn: "least-full" }, pool);
    for (let more = 0; more < Math.abs(ahead); more += 1) expect(await place()).toBe(ahead > 0 ? null : "two");
    expect(new Set([await place(), await place()])).toEqual(new Set([null, "two"]));
  });
});

it("has receipts in no series but its own, or the audit names the series", async () => {
  const { pool } = use.cells.two.database;
  await pool.query("INSERT INTO receipt_series (series, year) VALUES ('KW', 2026)");
  const { violations } = await audit(pool, { kind: "incremental", topics: topicAudits([], null) });
  expect(violations.map(({ check, subject }) => [check, subject])).toEqual([
    ["receipts are numbered in the series of their cell", "KW-2026"],
  ]);
});
