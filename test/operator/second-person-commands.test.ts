// Approvals and stops on the command line: it decides stored commands, has no limit, and stops payouts.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseCommand } from "../../src/commands/command.ts";
import { commands } from "../../src/commands/all-commands.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { createMerchant } from "../../src/merchant/merchants/merchants.ts";
import { listLimits } from "../../src/merchant/merchants/limits.ts";
import { carryOutOrStore } from "../../src/operator/second-person/approvals.ts";
import { contextOn } from "./command-context.ts";
import { serveOperator, type ServedOperator } from "./operator-calls.ts";

let served: ServedOperator;
beforeAll(async () => {
  served = await serveOperator();
});
afterAll(() => served.stop());

async function run(...words: string[]): Promise<Readonly<Record<string, unknown>>> {
  const { command, values } = parseCommand(words, commands);
  return (await command.run(values, contextOn(served.database))).json;
}

describe("the command line", () => {
  test("lists stored approvals, and approves and refuses those of others", async () => {
    const accountId = await served.newCustomer();
    const store = async (): Promise<string> => {
      const by = { database: served.database, operator: "ani@example.com" };
      const wanted = { accountId, amount: 5_000_000n, reason: "r", reference: uuidv7() };
      return (await carryOutOrStore({ by, rule: { above: {} } }, "account credit", wanted)).pendingApprovalId;
    };
    const [first, second] = [await store(), await store()];
    const { approvals } = (await run("approval", "list")) as {
      approvals: { approvalId: string; requestedBy: string }[];
    };
    expect(approvals.map(({ approvalId, requestedBy }) => [approvalId, requestedBy])).toEqual([
      [second, "ani@example.com"],
      [first, "ani@example.com"],
    ]);
    expect(await run("approval", "grant", "--approval", first)).toEqual({
      approvalId: first,
      state: "approved",
      isNew: true,
    });
    const refusal = await run("approval", "refuse", "--approval", second, "--reason", "a slip");
    expect(refusal).toEqual({ approvalId: second, state: "refused", isNew: true });
    expect((await served.operator.getAccount({ accountId })).account?.balance?.available).toBe("5");
    expect(await run("approval", "list")).toEqual({ approvals: [] });
  });

  test("stops and starts payouts, and shows both in the status", async () => {
    const scope = ["--chain", "ethereum"];
    expect(await run("payout", "stop", ...scope, "--reason", "an incident")).toMatchObject({ isNew: true });
    expect(await run("payout", "status")).toMatchObject({ stops: [{ chain: "ethereum", reason: "an incident" }] });
    const { stops } = await served.operator.listPayoutWallets({});
    expect(stops).toMatchObject([{ chain: "ethereum", address: "", reason: "an incident" }]);
    expect(await run("payout", "start", "--reason", "all of them")).toMatchObject({ isNew: false });
    expect(await run("payout", "start", ...scope, "--reason", "over")).toMatchObject({ isNew: true, stops: [] });
  });

  test("sets the limits that new production merchants begin with, and no others", async () => {
    const merchant = async (environment: "production" | "sandbox"): Promise<string> =>
      (await createMerchant(served.database, { accountId: await served.newCustomer(), environment })).merchantId;
    const before = await merchant("production");
    const set = ["--currency", "USDT", "--per-transfer", "7", "--daily", "70", "--approval-above", "0.7"];
    await run("merchant", "default-limit", ...set);
    const usdtOf = async (merchantId: string) =>
      (await listLimits(served.database, merchantId)).find(({ currencyCode }) => currencyCode === "USDT");
    expect(await usdtOf(await merchant("production"))).toMatchObject({
      perTransfer: "7",
      daily: "70",
      approvalAbove: "0.7",
    });
    expect(await usdtOf(before)).toMatchObject({ perTransfer: "10000", daily: "50000", approvalAbove: "1000" });
    expect(await usdtOf(await merchant("sandbox"))).toBeUndefined();
  });
});
