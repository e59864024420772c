// What the audit finds in bytes that were really signed: each is signed here by a key, and stored beside books of another payment.

import { encodeFunctionData, type Hex, keccak256 } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { TOKEN_ABI } from "../chains/evm/token-abi.ts";
import { wrongBytes } from "./audit-signed-bytes.ts";

const wallet = privateKeyToAccount(generatePrivateKey());
const stranger = privateKeyToAccount(generatePrivateKey());
const RECIPIENT = "0x1111111111111111111111111111111111111111";
const THIEF = "0x2222222222222222222222222222222222222222";
const CONTRACT = "0x3333333333333333333333333333333333333333";

type Order = { by?: typeof wallet; nonce?: number; to?: Hex; value?: bigint; data?: Hex };

const sign = ({ by = wallet, nonce = 7, to = RECIPIENT, value = 5n, data }: Order): Promise<Hex> =>
  by.signTransaction({
    type: "eip1559",
    chainId: 1,
    nonce,
    to,
    value,
    gas: 100_000n,
    maxFeePerGas: 30n,
    maxPriorityFeePerGas: 1n,
    ...(data && { data }),
  });

const tokens = (to: Hex, units: bigint): Order => ({
  to: CONTRACT,
  value: 0n,
  data: encodeFunctionData({ abi: TOKEN_ABI, functionName: "transfer", args: [to, units] }),
});

/** The books of an attempt: 5 units of the chain's coin to the recipient, with nonce 7. */
async function attempt(order: Order, books: Record<string, unknown> = {}) {
  const raw = await sign(order);
  const row = { payout: "p", number: 1, kind: "payment", raw, hash: keccak256(raw), nonce: 7, chain: "ethereum" };
  return { ...row, wallet: wallet.address, recipient: RECIPIENT, units: "5", currency: "ETH", ...books };
}

async function problems(row: object, full = true): Promise<string[]> {
  const check = wrongBytes(full)("the ids of a page");
  const look = <Row extends object>(): Promise<Row[]> => Promise.resolve([row as Row]);
  return (await check(look, ["first", "last"])).map(({ detail }) => detail.replace("attempt 1: its bytes ", ""));
}

describe("the audit of signed bytes", () => {
  it("finds nothing in bytes that pay their transfer", async () => {
    const filler = { kind: "filler" };
    expect([
      await problems(await attempt({})),
      await problems(await attempt({ nonce: 0 }, { nonce: 0 })),
      await problems(await attempt({}, { recipient: RECIPIENT.toUpperCase().replace("0X", "0x") })),
      await problems(await attempt(tokens(RECIPIENT, 5n), { currency: "USDT" })),
      await problems(await attempt({ to: wallet.address, value: 0n }, filler)),
      await problems(await attempt({ to: wallet.address, value: 0n }, { ...filler, currency: "USDT" })),
    ]).toEqual([[], [], [], [], [], []]);
  });

  it("finds another recipient, amount, currency, nonce, hash and key", async () => {
    expect([
      await problems(await attempt({ to: THIEF })),
      await problems(await attempt({ value: 6n })),
      await problems(await attempt(tokens(THIEF, 5n), { currency: "USDT" })),
      await problems(await attempt(tokens(RECIPIENT, 50n), { currency: "USDT" })),
      await problems(await attempt({}, { currency: "USDT" })),
      await problems(await attempt(tokens(RECIPIENT, 5n))),
      await problems(await attempt({ nonce: 8 })),
      await problems(await attempt({}, { hash: "0xother" })),
      await problems(await attempt({ by: stranger })),
      await problems(await attempt({}, { kind: "filler" })),
    ]).toEqual([
      [`pay ${THIEF}, the books ${RECIPIENT}`],
      ["pay 6, the books 5"],
      [`pay ${THIEF}, the books ${RECIPIENT}`],
      ["pay 50, the books 5"],
      ["pay another currency than USDT"],
      ["pay another currency than ETH"],
      ["have nonce 8, the books 7"],
      [`have the hash ${keccak256(await sign({}))}`],
      [`were signed by ${stranger.address}`],
      [`pay ${RECIPIENT}, the books ${wallet.address}`],
    ]);
  });

  it("finds bytes that are no payment at all", async () => {
    const other = await attempt({ to: CONTRACT, value: 0n, data: "0x12345678" });
    const both = await attempt({ ...tokens(RECIPIENT, 5n), value: 5n });
    for (const row of [other, both, { ...other, raw: "0x02" }, { ...other, raw: "no bytes" }])
      expect(await problems(row)).toEqual(["are no payment"]);
  });

  it("looks at keys in a full run only", async () => {
    expect(await problems(await attempt({ by: stranger }), false)).toEqual([]);
  });
});
