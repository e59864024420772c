// What the tests of payouts look at, whatever the chain: ordering, the state of a transfer, and the books behind it.

import { expect } from "vitest";
import type { Environment } from "../../../src/identity/principal.ts";
import type { Database } from "../../../src/database/database.ts";
import { withTransaction } from "../../../src/database/transactions.ts";
import { uuidv7 } from "../../../src/kernel/ids.ts";
import { topicAudits } from "../../../src/app/compose/topic-audits.ts";
import { audit } from "../../../src/ledger/audit/audit.ts";
import { createTransfer } from "../../../src/merchant/transfers/create-transfer.ts";
import { findCoin } from "../../../src/merchant/chains/currencies.ts";
import { setLimits } from "../../../src/merchant/merchants/limits.ts";
import { creditMerchant, listBalances } from "../../../src/merchant/merchants/merchants.ts";
import { type PayoutRecord, readPayoutHistory } from "../../../src/merchant/payouts/payout-history.ts";
import type { Transfer } from "../../../src/merchant/transfers/transfer.ts";
import { readEvents, readTransfer } from "../../../src/merchant/transfers/transfer-store.ts";
import { SOUND } from "../../money/money-setup.ts";
import { newMerchant } from "../merchant-accounts.ts";

export type Order = {
  readonly currencyCode: string;
  readonly amount: string;
  readonly to: string;
  /** Absent: another name for each. */
  readonly externalId?: string;
};

/** A merchant of an environment and its transfers. */
export class OrderingMerchant {
  readonly #database: Database;
  readonly #environment: Environment;
  readonly merchantId: string;

  private constructor(database: Database, environment: Environment, merchantId: string) {
    this.#database = database;
    this.#environment = environment;
    this.merchantId = merchantId;
  }

  /** With so many coins. */
  static async open(
    database: Database,
    environment: Environment,
    coins: Readonly<Record<string, string>>,
  ): Promise<OrderingMerchant> {
    const { merchantId } = await newMerchant(database, environment);
    for (const [currencyCode, amountText] of Object.entries(coins)) {
      await creditMerchant(database, { merchantId, currencyCode, amountText });
      // What production merchants may order is tried elsewhere.
      const none = { perTransfer: "", daily: "", approvalAbove: "" };
      await withTransaction(database, (client) => setLimits(client, { merchantId, currencyCode, ...none }));
    }
    return new OrderingMerchant(database, environment, merchantId);
  }

  /** Orders a transfer to an address that was checked elsewhere, in these books or others. */
  async order(
    { currencyCode, amount, to, externalId = `order-${uuidv7()}` }: Order,
    database = this.#database,
  ): Promise<string> {
    const { network } = findCoin(currencyCode);
    const { transfer } = await createTransfer(
      {
        database,
        checkAddress: () => ({ network, normalized: to }),
        isServed: () => true,
      },
      {
        merchantId: this.merchantId,
        environment: this.#environment,
        externalId,
        currencyCode,
        amountText: amount,
        network: "",
        address: to,
      },
    );
    return transfer.transferId;
  }

  /** The account it belongs to. */
  async accountId(): Promise<string> {
    const { rows } = await this.#database.pool.query<{ account_id: string }>(
      "SELECT account_id FROM merchant WHERE id = $1",
      [this.merchantId],
    );
    return rows[0]?.account_id ?? "";
  }

  async transfer(transferId: string): Promise<Transfer> {
    const transfer = await readTransfer(this.#database.pool, transferId);
    if (transfer === undefined) throw new Error("there is no such transfer");
    return transfer;
  }

  /** Every status it has been in. */
  async statuses(transferId: string): Promise<string[]> {
    return (await readEvents(this.#database.pool, transferId)).map(({ status }) => status);
  }

  history(transferId: string): Promise<PayoutRecord[]> {
    return readPayoutHistory(this.#database.pool, transferId);
  }

  /** What the merchant has of a currency, and what is held of it. */
  async balance(currencyCode: string): Promise<{ available: string; held: string }> {
    const found = (await listBalances(this.#database, this.merchantId)).find(
      (each) => each.currencyCode === currencyCode,
    );
    return { available: found?.available ?? "0", held: found?.held ?? "0" };
  }
}

/** Whether a transfer has ended. */
export function hasEnded({ status }: Transfer): boolean {
  return status === "CONFIRMED" || status === "REJECTED" || status === "CANCELED";
}

/** The books are in order, and no payment was posted that the chain has not seen. */
export async function expectSoundBooks({ pool }: Database): Promise<void> {
  expect(await audit(pool, { topics: topicAudits() })).toEqual(SOUND);
}
