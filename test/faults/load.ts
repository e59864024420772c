// Customers who send one request after another, streamed and not, through every failure; and the final comparison: the
// costs they were shown, the bills and the balances agree.

import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { IDR, parseMoney } from "../../src/kernel/money.ts";
import { completion, ordinaryEvents, type Script, wire } from "../gateway/scripted-upstream.ts";
import type { SaldoProcess } from "../setup/saldo-process.ts";
import type { Billed, Customer, Seen, Service } from "./service.ts";

const BALANCE = 10_000_000_000n;
/** How long a client waits before it retries where no gateway answered. */
const PAUSE_MS = 20;

export type LoadOptions = {
  readonly clients: number;
  /** The gateway that a client calls now; undefined while there is none. */
  readonly node: () => Pick<SaldoProcess, "httpUrl"> | undefined;
  /** Called when an answer has arrived whole. */
  readonly onAcknowledged?: () => void;
};

/** Running clients. */
export class Load {
  readonly #service: Service;
  readonly #clients: { readonly customer: Customer; readonly seen: Seen[] }[] = [];
  #running: Promise<unknown> = Promise.resolve();
  #isOver = false;

  private constructor(service: Service) {
    this.#service = service;
  }

  /** Starts clients, each with an account of its own. */
  static async start(service: Service, { clients, node, onAcknowledged = () => {} }: LoadOptions): Promise<Load> {
    const load = new Load(service);
    for (let made = 0; made < clients; made += 1) {
      load.#clients.push({ customer: await service.customer(BALANCE), seen: [] });
    }
    load.#running = Promise.all(
      load.#clients.map((client, index) => load.#work(client, { node, onAcknowledged, index })),
    );
    return load;
  }

  /** How many answers arrived whole, with their cost. */
  get acknowledged(): number {
    return this.#clients.reduce((sum, { seen }) => sum + seen.filter(isAcknowledged).length, 0);
  }

  /** How many requests broke off or were refused. */
  get failed(): number {
    return this.#clients.reduce((sum, { seen }) => sum + seen.filter((each) => !isAcknowledged(each)).length, 0);
  }

  /** Every status of an answer. */
  get statuses(): Set<number> {
    const all = this.#clients.flatMap(({ seen }) => seen.map(({ status }) => status));
    return new Set(all.filter((status) => status !== null));
  }

  /** Waits until the running requests end, and begins no others. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  /**
   * Compares, once no hold is left, the costs that clients were shown with the bills. An acknowledged request is billed
   * at the shown cost, a refused one costs nothing, no request is billed twice, and balances have lost just that.
   */
  async reckon(what?: string): Promise<void> {
    for (const { customer, seen } of this.#clients) {
      const usage = await this.#service.usageOf(customer.accountId);
      const billed = new Map(usage.map((record) => [record.requestId, record.charge]));
      const acknowledged = seen.filter(isAcknowledged);
      expect(
        acknowledged.map(({ requestId }) => [requestId, billed.get(requestId ?? "")]),
        what,
      ).toEqual(acknowledged.map(({ requestId, costIdr }) => [requestId, parseMoney(costIdr ?? "", IDR).units]));
      const refused = seen.filter(({ status, broken }) => !broken && status !== 200);
      expect(
        refused.filter(({ requestId }) => (billed.get(requestId ?? "") ?? 0n) !== 0n),
        what,
      ).toEqual([]);
      expect(usage.length, what).toBeLessThanOrEqual(seen.length);
      const posted = BALANCE - usage.reduce((sum: bigint, { charge }: Billed) => sum + charge, 0n);
      const balance = await this.#service.balance(customer.accountId);
      expect(balance, what).toEqual({ posted, held: 0n, available: posted });
    }
  }

  async #work(
    { customer, seen }: { customer: Customer; seen: Seen[] },
    at: Pick<Required<LoadOptions>, "node" | "onAcknowledged"> & { index: number },
  ) {
    for (let asked = at.index; !this.#isOver; asked += 1) {
      const node = at.node();
      if (node !== undefined) seen.push(await this.#service.ask(node, customer, { stream: asked % 2 === 0 }));
      const last = seen.at(-1);
      if (node !== undefined && last !== undefined && isAcknowledged(last)) at.onAcknowledged();
      if (node === undefined || last === undefined || !isAcknowledged(last)) await sleep(PAUSE_MS);
    }
  }
}

function isAcknowledged({ status, broken, costIdr }: Seen): boolean {
  return status === 200 && !broken && costIdr !== null;
}

/** An upstream that begins a stream at once and sends everything else on command. */
export function waitHalfway(answerOn: Promise<unknown>): Script {
  return async (response, { body }) => {
    const { stream } = JSON.parse(body.toString()) as { stream?: boolean };
    const events = ordinaryEvents();
    if (stream === true) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(wire(events.slice(0, 2)));
    }
    await answerOn;
    if (stream === true) response.end(wire(events.slice(2)));
    else response.writeHead(200, { "content-type": "application/json" }).end(completion());
  };
}

/** An upstream that takes a moment for every answer. */
export const busyUpstream: Script = (response, received, call) => waitHalfway(sleep(10))(response, received, call);
