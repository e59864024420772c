// A process that dies while it takes a merchant's order: the client repeats the order, as it must, and is debited once.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TRANSFER_FAILPOINTS } from "../../src/kernel/failpoint.ts";
import { audit } from "../../src/ledger/audit/audit.ts";
import { topicAudits } from "../../src/app/compose/topic-audits.ts";
import { newMerchant } from "../merchant/merchant-accounts.ts";
import { creditMerchant, listBalances } from "../../src/merchant/merchants/merchants.ts";
import { setLimits } from "../../src/merchant/merchants/limits.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { SOUND } from "../money/money-setup.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

/** Whether the order was there already when the client repeated it. */
const REPLAYED = { "before-transfer-commit": null, "after-transfer-commit": "true" } as const;
const ORDER = {
  externalId: "order 1",
  currencyCode: "TRX",
  amount: 5,
  address: "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC",
};

describe("a process that dies while it takes an order at", () => {
  let opened: TestDatabase;
  let settings: Record<string, string>;
  let living: SaldoHere;
  beforeAll(async () => {
    opened = await createTestDatabase();
    settings = { DATABASE_URL: opened.url };
    living = await SaldoHere.start(settings);
  });
  afterAll(async () => {
    await living.stop();
    await opened.drop();
  });

  /** The header of a merchant whose transfers wait, so that nothing is paid while the test looks. */
  async function patientMerchant(): Promise<{ merchantId: string; authorization: string }> {
    const { database } = opened;
    const { merchantId, apiKey, secretKey } = await newMerchant(database);
    await creditMerchant(database, { merchantId, currencyCode: "TRX", amountText: "100" });
    const limits = { merchantId, currencyCode: "TRX", perTransfer: "", daily: "", approvalAbove: "0" };
    await withTransaction(database, (client) => setLimits(client, limits));
    return { merchantId, authorization: `Basic ${Buffer.from(`${apiKey}:${secretKey}`).toString("base64")}` };
  }

  const send = (process: Pick<SaldoProcess, "httpUrl">, authorization: string): Promise<Response> =>
    fetch(`${process.httpUrl}/sandbox/v1/merchant-transfers/create`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(ORDER),
    });

  it.each(TRANSFER_FAILPOINTS)("%s leaves a transfer and its hold, or neither", async (place) => {
    const { merchantId, authorization } = await patientMerchant();
    const mortal = await SaldoProcess.start({ ...settings, SALDO_FAILPOINT: place });
    await expect(send(mortal, authorization)).rejects.toThrow("fetch failed");
    await mortal.untilEnd();
    expect(await mortal.stop()).toBeNull();

    const again = await send(living, authorization);
    expect([again.status, again.headers.get("x-saldo-replayed")]).toEqual([200, REPLAYED[place]]);
    expect(await listBalances(opened.database, merchantId)).toEqual([
      { currencyCode: "TRX", available: "78.3", held: "21.7" },
    ]);
    expect(await audit(opened.database.pool, { topics: topicAudits() })).toEqual(SOUND);
  });
});
