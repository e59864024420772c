// Requests without a pause to two nodes that are stopped and started meanwhile.

import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { chat } from "./customer.ts";

/** What each of them asks. */
export const HELLO = { model: "demo/small", messages: [{ role: "user", content: "Hello!" }] };
const LOOK_MS = 20;
const BUSY = '"error":"upstream_busy"';

/**
 * Clients behind a balancer: it asks a node as long as that is ready, and asks the other when the port is closed, because
 * then nothing can have been done.
 */
export class RollingLoad {
  /** The request ids of whole answers. */
  readonly answered: string[] = [];
  readonly failures: string[] = [];
  /** Clean refusals: 503, with the time after which to ask again. */
  refused = 0;
  sentElsewhere = 0;
  /** The longest time that an answer took since this was set to 0. */
  slowestMs = 0;
  ended = false;
  readonly #ports: readonly number[];
  readonly #key: string;
  readonly #isReady = [true, true];

  constructor(ports: readonly number[], key: string) {
    this.#ports = ports;
    this.#key = key;
  }

  async run(client: number): Promise<void> {
    for (let asked = client; !this.ended; asked += 1) await this.#ask(asked % 2, asked % 3 === 0);
  }

  /** Looks after a node as a balancer does. */
  async watch(node: number): Promise<void> {
    while (!this.ended) {
      this.#isReady[node] = await fetch(`http://127.0.0.1:${this.#ports[node]}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
      await sleep(LOOK_MS);
    }
  }

  /** Waits until this many more were answered. */
  async answeredMore(count: number): Promise<void> {
    const goal = this.answered.length + count;
    await expect.poll(() => this.answered.length + this.failures.length, { timeout: 120_000 }).toBeGreaterThan(goal);
  }

  async #ask(wanted: number, stream: boolean): Promise<void> {
    const node = this.#isReady[wanted] === true ? wanted : 1 - wanted;
    if (node !== wanted) this.sentElsewhere += 1;
    const sentAt = performance.now();
    try {
      const answer = await chat(`http://127.0.0.1:${this.#ports[node]}`, this.#key, { ...HELLO, stream });
      const text = await answer.text();
      this.slowestMs = Math.max(this.slowestMs, performance.now() - sentAt);
      const whole = stream ? text.trimEnd().endsWith("data: [DONE]") : text.includes('"cost_idr"');
      const isRefusal = answer.status === 503 && Number(answer.headers.get("retry-after")) > 0 && text.includes(BUSY);
      if (isRefusal) this.refused += 1;
      else if (answer.status === 200 && whole) this.answered.push(answer.headers.get("x-request-id") ?? "");
      else this.failures.push(`${answer.status} ${text.slice(-300)}`);
    } catch (error) {
      if (causeOf(error) !== "ECONNREFUSED") return void this.failures.push(causeOf(error));
      await sleep(LOOK_MS);
      if (!this.ended) await this.#ask(1 - node, stream);
    }
  }
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && "code" in cause ? String(cause.code) : String(cause ?? error);
}
