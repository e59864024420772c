// Top-ups of all accounts, in an operator's lists.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TopUpState } from "#gen/saldo/billing/v1/top_up_pb.ts";
import { PaymentFinding } from "#gen/saldo/operator/v1/top_up_pb.ts";
import { insertEvent } from "../../src/billing/top-ups/store.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { openTopUp } from "./opened-top-up.ts";
import { OPERATOR, refusal, serveOperator, type ServedOperator } from "./operator-calls.ts";

let served: ServedOperator;
beforeAll(async () => {
  served = await serveOperator();
});
afterAll(() => served.stop());

test("top-ups are listed across accounts, filtered, page by page, and shown with their notifications", async () => {
  const { operator, database } = served;
  const [one, other] = [await served.newCustomer(), await served.newCustomer()];
  // Those of one millisecond have no order.
  const first = await openTopUp(database, { accountId: one });
  await sleep(2);
  const second = await openTopUp(database, { accountId: other, provider: "midtrans" });
  await sleep(2);
  const third = await openTopUp(database, { accountId: one });
  const problem = "the provider reports another amount";
  await database.pool.query("UPDATE top_up SET state = 'review', problem = $2 WHERE id = $1", [second, problem]);
  const find = async (filter: object) => (await operator.listTopUps(filter)).topUps.map(({ topUp }) => topUp?.id);
  expect(await find({})).toEqual([third, second, first]);
  expect(await find({ accountId: one })).toEqual([third, first]);
  expect(await find({ provider: "midtrans" })).toEqual([second]);
  expect(await find({ state: TopUpState.REVIEW })).toEqual([second]);
  expect(await find({ onlyProblems: true })).toEqual([second]);
  expect(await find({ state: TopUpState.PAID })).toEqual([]);
  const page = await operator.listTopUps({ pageSize: 2 });
  const rest = await operator.listTopUps({ pageSize: 2, pageToken: page.nextPageToken });
  expect(rest.topUps.map(({ topUp }) => topUp?.id)).toEqual([first]);
  expect(rest.nextPageToken).toBe("");

  const event = { provider: "midtrans", orderId: second, topUpId: second, status: "settlement", amount: "26000" };
  await withTransaction(database, (client) =>
    insertEvent(client, { ...event, eventId: uuidv7(), eventKey: "e-1", finding: "other_amount" }),
  );
  const shown = await operator.getTopUp({ topUpId: second });
  expect(shown.topUp).toMatchObject({ accountId: other, problem, topUp: { amount: "25000", provider: "midtrans" } });
  expect(shown.events).toMatchObject([
    { eventKey: "e-1", status: "settlement", amount: "26000", finding: PaymentFinding.OTHER_AMOUNT },
  ]);
  expect(await refusal(operator.getTopUp({ topUpId: uuidv7() }))).toMatchObject({ code: "not_found" });
});

test("a top-up's provider is asked when an operator orders it, and that is recorded", async () => {
  const { operator, database } = served;
  const accountId = await served.newCustomer();
  const topUpId = await openTopUp(database, { accountId });
  const { topUp } = await operator.verifyTopUp({ topUpId, reason: "the customer asks" });
  expect(topUp).toMatchObject({ accountId, topUp: { id: topUpId, state: TopUpState.CREATED } });
  expect(served.asked).toEqual([topUpId]);
  expect((await served.actions()).newest).toMatchObject({
    operator: OPERATOR,
    action: "top-up verify",
    subject: topUpId,
    reason: "the customer asks",
    facts: { accountId, state: "created" },
  });
  // A missing top-up causes no call of a provider and leaves no line.
  const { count } = await served.actions();
  expect(await refusal(operator.verifyTopUp({ topUpId: uuidv7() }))).toMatchObject({ code: "not_found" });
  expect(served.asked).toEqual([topUpId]);
  expect((await served.actions()).count).toBe(count);
});
