// A demo's data in a production service: open orders of the sandbox are closed there, and never become money.

import { afterAll, beforeAll, expect, it } from "vitest";
import { closeOrders } from "../../src/billing/top-ups/close-orders.ts";
import { selectTopUps } from "../../src/billing/top-ups/store.ts";
import type { TopUp } from "../../src/billing/top-ups/top-up.ts";
import { SOUND } from "../money/money-setup.ts";
import { whileLocked } from "../setup/held-row.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { MIDTRANS_KEY } from "./fake-provider.ts";
import { RUPIAH, TopUpSetup } from "./top-up-setup.ts";

let setup: TopUpSetup;
beforeAll(async () => {
  setup = await TopUpSetup.create();
});
afterAll(() => setup.close());

it("closes what is open at the demo's sandbox, and credits none of it, paid or not", async () => {
  const demo = await setup.process("sandbox");
  const accountId = await setup.money.account(0n);
  const unpaid = await setup.open(demo, accountId);
  const failed = await setup.open(demo, accountId);
  await demo.desk.act(tokenOf(failed), "fail");
  expect((await demo.topUps.verifyNow(failed.topUpId)).state).toBe("failed");
  const { midtrans } = setup.fake;
  const real = await SaldoHere.start({
    DATABASE_URL: setup.money.opened.url,
    SALDO_DEMO: "0",
    SALDO_PAYMENT_PROVIDER: "midtrans",
    MIDTRANS_SERVER_KEY: MIDTRANS_KEY,
    MIDTRANS_SNAP_URL: midtrans.snapUrl,
    MIDTRANS_API_URL: midtrans.apiUrl,
  });
  try {
    expect(await demo.topUps.get({ accountId, topUpId: unpaid.topUpId })).toMatchObject({ state: "canceled" });
    for (const topUp of [unpaid, failed]) {
      const page = `${real.httpUrl}/pay/sandbox/${tokenOf(topUp)}`;
      const body = new URLSearchParams({ action: "pay" });
      expect((await fetch(page, { method: "POST", redirect: "manual", body })).status).toBe(404);
      expect((await fetch(page)).status).toBe(404);
    }
    // Paid after all, for an order that the demo left in the tables, and signed with its own secret.
    await demo.desk.act(tokenOf(unpaid), "pay_silently");
    const { body, headers } = await setup.sandboxNotification(unpaid.topUpId);
    const answer = await fetch(`${real.httpUrl}/webhooks/payments/sandbox`, { method: "POST", headers, body });
    expect(answer.status).toBe(404);
    await setup.money.pool.query("UPDATE top_up SET next_check_at = now() WHERE id = $1", [unpaid.topUpId]);
    // Verified after it, by the same job.
    const bought = await setup.open(await setup.process("midtrans"), accountId);
    setup.fake.set(bought.topUpId, { status: "paid" });
    await setup.makeDue(bought.topUpId);
    await expect.poll(() => setup.creditsOf(bought.topUpId), { timeout: 20_000 }).toBe(1);
    expect(await setup.creditsOf(unpaid.topUpId)).toBe(0);
    expect(await setup.standing(accountId)).toEqual({ available: RUPIAH, owed: 0 });
  } finally {
    await real.stop();
  }
  expect(await setup.money.audit()).toEqual(SOUND);
});

it("waits for an order that another process is just asking about, instead of failing a start", async () => {
  const demo = await setup.process("sandbox");
  const { topUpId } = await setup.open(demo, await setup.money.account(0n));
  const lock = `SELECT FROM top_up WHERE id = '${topUpId}' FOR NO KEY UPDATE`;
  expect(await whileLocked(setup.money.pool, lock, () => closeOrders(demo.database, "sandbox"))).toBeGreaterThan(0);
  const [closed] = await selectTopUps(setup.money.pool, [topUpId]);
  expect(closed).toMatchObject({ state: "canceled" });
});

function tokenOf({ paymentUrl }: TopUp): string {
  return paymentUrl?.split("/").at(-1) ?? "";
}
