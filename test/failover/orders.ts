// A merchant that orders transfers during the drill, each under a name of its own until it is acknowledged, and the comparison.

import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { createTransfer } from "../../src/merchant/transfers/create-transfer.ts";
import { findCoin } from "../../src/merchant/chains/currencies.ts";
import { merchantWith } from "../merchant/merchant-accounts.ts";
import { eventually } from "./machine.ts";

const CURRENCY = "USDT";
const FUNDED = "1000000";
const UNITS_PER_COIN = 1_000_000n;
const PAUSE_MS = 200;

export class Orders {
  readonly #database: Database;
  readonly #merchantId: string;
  readonly #acknowledged = new Map<string, string>();
  #retried = 0;
  #isOver = false;
  #running: Promise<void> = Promise.resolve();

  private constructor(database: Database, merchantId: string) {
    this.#database = database;
    this.#merchantId = merchantId;
  }

  static async start(database: Database): Promise<Orders> {
    const { merchantId } = await merchantWith(database, { [CURRENCY]: FUNDED });
    const orders = new Orders(database, merchantId);
    orders.#running = orders.#work();
    return orders;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  /**
   * Each name has one transfer, the acknowledged one. The chain has one payment of each that is confirmed, and none of those that were given
   * up, because an outage was longer than the sandbox waits for what was signed and never sent.
   */
  async reckon(): Promise<{ ordered: number; acknowledged: number; givenUp: number }> {
    const { pool } = this.#database;
    await this.#untilEnded();
    // One join of all: the settings of a serving session would read whole tables again for each transfer.
    const { rows } = await pool.query<{ external_id: string; id: string; status: string; mined: number }>(
      `SELECT t.external_id, t.id, t.status, count(s.hash)::int AS mined FROM transfer t
       LEFT JOIN payout p ON p.transfer_id = t.id
       LEFT JOIN payout_attempt a ON a.payout_id = p.id AND a.kind = 'payment'
       LEFT JOIN sandbox_transaction s ON s.hash = a.hash AND s.mined_at_ms IS NOT NULL
       WHERE t.merchant_id = $1 GROUP BY t.id, t.external_id, t.status ORDER BY t.id`,
      [this.#merchantId],
    );
    const booked = rows.map(({ external_id: name, id }) => [name, id]);
    expect(booked).toEqual([...this.#acknowledged]);
    const due = new Map([
      ["CONFIRMED", 1],
      ["REJECTED", 0],
    ]);
    expect(rows.filter(({ status, mined }) => mined !== due.get(status))).toEqual([]);
    expect(await this.#unspent()).toEqual({ posted: BigInt(FUNDED) * UNITS_PER_COIN, held: 0n });
    const givenUp = rows.filter(({ status }) => status === "REJECTED").length;
    return { ordered: rows.length, acknowledged: rows.length - this.#retried, givenUp };
  }

  /** What the merchant has, and would have had without any of the confirmed transfers. */
  async #unspent(): Promise<{ posted: bigint; held: bigint }> {
    const { rows } = await this.#database.pool.query<{ posted: string; held: string }>(
      `SELECT f.posted + (SELECT coalesce(sum(total), 0) FROM transfer WHERE merchant_id = $1 AND status = 'CONFIRMED') AS posted, f.held
       FROM merchant_fund f WHERE f.merchant_id = $1`,
      [this.#merchantId],
    );
    const [fund] = rows;
    if (fund === undefined || rows.length > 1) throw new Error("the merchant has one fund");
    return { posted: BigInt(fund.posted), held: BigInt(fund.held) };
  }

  /** A backlog of an hour is paid as long as it grows shorter. */
  async #untilEnded(): Promise<void> {
    for (let open = await this.#open(); open.length > 0;) {
      const before = open.length;
      const shorter = `fewer than ${before} transfers wait, such as ${JSON.stringify(open[0])}`;
      await eventually(shorter, async () => (open = await this.#open()).length < before);
    }
  }

  async #open(): Promise<unknown[]> {
    const waiting = `SELECT id, status FROM transfer
      WHERE merchant_id = $1 AND status NOT IN ('CONFIRMED', 'REJECTED') ORDER BY id`;
    return (await this.#database.pool.query(waiting, [this.#merchantId])).rows;
  }

  async #work(): Promise<void> {
    for (let number = 1; !this.#isOver; number += 1) {
      const externalId = `order-${number}`;
      let tries = 0;
      while (!this.#acknowledged.has(externalId)) {
        tries += 1;
        try {
          this.#acknowledged.set(externalId, await this.#order(externalId));
        } catch {
          // It is sent again under the same name until there is an answer.
          await sleep(PAUSE_MS);
        }
      }
      if (tries > 1) this.#retried += 1;
      await sleep(PAUSE_MS);
    }
  }

  async #order(externalId: string): Promise<string> {
    const { network } = findCoin(CURRENCY);
    const sources = {
      database: this.#database,
      checkAddress: () => ({ network, normalized: "drill" }),
      isServed: () => true,
    };
    const order = { currencyCode: CURRENCY, amountText: "1", network: "", address: "drill", externalId };
    const by = { merchantId: this.#merchantId, environment: "sandbox" } as const;
    return (await createTransfer(sources, { ...by, ...order })).transfer.transferId;
  }
}
