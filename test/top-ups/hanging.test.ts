// A provider that hangs delays its own orders and no others.

import { afterAll, beforeAll, expect, it } from "vitest";
import { startTicks } from "../../src/workers/tick.ts";
import { topUpTicks } from "../../src/billing/jobs/top-ups.ts";
import { TopUpWorld } from "./world.ts";

let world: TopUpWorld;
beforeAll(async () => {
  world = await TopUpWorld.create();
});
afterAll(() => world.close());

it("orders of a provider that answers are credited while another one does not answer", async () => {
  // It hangs for longer than this test waits.
  const patient = await world.process("midtrans", { timeoutMs: 50_000 });
  const accountId = await world.money.account(0n);
  const hung = await world.open(patient, accountId);
  const fine = await world.open(await world.process("xendit"), accountId);
  world.fake.misbehave("slow", "/core/");
  await world.makeDue(hung.topUpId);
  const ticks = startTicks(topUpTicks(patient.topUps), () => {});
  const isAsked = (): boolean => world.fake.asked.some((each) => each.includes(`/core/v2/${hung.topUpId}`));
  await expect.poll(isAsked, { timeout: 10_000 }).toBe(true);
  world.fake.set(fine.topUpId, { status: "paid" });
  await world.makeDue(fine.topUpId);
  await expect.poll(() => world.creditsOf(fine.topUpId), { timeout: 15_000 }).toBe(1);
  expect(await world.creditsOf(hung.topUpId)).toBe(0);
  // Ends the question that hangs.
  const stopped = ticks.stop();
  await patient.close();
  await stopped;
});
