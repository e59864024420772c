// The service in the process of the test, from the same start as `saldo serve`: for tests whose subject is what it answers. A process
// of its own takes seconds of a core to start; tests of starts, stops, kills and memory use `SaldoProcess`.

import { readConfig } from "../../src/app/config/config.ts";
import { createLog } from "../../src/app/observability/log.ts";
import { type Node, startNode } from "../../src/app/process/node.ts";
import { announcedIn } from "./announced.ts";
import type { LogLine } from "./saldo-process.ts";
import { environmentOf, SERVING_SETTINGS } from "./test-environment.ts";

type Ports = { readonly httpPort: number; readonly grpcPort: number; readonly metricsPort: number };

export class SaldoHere {
  readonly log: LogLine[] = [];
  readonly printed: string[] = [];
  #node: Node | null = null;
  #ports: Ports = { httpPort: 0, grpcPort: 0, metricsPort: 0 };

  private constructor() {}

  /** Starts the service on free ports, and waits until it serves. */
  static async start(settings: Readonly<Record<string, string>>): Promise<SaldoHere> {
    const saldo = new SaldoHere();
    const config = readConfig(environmentOf({ ...SERVING_SETTINGS, ...settings }));
    const output = { out: (text: string) => void saldo.printed.push(...text.split("\n")), onLog: () => {} };
    saldo.#node = await startNode(config, output, createLog(config.logLevel, { write: (line) => saldo.#take(line) }));
    return saldo;
  }

  get httpUrl(): string {
    return `http://127.0.0.1:${this.#ports.httpPort}`;
  }

  get grpcAddress(): string {
    return `127.0.0.1:${this.#ports.grpcPort}`;
  }

  get metricsUrl(): string {
    return `http://127.0.0.1:${this.#ports.metricsPort}`;
  }

  /** The first text of this form that the start announced, such as the demo key. */
  announced(form: RegExp): string {
    return announcedIn(this.printed, form);
  }

  async stop(): Promise<void> {
    await this.#node?.stop();
    this.#node = null;
  }

  #take(line: string): void {
    const entry = JSON.parse(line) as LogLine;
    this.log.push(entry);
    if (entry["event"] === "process.serving") this.#ports = entry as LogLine & Ports;
  }
}
