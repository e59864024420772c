// A merchant with callbacks, its transfers, and the deliverer: for the tests of callbacks.

import { afterAll, beforeAll } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { updateCallbackSettings } from "../../src/merchant/callbacks/callback-settings.ts";
import {
  createMerchantDeliverer,
  type MerchantDelivererOptions,
} from "../../src/merchant/callbacks/transfer-messages.ts";
import type { CallbackDeliverer } from "../../src/callbacks/deliver-callbacks.ts";
import type { Delivery } from "../../src/callbacks/delivery-log.ts";
import { MERCHANT_CALLBACKS } from "../../src/merchant/callbacks/store.ts";
import type { TransferStatus } from "../../src/merchant/transfers/transfer.ts";
import { moveTransfer } from "../../src/merchant/transfers/transfer-states.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { CallbackReceiver } from "./callback-receiver.ts";
import { merchantWith, orderTransfer } from "./merchant-accounts.ts";

export type CalledMerchant = { readonly merchantId: string; readonly token: string; readonly secret: string };

/** The environment of a test file of callbacks. */
export class CallbackSetup {
  database!: Database;
  readonly errors: unknown[] = [];
  readonly stopped: string[] = [];
  readonly #receivers: CallbackReceiver[] = [];
  readonly #deliverers: CallbackDeliverer[] = [];
  #testDatabase: TestDatabase | undefined;

  /** Makes one before the tests of a file and removes it after them. */
  static forFile(): CallbackSetup {
    const setup = new CallbackSetup();
    beforeAll(async () => {
      setup.#testDatabase = await createTestDatabase();
      setup.database = setup.#testDatabase.database;
    });
    afterAll(async () => {
      // A receiver that never answers would be waited for.
      await Promise.all(setup.#receivers.map((receiver) => receiver.close()));
      await Promise.all(setup.#deliverers.map((deliverer) => deliverer.stop()));
      await setup.#testDatabase?.drop();
    });
    return setup;
  }

  async receiver(): Promise<CallbackReceiver> {
    const receiver = await CallbackReceiver.listen();
    this.#receivers.push(receiver);
    return receiver;
  }

  /** The deliverer. Retries wait as long as they may. */
  deliverer(options: Partial<MerchantDelivererOptions> = {}): CallbackDeliverer {
    const deliverer = createMerchantDeliverer({
      database: this.database,
      allowLoopback: true,
      writeBody: (transfer, history) =>
        JSON.stringify({ data: { id: transfer.transferId, status: transfer.status, events: history.length } }),
      onStopped: (merchantId) => this.stopped.push(merchantId),
      onError: (error) => this.errors.push(error),
      random: () => 0,
      ...options,
    });
    this.#deliverers.push(deliverer);
    return deliverer;
  }

  /** A merchant with coins, whose callbacks go to the receiver. */
  async merchant(url: string): Promise<CalledMerchant> {
    const { merchantId } = await merchantWith(this.database, { TRX: "1000" });
    return { merchantId, ...(await this.setUrl(merchantId, url)) };
  }

  /** Sets a merchant's callback address, this machine included. The first time there are a token and a secret. */
  async setUrl(merchantId: string, url: string): Promise<{ token: string; secret: string }> {
    const change = { merchantId, url, token: "", renewSecret: false };
    return updateCallbackSettings({ database: this.database, allowLoopback: true }, change);
  }

  /** A transfer of a merchant; it is PENDING, and that is an event. */
  async transfer({ merchantId }: Pick<CalledMerchant, "merchantId">): Promise<string> {
    return (await orderTransfer(this.database, { merchantId })).transfer.transferId;
  }

  /** Moves a transfer along the usual way up to a status. */
  async move(transferId: string, to: TransferStatus): Promise<void> {
    const from = ["PENDING", "SUBMITTED"] as const;
    const move = { transferId, from, to, ...(to === "SUBMITTED" ? { transactionHash: "0xabc" } : {}) };
    await withTransaction(this.database, (client) => moveTransfer(client, move));
  }

  /** Delivers what is due, and waits for it. */
  async deliver(deliverer: CallbackDeliverer): Promise<void> {
    await deliverer.round();
    await deliverer.idle();
  }

  /** Delivers and makes due what is to be tried again, so many times. */
  async deliverAgain(deliverer: CallbackDeliverer, merchantId: string, times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      await this.makeDue(merchantId);
      await this.deliver(deliverer);
    }
  }

  /** Lets the time pass that deliveries of a merchant wait for. */
  async makeDue(merchantId: string): Promise<void> {
    await this.database.pool.query(
      `UPDATE callback_delivery SET next_attempt_at = clock_timestamp() WHERE merchant_id = $1 AND state = 'pending'`,
      [merchantId],
    );
  }

  /** The deliveries of a merchant, oldest first. */
  async deliveries(merchantId: string): Promise<Delivery[]> {
    const page = { receiverId: merchantId, subjectId: null, before: null, limit: 1_000 };
    return (await MERCHANT_CALLBACKS.log.readPage(this.database.pool, page)).toReversed();
  }
}
