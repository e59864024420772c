// A demo with a row of everything that has a page, a sheet or a dialog of its own.

import { createClient } from "@connectrpc/connect";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { CallbackService } from "#gen/saldo/merchant/v1/callback_service_pb.ts";
import { TokenScope } from "#gen/saldo/options/v1/options_pb.ts";
import { findDemo } from "../../src/app/demo/demo.ts";
import { BillingService } from "../../src/client/client.ts";
import { daysLater, dayOf } from "../../src/dashboard/i18n/days.ts";
import type { Database } from "../../src/database/database.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { carryOutOrStore } from "../../src/operator/second-person/approvals.ts";
import { createOperatorClient, type OperatorClient } from "../setup/operator-client.ts";
import type { Dashboard, Visit } from "./open-dashboard.ts";
import { billRichRequest, CUT_REQUEST } from "./rich-request.ts";
import { callsOf } from "./session-calls.ts";
import { orderSeededTransfers, stopSandboxWallet } from "./waiting-transfers.ts";

/** One after the other, so that there is a version that is not live any more. */
const PRICES = ["4000", "4100", "4200"] as const;

/** A range of days begins so many days before today. */
const DAYS_BEFORE = 29;

/**
 * Makes everything as the demo's person, who is an operator. Returns the rows by the names that stand for them in
 * addresses.
 */
export async function makeSeededSetup(dashboard: Dashboard, visit: Visit): Promise<Readonly<Record<string, string>>> {
  const { database } = dashboard.database;
  const session = await callsOf(dashboard, visit);
  const operator = createOperatorClient(session);
  const { accountId, merchantId } = await findDemo(database);
  // Before anything is ordered: callbacks of a transfer are sent from then on.
  await createClient(CallbackService, session).updateCallbackSettings({
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
  const richRequestId = await billRichRequest(database, accountId);
  const cutRequestId = await billRichRequest(database, accountId, CUT_REQUEST);
  await publishPrices(operator);
  const { transfers } = await operator.listTransfers({ name: "treasury-q4" });
  const { actions } = await operator.listOperatorActions({});
  const by = { database, operator: "budi@saldo.example" };
  const wanted = { accountId, amount: 7_500_000n * 1_000_000n, reason: "Transfer bank 4711", reference: uuidv7() };
  const { pendingApprovalId } = await carryOutOrStore({ by, rule: { above: {} } }, "account adjust", wanted);
  const scopes = [TokenScope.READ, TokenScope.KEYS];
  await createClient(AccountsService, session).createServiceToken({ name: "laporan-harian", accountId, scopes });
  const today = dayOf(new Date());
  return {
    ACCOUNT: accountId,
    ACTION: actions[0]?.id ?? "",
    EVENT: await recordSignIn(database, accountId),
    MERCHANT: merchantId,
    APPROVAL: pendingApprovalId,
    REQUEST: requestId,
    RICH_ONE: richRequestId,
    CUT_ONE: cutRequestId,
    TOP_UP: topUp?.id ?? "",
    TRANSFER: transfers[0]?.transfer?.id ?? "",
    FIRST_DAY: daysLater(today, -DAYS_BEFORE),
    LAST_DAY: today,
  };
}

/** A line of the security log: the process writes its own a moment after the event. */
async function recordSignIn({ pool }: Database, accountId: string): Promise<string> {
  const eventId = uuidv7();
  await pool.query(
    `INSERT INTO auth.security_event (id, kind, outcome, person_id, network, detail)
     SELECT $1, 'sign_in', 'succeeded', id, '203.0.113.7', 'password' FROM auth.person WHERE account_id = $2`,
    [eventId, accountId],
  );
  return eventId;
}

/** A few requests, so that tables and charts have data to show. Returns the last one's id. */
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

async function publishPrices(operator: OperatorClient): Promise<void> {
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
