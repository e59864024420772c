// What tests have in common that move money by two processes at one provider.

import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { SOUND } from "../money/world.ts";
import { type TopUpProcess, TopUpWorld } from "./world.ts";

export let world: TopUpWorld;
export let one: TopUpProcess;
export let other: TopUpProcess;

/** Opens the world before the first test of a file, audits it behind each, and closes it after the last. Each file calls it. */
export function useTwoProcesses(): void {
  beforeAll(async () => {
    world = await TopUpWorld.create();
    one = await world.process("midtrans");
    other = await world.process("midtrans");
  });
  afterEach(async () => {
    world.fake.misbehave(null);
    expect(await world.money.audit()).toEqual(SOUND);
  });
  afterAll(() => world.close());
}

/** The state of a top-up, as its account sees it. */
export async function stateOf(accountId: string, topUpId: string): Promise<string> {
  return (await one.topUps.get({ accountId, topUpId })).state;
}
