// A demo with a row of everything that has a page, a sheet or a dialog of its own.

import { createClient } from "@connectrpc/connect";
import { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import { findDemo } from "../../src/app-demo.ts";
import { BillingService } from "../../src/client.ts";
import { daysLater, dayOf } from "../../src/dashboard/language/days.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import type { Dashboard, Visit } from "./open-dashboard.ts";
import { callsOf } from "./session-calls.ts";
import { orderSeededTransfers, stopSandboxWallet } from "./waiting-transfers.ts";

/** One after the other, so that there is a version that is not live any more. */
const PRICES = ["4000", "4100", "4200"] as const;

/** So many days before today a range of days begins. */
const DAYS_BEFORE = 29;

/** Makes everything as the demo's person, who is an operator. Gives the rows by the names that stand for them in addresses. */
export async function makeSeededWorld(dashboard: Dashboard, visit: Visit): Promise<Readonly<Record<string, string>>> {
  const { database } = dashboard.database;
  const session = await callsOf(dashboard, visit);
  const operator = createClient(OperatorService, session);
  const { accountId, merchantId } = await findDemo(database);
  // Before anything is ordered: what happens to a transfer is told from then on.
  await createClient(MerchantService, session).updateCallbackSettings({
    merchantId,
    url: "https://merchant.example/hook",
  });
  await orderSeededTransfers(database);
  await stopSandboxWallet(database);
  const { topUp } = await createClient(BillingService, session).createTopUp({
    amount: "25000",
    idempotencyKey: uuidv7(),
  });
  const requestId = await askSomething(dashboard);
  await publishPrices(operator);
  const { transfers } = await operator.listTransfers({ name: "treasury-q4" });
  const { actions } = await operator.listOperatorActions({});
  const today = dayOf(new Date());
  return {
    ACCOUNT: accountId,
    ACTION: actions[0]?.id ?? "",
    MERCHANT: merchantId,
    REQUEST: requestId,
    TOP_UP: topUp?.id ?? "",
    TRANSFER: transfers[0]?.transfer?.id ?? "",
    FIRST_DAY: daysLater(today, -DAYS_BEFORE),
    LAST_DAY: today,
  };
}

/** A few requests, so that tables and charts have something to show. Gives the last one's id. */
async function askSomething({ saldo }: Dashboard): Promise<string> {
  const key = saldo.announced(/gw_\w+/);
  let requestId = "";
  for (const model of ["demo/small", "demo/large", "demo/vision"]) {
    const answer = await fetch(`${saldo.httpUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello! !tokens=40" }] }),
    });
    await answer.text();
    if (!answer.ok) throw new Error(`asking ${model} was answered ${answer.status}`);
    requestId = answer.headers.get("x-request-id") ?? "";
  }
  return requestId;
}

async function publishPrices(operator: ReturnType<typeof createClient<typeof OperatorService>>): Promise<void> {
  for (const [index, price] of PRICES.entries()) {
    const next = PRICES[index + 1];
    if (next === undefined) return;
    const { yaml, version } = await operator.getCatalog({});
    await operator.publishCatalog({
      draft: { content: { case: "yaml", value: yaml.replace(`"${price}"`, `"${next}"`) } },
      baseVersion: version,
      reason: "percobaan",
    });
  }
}
