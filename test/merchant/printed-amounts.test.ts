// The amounts of a transfer as a caller reads them: the digits themselves, as in the answer of the REST API.

import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import {
  CreateTransferResponseSchema,
  MerchantTransferService,
} from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import { routesOf } from "../../src/transport/rest/http-rules.ts";
import { writeAnswer } from "../../src/transport/rest/write-answer.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { parseDecimal } from "../../src/kernel/decimal.ts";
import { parseAmount } from "../../src/merchant/transfers/amount.ts";
import { coins } from "../../src/merchant/chains/currencies.ts";
import { FEE_DECIMALS } from "../../src/merchant/merchants/fee-schedule.ts";
import { toProtoTransfer } from "../../src/merchant/proto-transfer.ts";
import { priceTransfer } from "../../src/merchant/transfers/quote.ts";
import { chooseSeed, seededRandom } from "../money/random.ts";

const AMOUNTS = 100_000;
const PRINTED = /"amount":([^,]+),"totalAmount":([^,]+),"fee":([^,]+),"receivedAmount":([^,]+),/;
const PLAIN = /^(0|[1-9]\d*)(\.\d*[1-9])?$/;

test("is the sum of the received amount and the fee in every printed digit, for 100 000 random amounts", () => {
  const seed = chooseSeed();
  const random = seededRandom(seed);
  const whole = (below: number): number => Math.floor(random() * below);
  const digits = (length: number): string => Array.from({ length }, () => whole(10)).join("");
  const [route] = routesOf(MerchantTransferService.method.createTransfer);
  if (route === undefined) throw new Error("createTransfer has a route");
  const at = new Date(0);
  const facts = {
    transferId: uuidv7(),
    merchantId: uuidv7(),
    environment: "sandbox",
    externalId: "x",
    slug: "x",
  } as const;
  const standing = { status: "PENDING", transactionHash: null, confirmations: 0, reason: null } as const;
  const times = { createdAt: at, updatedAt: at, confirmedAt: null, awaitsApproval: false };
  const wrong: string[] = [];
  for (let i = 0; i < AMOUNTS; i += 1) {
    const coin = coins[whole(coins.length)];
    if (coin === undefined) throw new Error("there are coins");
    const amountText = `${BigInt(digits(1 + whole(11)))}.${digits(whole(coin.decimals))}1`;
    const term = (): bigint => parseDecimal(`${whole(3)}.${digits(whole(FEE_DECIMALS))}1`, FEE_DECIMALS);
    const feeRow = {
      id: "row",
      merchantId: null,
      currencyCode: null,
      version: 1,
      createdAt: at,
      flat: term(),
      rate: term(),
      min: null,
      max: null,
    };
    const quote = priceTransfer({ coin, received: parseAmount(amountText, coin), feeRow });
    const order = { ...facts, ...quote, isNetworkImplied: true, address: "x", orderedAddress: "x", feeRowId: "row" };
    const transfer = toProtoTransfer({ ...order, ...standing, ...times });
    const text = writeAnswer(route, create(CreateTransferResponseSchema, { transfer }));
    const [, amount = "", total = "", fee = "", received = ""] = PRINTED.exec(text) ?? [];
    const isPlain = [amount, total, fee, received].every((each) => PLAIN.test(each));
    if (!isPlain || amount !== total || received !== amountText || !addsUp(received, fee, total)) {
      wrong.push(`seed ${seed}: ${coin.currencyCode} ${amountText}: ${received} + ${fee} = ${total}`);
    }
  }
  expect(wrong.slice(0, 5)).toEqual([]);
});

/** Whether two plain decimals come to a third, in units finer than any of them. */
function addsUp(a: string, b: string, sum: string): boolean {
  const units = (text: string): bigint => {
    const [whole = "", fraction = ""] = text.split(".");
    return BigInt(whole + fraction.padEnd(20, "0"));
  };
  return units(a) + units(b) === units(sum);
}
