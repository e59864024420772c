// The two gateways, each on a port of its own that it keeps across restarts; and which of them are ready, as a balancer
// would see it.

import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { SaldoProcess } from "../setup/saldo-process.ts";

const ENTRY = fileURLToPath(new URL("../../src/main.js", import.meta.url));
/** Those of `npm start`. */
const START_FLAGS = ["--max-semi-space-size=32", "--heap-growing-percent=60"];
const LOOK_MS = 50;
/** A gateway that does not answer its probe by then counts as not ready. */
const PROBE_WITHIN_MS = 1_000;
/** Restarting while the database may be away. */
const START_TRIES = 30;
const START_PAUSE_MS = 500;

export type Gateway = {
  readonly url: string;
  process: SaldoProcess;
  isReady: boolean;
};

export class Gateways {
  readonly all: Gateway[] = [];
  readonly #settings: Readonly<Record<string, string>>;
  readonly #ports: readonly number[];
  readonly #closing = new AbortController();
  #watching: Promise<void>[] = [];

  private constructor(settings: Readonly<Record<string, string>>, ports: readonly number[]) {
    this.#settings = settings;
    this.#ports = ports;
  }

  static async start(settings: Readonly<Record<string, string>>, ports: readonly number[]): Promise<Gateways> {
    const gateways = new Gateways(settings, ports);
    for (const [index, port] of ports.entries()) {
      const process = await gateways.#spawn(index, {});
      gateways.all.push({ url: `http://127.0.0.1:${port}`, process, isReady: true });
    }
    gateways.#watching = gateways.all.map((gateway) => gateways.#watch(gateway));
    return gateways;
  }

  at(index: number): Gateway {
    const gateway = this.all[index];
    if (gateway === undefined) throw new Error("there are two gateways");
    return gateway;
  }

  /** One that is ready; any when none is. */
  choose(random: () => number): Gateway {
    const ready = this.all.filter(({ isReady }) => isReady);
    const among = ready.length > 0 ? ready : this.all;
    return this.at(this.all.indexOf(among[Math.floor(random() * among.length)] ?? this.at(0)));
  }

  /** Starts a gateway that has ended, as often as it takes. */
  async startAgain(index: number, more: Readonly<Record<string, string>> = {}): Promise<void> {
    this.at(index).process = await this.#spawn(index, more);
  }

  get areReady(): boolean {
    return this.all.every(({ isReady }) => isReady);
  }

  /** Stops both. Returns the exit codes. */
  async stop(): Promise<(number | null)[]> {
    this.#closing.abort();
    await Promise.all(this.#watching);
    return Promise.all(this.all.map(({ process }) => process.stop()));
  }

  async #spawn(index: number, more: Readonly<Record<string, string>>): Promise<SaldoProcess> {
    const settings = { ...this.#settings, SALDO_HTTP_PORT: String(this.#ports[index]), ...more };
    for (let attempt = 1; ; attempt += 1) {
      try {
        // As its users run it: what compares the answers of tests keeps copies of them, which would be measured as well.
        return await SaldoProcess.startProgram([...START_FLAGS, ENTRY], settings);
      } catch (error) {
        // The database may be away, which a service manager would meet in the same way.
        if (attempt === START_TRIES) throw error;
        await sleep(START_PAUSE_MS);
      }
    }
  }

  async #watch(gateway: Gateway): Promise<void> {
    while (!this.#closing.signal.aborted) {
      gateway.isReady = await fetch(`${gateway.url}/readyz`, { signal: AbortSignal.timeout(PROBE_WITHIN_MS) }).then(
        async (answer) => {
          await answer.arrayBuffer();
          return answer.ok;
        },
        () => false,
      );
      await sleep(LOOK_MS);
    }
  }
}
