// A provider that hangs delays its own orders and no others.

import { afterAll, beforeAll, expect, it } from "vitest";
import { startTicks } from "../../src/workers/tick.ts";
import { topUpTicks } from "../../src/billing/jobs/top-ups.ts";
import { TopUpSetup } from "./top-up-setup.ts";

let setup: TopUpSetup;
beforeAll(async () => {
  setup = await TopUpSetup.create();
});
afterAll(() => setup.close());

it("orders of a provider that answers are credited while another one does not answer", async () => {
  // It hangs for longer than this test waits.
  const patient = await setup.process("midtrans", { timeoutMs: 50_000 });
  const accountId = await setup.money.account(0n);
  const hung = await setup.open(patient, accountId);
  const fine = await setup.open(await setup.process("xendit"), accountId);
  setup.fake.misbehave("slow", "/core/");
  await setup.makeDue(hung.topUpId);
  const ticks = startTicks(topUpTicks(patient.topUps), () => {});
  const isAsked = (): boolean => setup.fake.asked.some((each) => each.includes(`/core/v2/${hung.topUpId}`));
  await expect.poll(isAsked, { timeout: 10_000 }).toBe(true);
  setup.fake.set(fine.topUpId, { status: "paid" });
  await setup.makeDue(fine.topUpId);
  await expect.poll(() => setup.creditsOf(fine.topUpId), { timeout: 15_000 }).toBe(1);
  expect(await setup.creditsOf(hung.topUpId)).toBe(0);
  // Ends the hanging call.
  const stopped = ticks.stop();
  await patient.close();
  await stopped;
});
