// A gateway process that is attacked while a customer pays: what it measures of itself, and what the customer is answered.

import { setTimeout as sleep } from "node:timers/promises";
import { type Customer, Service } from "../../faults/service.ts";
import { completion, json } from "../../gateway/scripted-upstream.ts";
import type { SaldoProcess } from "../../setup/saldo-process.ts";
import { createTestDatabase } from "../../setup/test-database.ts";

const PAUSE_MS = 50;
const WARM_UP = 500;
const BALANCE = 1_000_000_000n;

export type Measured = {
  /** The longest time for which the event loop of the gateway did nothing else, in milliseconds. */
  readonly longestStallMs: number;
  readonly memoryMiB: number;
};

export class GatewayUnderAttack {
  readonly gateway: SaldoProcess;
  readonly customer: Customer;
  readonly #service: Service;
  readonly #drop: () => Promise<void>;
  #ended = false;

  private constructor(facts: {
    gateway: SaldoProcess;
    customer: Customer;
    service: Service;
    drop: () => Promise<void>;
  }) {
    this.gateway = facts.gateway;
    this.customer = facts.customer;
    this.#service = facts.service;
    this.#drop = facts.drop;
  }

  static async start(): Promise<GatewayUnderAttack> {
    const opened = await createTestDatabase();
    const service = await Service.create(opened.url);
    service.upstream.run(json(completion()));
    const gateway = await service.node();
    const customer = await service.customer(BALANCE);
    void gateway.untilEnd().then(() => (under.#ended = true));
    const under = new GatewayUnderAttack({ gateway, customer, service, drop: () => opened.drop() });
    // A process that has just started grows by itself with its first requests.
    for (let paid = 0; paid < WARM_UP; paid += 10) await Promise.all(Array.from({ length: 10 }, () => under.pay()));
    return under;
  }

  get isAlive(): boolean {
    return !this.#ended;
  }

  /** What the gateway has measured since it was asked the last time. */
  async measure(): Promise<Measured> {
    const text = await (await fetch(`${this.gateway.metricsUrl}/metrics`)).text();
    const valueOf = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
    return {
      longestStallMs: valueOf("nodejs_eventloop_lag_max_seconds") * 1_000,
      memoryMiB: valueOf("process_resident_memory_bytes") / 2 ** 20,
    };
  }

  /** One request of the customer; gives its status. */
  async pay(): Promise<number | null> {
    return (await this.#service.ask(this.gateway, this.customer)).status;
  }

  /** Runs an attack while the customer pays. Gives what it came to, and what the customer was answered, status by status. */
  async whilePaying<Outcome>(
    attack: () => Promise<Outcome>,
  ): Promise<{ outcome: Outcome; paid: Record<string, number> }> {
    const paid: Record<string, number> = {};
    const done = new AbortController();
    const paying = (async () => {
      do {
        const status = String(await this.pay());
        paid[status] = (paid[status] ?? 0) + 1;
        await sleep(PAUSE_MS);
      } while (!done.signal.aborted);
    })();
    try {
      return { outcome: await attack(), paid };
    } finally {
      done.abort();
      await paying;
    }
  }

  async close(): Promise<void> {
    await this.#service.close();
    await this.#drop();
  }
}
