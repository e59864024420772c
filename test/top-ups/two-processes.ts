// The common setup of tests that move money by two processes at one provider.

import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { SOUND } from "../money/money-setup.ts";
import { type TopUpProcess, TopUpSetup } from "./top-up-setup.ts";

export let setup: TopUpSetup;
export let one: TopUpProcess;
export let other: TopUpProcess;

/** Opens the setup before the first test of a file, audits it after each, and closes it after the last. Each file calls it. */
export function useTwoProcesses(): void {
  beforeAll(async () => {
    setup = await TopUpSetup.create();
    one = await setup.process("midtrans");
    other = await setup.process("midtrans");
  });
  afterEach(async () => {
    setup.fake.misbehave(null);
    expect(await setup.money.audit()).toEqual(SOUND);
  });
  afterAll(() => setup.close());
}

/** The state of a top-up, as its account sees it. */
export async function stateOf(accountId: string, topUpId: string): Promise<string> {
  return (await one.topUps.get({ accountId, topUpId })).state;
}
