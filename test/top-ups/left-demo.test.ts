// A demo's data under a service that is none: what was open at the sandbox is closed there, and never becomes money.

import { afterAll, beforeAll, expect, it } from "vitest";
import { closeOrders } from "../../src/billing/top-ups/close-orders.ts";
import { selectTopUps } from "../../src/billing/top-ups/store.ts";
import type { TopUp } from "../../src/billing/top-ups/top-up.ts";
import { SOUND } from "../money/world.ts";
import { whileLocked } from "../setup/held-row.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { MIDTRANS_KEY } from "./fake-provider.ts";
import { RUPIAH, TopUpWorld } from "./world.ts";

let world: TopUpWorld;
beforeAll(async () => {
  world = await TopUpWorld.create();
});
afterAll(() => world.close());

it("closes what is open at the demo's sandbox, and credits none of it, paid or not", async () => {
  const demo = await world.process("sandbox");
  const accountId = await world.money.account(0n);
  const unpaid = await world.open(demo, accountId);
  const failed = await world.open(demo, accountId);
  await demo.desk.act(tokenOf(failed), "fail");
  expect((await demo.topUps.verifyNow(failed.topUpId)).state).toBe("failed");
  const { midtrans } = world.fake;
  const real = await SaldoProcess.start({
    DATABASE_URL: world.money.opened.url,
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
    // Paid after all, at what the demo has left in the tables, and told by its own secret.
    await demo.desk.act(tokenOf(unpaid), "pay_silently");
    const { body, headers } = await world.sandboxNotification(unpaid.topUpId);
    const told = await fetch(`${real.httpUrl}/webhooks/payments/sandbox`, { method: "POST", headers, body });
    expect(told.status).toBe(404);
    await world.money.pool.query("UPDATE top_up SET next_check_at = now() WHERE id = $1", [unpaid.topUpId]);
    // Asked about after it, by the same tick.
    const bought = await world.open(await world.process("midtrans"), accountId);
    world.fake.set(bought.topUpId, { status: "paid" });
    await world.makeDue(bought.topUpId);
    await expect.poll(() => world.creditsOf(bought.topUpId), { timeout: 20_000 }).toBe(1);
    expect(await world.creditsOf(unpaid.topUpId)).toBe(0);
    expect(await world.standing(accountId)).toEqual({ available: RUPIAH, owed: 0 });
  } finally {
    await real.stop();
  }
  expect(await world.money.audit()).toEqual(SOUND);
});

it("waits for an order that another process is just asking about, instead of failing a start", async () => {
  const demo = await world.process("sandbox");
  const { topUpId } = await world.open(demo, await world.money.account(0n));
  const lock = `SELECT FROM top_up WHERE id = '${topUpId}' FOR NO KEY UPDATE`;
  expect(await whileLocked(world.money.pool, lock, () => closeOrders(demo.database, "sandbox"))).toBeGreaterThan(0);
  const [closed] = await selectTopUps(world.money.pool, [topUpId]);
  expect(closed).toMatchObject({ state: "canceled" });
});

function tokenOf({ paymentUrl }: TopUp): string {
  return paymentUrl?.split("/").at(-1) ?? "";
}
