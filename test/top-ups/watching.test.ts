// Watching top-ups has a limit for each account, so that one account leaves room for the others.

import { afterAll, beforeAll, expect, it } from "vitest";
import { type TopUpProcess, TopUpSetup } from "./top-up-setup.ts";

const MOST_OF_ACCOUNT = 10;

let setup: TopUpSetup;
let process: TopUpProcess;
beforeAll(async () => {
  setup = await TopUpSetup.create();
  process = await setup.process("midtrans");
});
afterAll(() => setup.close());

const { signal } = new AbortController();
async function follow(accountId: string, topUpId: string) {
  const watching = process.topUps.watch({ accountId, topUpId }, signal);
  await watching.next();
  return watching;
}

it("an account follows ten at a time, others as many, and a leaving client makes room", async () => {
  const [one, other] = [await setup.money.account(0n), await setup.money.account(0n)];
  const { topUpId } = await setup.open(process, one);
  const watching = await Promise.all(Array.from({ length: MOST_OF_ACCOUNT }, () => follow(one, topUpId)));
  await expect(follow(one, topUpId)).rejects.toMatchObject({ code: "limit_exceeded" });
  const theirs = await setup.open(process, other);
  await (await follow(other, theirs.topUpId)).return();
  await watching[0]?.return();
  await (await follow(one, topUpId)).return();
  for (const each of watching) await each.return();
});

it("what is not found takes no room", async () => {
  const [one, other] = [await setup.money.account(0n), await setup.money.account(0n)];
  const { topUpId } = await setup.open(process, other);
  for (let asked = 0; asked <= MOST_OF_ACCOUNT; asked += 1)
    await expect(follow(one, topUpId)).rejects.toMatchObject({ code: "not_found" });
});
