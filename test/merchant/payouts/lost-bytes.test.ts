// What the bytes of lost payments pay: those that cannot be read, and those that a journal has beside another payment.

import { encodeFunctionData, type Hex, keccak256 } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { TOKEN_ABI } from "../../../src/merchant/chains/evm/token-abi.ts";
import { onServer } from "../../setup/test-servers.ts";
import { AMOUNT, type EvmSetup, FINAL_AFTER, TOTAL, UNITS } from "./evm-setup.ts";
import { paymentsTo, rewriteJournal, testing } from "./lost-books.ts";
import { expectSoundBooks } from "./ordered.ts";

const { setup: now, resume, lose, changeTimeline } = testing();
const THIEF = "0x2222222222222222222222222222222222222222";

/** Orders and pays in a time that the books lose. Returns the transfer. */
async function loseOrder(setup: EvmSetup, externalId: string, to: Hex, { isMined = true } = {}): Promise<string> {
  await setup.runToEnd(setup.engine(), [await setup.orderTokens(await setup.recipient())]);
  let transferId = "";
  await lose(async (engine, database) => {
    const order = { currencyCode: "USDT", amount: AMOUNT, to, externalId };
    transferId = await setup.merchant.order(order, database);
    await engine.round();
    if (isMined) await setup.anvil.mine(FINAL_AFTER);
    await engine.round();
  });
  return transferId;
}

async function noticeLoss(setup: EvmSetup): Promise<void> {
  await changeTimeline();
  await setup.engine().round();
}

describe("a lost payment whose token is not configured", () => {
  it.each<[string, string, (setup: EvmSetup) => Record<string, string>, string]>([
    ["at all", "token-1", () => ({}), "does not have that contract; correct it"],
    ["but as another one", "token-2", ({ token }) => ({ USDC: token }), "does not have that contract but as USDC"],
    ["with another contract", "token-3", () => ({ USDT: `0x${"1".repeat(40)}` }), "does not have that contract"],
  ])("is not taken for nothing where it is not %s", async (_what, externalId, tokensOf, refusal) => {
    const setup = now();
    const [to, before] = [await setup.recipient(), await setup.available()];
    const transferId = await loseOrder(setup, externalId, to);
    await noticeLoss(setup);
    const chain = setup.chain(undefined, { tokens: tokensOf(setup) });
    const named = `pays transfer ${transferId} in USDT by the contract ${setup.token}: SALDO_ETHEREUM_TOKENS ${refusal}`;
    for (const adopts of [false, true]) await expect(resume({ adopts, chain })).rejects.toThrow(new RegExp(named, "i"));
    expect(await resume({ adopts: true })).toMatchObject({ adoptedPayments: 1, remadeTransfers: [transferId] });
    await setup.runToEnd(setup.engine(), [transferId]);
    expect(await paymentsTo(setup, to)).toEqual([UNITS]);
    expect(before - (await setup.available())).toBeCloseTo(2 * TOTAL, 6);
    await expectSoundBooks(setup.database);
  });

  it("is not taken for nothing where no journal has it and a transfer is open", async () => {
    const setup = now();
    const to = await setup.recipient();
    const open = await setup.orderTokens(to);
    await lose(async (engine) => {
      await engine.round();
      await setup.anvil.mine(FINAL_AFTER);
    });
    await rewriteJournal(setup, (entry) => (entry["transferId"] === open ? null : entry));
    await changeTimeline();
    await setup.engine().round();
    await setup.engine().round();
    const chain = setup.chain(undefined, { tokens: {} });
    await expect(resume({ adopts: true, chain })).rejects.toThrow(`pays transfer ${open} in USDT by the contract`);
    expect(await resume({ adopts: true })).toMatchObject({ adoptedPayments: 1 });
    await setup.runToEnd(setup.engine(), [open]);
    expect(await paymentsTo(setup, to)).toEqual([UNITS]);
  });
});

describe("a lost payment that waits for a block", () => {
  /** Each change of the journal's entry, and what is found. */
  const changes: readonly [string, string, RegExp][] = [
    [
      "another recipient",
      `transfer = jsonb_set(transfer, '{address}', '"${THIEF}"')`,
      /its bytes pay 0x\w+, the books 0x2222/,
    ],
    ["another amount", `transfer = jsonb_set(transfer, '{received}', '"7"')`, /its bytes pay 5000000, the books 7/],
    [
      "another token",
      `transfer = jsonb_set(transfer, '{currencyCode}', '"USDC"')`,
      /by the contract 0x\w+, and that of USDC is not set/,
    ],
    ["the chain's coin", `transfer = jsonb_set(transfer, '{currencyCode}', '"ETH"')`, /pay another currency than ETH/],
    ["bytes of no payment", "raw = '0x00'", /its bytes are no payment/],
    ["another nonce", "raw = $1, hash = $2", /its bytes have nonce \d+, the books \d+/],
    ["another hash", "raw = $3", /its bytes have the hash/],
    ["another signer", "raw = $3, hash = $4", /its bytes were signed by 0x/],
  ];

  it("is not sent again where its journal was changed, and goes on where it was not", async () => {
    const setup = now();
    const [to, before] = [await setup.recipient(), await setup.available()];
    const transferId = await loseOrder(setup, "changed-1", to, { isMined: false });
    await noticeLoss(setup);
    const { url } = setup.opened;
    const { rows } = await setup.database.pool.query("SELECT * FROM payout_lost_attempt WHERE resolved_at IS NULL");
    const [entry] = rows;
    const stranger = privateKeyToAccount(generatePrivateKey());
    const sign = (by: typeof stranger, nonce: number): Promise<Hex> =>
      by.signTransaction({
        type: "eip1559",
        chainId: 31_337,
        nonce,
        to: setup.token,
        data: encodeFunctionData({ abi: TOKEN_ABI, functionName: "transfer", args: [to, UNITS] }),
        gas: 120_000n,
        maxFeePerGas: 5n * 10n ** 9n,
        maxPriorityFeePerGas: 1n,
      });
    const later = await sign(privateKeyToAccount(setup.hot.privateKey), entry.nonce + 9);
    const foreign = await sign(stranger, entry.nonce);
    const values = [later, keccak256(later), foreign, keccak256(foreign)];
    for (const [what, change, found] of changes) {
      const used = change.replaceAll(/\$(\d)/g, (_match, number) => `'${values[Number(number) - 1]}'`);
      await onServer(url, `UPDATE payout_lost_attempt SET ${used} WHERE resolved_at IS NULL`);
      await expect(resume({ adopts: true }), what).rejects.toThrow(found);
      const own = `raw = '${entry.raw}', hash = '${entry.hash}', transfer = '${JSON.stringify(entry.transfer)}'`;
      await onServer(url, `UPDATE payout_lost_attempt SET ${own} WHERE resolved_at IS NULL`);
    }
    expect(await setup.pooled()).toEqual([entry.hash]);
    expect(await resume({ adopts: true })).toMatchObject({ adoptedPayments: 1, remadeTransfers: [transferId] });
    await setup.runToEnd(setup.engine(), [transferId]);
    expect(await paymentsTo(setup, to)).toEqual([UNITS]);
    expect(before - (await setup.available())).toBeCloseTo(2 * TOTAL, 6);
    await expectSoundBooks(setup.database);
  });

  it("is compared with the books where they have its transfer", async () => {
    const setup = now();
    const to = await setup.recipient();
    const open = await setup.orderTokens(to);
    await lose((engine) => engine.round());
    await noticeLoss(setup);
    const payTo = (address: string) =>
      onServer(setup.opened.url, `UPDATE transfer SET address = '${address}' WHERE id = '${open}'`);
    await payTo(THIEF);
    await expect(resume({ adopts: true })).rejects.toThrow(/its bytes pay 0x\w+, the books 0x2222/);
    await payTo(to);
    expect(await resume({ adopts: true })).toMatchObject({ adoptedPayments: 1 });
    await setup.runToEnd(setup.engine(), [open]);
    expect(await paymentsTo(setup, to)).toEqual([UNITS]);
  });
});
