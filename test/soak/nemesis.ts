// Applies faults to the gateways, to PostgreSQL and to the connections between them.

import { setTimeout as sleep } from "node:timers/promises";
import { isAlive } from "../../src/database/embedded/postmaster.ts";
import { clientConfig, withClient } from "../../src/database/connections.ts";
import type { Fault as ProxyFault } from "../faults/postgres-link.ts";
import type { PostgresProxy } from "../faults/postgres-proxy.ts";
import { postmasterPid, until } from "../setup/own-server.ts";
import { onServer } from "../setup/test-servers.ts";
import type { Gateways } from "./gateways.ts";
import type { Fault } from "./schedule.ts";

export type NemesisOptions = {
  readonly gateways: Pick<Gateways, "at" | "startAgain">;
  readonly proxy: PostgresProxy;
  /** The superuser's way to the server, past the proxy. */
  readonly url: string;
  readonly dataDir: string;
  readonly accountIds: () => readonly string[];
  readonly violate: (what: string) => void;
  readonly happensWithinMs?: number;
};

/** How long to wait for a fault that needs requests to happen. */
const HAPPENS_WITHIN_MS = 15_000;
const LOOK_MS = 50;
/** How long a stranded transaction is kept back. */
const STRANDED_MS = 1_500;
/** The transactions of lanes, by the names of their statements; a statement that recalls an outcome is not one. */
const LANE_STATEMENT = /admi|settle|exten/;

export class Nemesis {
  readonly #options: NemesisOptions;

  constructor(options: NemesisOptions) {
    this.#options = options;
  }

  /** A fault and the step that ends it. False: the awaited moment never came, so nothing was tested. */
  async carryOut(fault: Fault): Promise<boolean> {
    if (fault.kind === "failpoint") return this.#dieAt(fault);
    await this.#carryOut(fault);
    return true;
  }

  async #carryOut(fault: Exclude<Fault, { kind: "failpoint" }>): Promise<void> {
    const { gateways, proxy, url, dataDir, accountIds } = this.#options;
    switch (fault.kind) {
      case "kill gateway":
        await gateways.at(fault.gateway).process.stop("SIGKILL");
        await sleep(fault.awayMs);
        return gateways.startAgain(fault.gateway);
      case "restart gateway":
        await this.#stopInOrder(fault.gateway);
        await sleep(fault.awayMs);
        return gateways.startAgain(fault.gateway);
      case "outsleep the lease":
      case "pause gateway": {
        const { pid } = gateways.at(fault.gateway).process;
        process.kill(pid, "SIGSTOP");
        await sleep(fault.pausedMs);
        return void process.kill(pid, "SIGCONT");
      }
      case "lose transactions":
        await this.#misuse(fault.loss, fault.turns);
        await sleep(STRANDED_MS);
        await Promise.all(proxy.stranded.splice(0).map((stranded) => stranded.release()));
        return;
      case "raise errors":
        return this.#misuse({ raise: fault.sqlState }, fault.turns);
      case "cut connections":
        proxy.cutAll({ refuse: true });
        await sleep(fault.awayMs);
        proxy.isAway = false;
        return;
      case "end backends":
        await onServer(
          url,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'saldo' AND random() < ${fault.share}`,
        );
        return;
      case "kill postgres": {
        const pid = await postmasterPid(dataDir);
        process.kill(pid, "SIGKILL");
        await until(() => !isAlive(pid));
        // Its starter brings it back; see src/database/embedded/README.md.
        return until(() =>
          onServer(url, "SELECT").then(
            () => true,
            () => false,
          ),
        );
      }
      case "lock accounts":
        return withClient(clientConfig({ connectionString: url }, "soak"), async (client) => {
          const ids = accountIds().slice(0, fault.accounts);
          await client.query("BEGIN");
          await client.query("SELECT FROM account WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE", [ids]);
          await sleep(fault.lockedMs);
          await client.query("ROLLBACK");
        });
    }
  }

  async #dieAt({ gateway, name, nth }: Extract<Fault, { kind: "failpoint" }>): Promise<boolean> {
    const { gateways } = this.#options;
    await this.#stopInOrder(gateway);
    await gateways.startAgain(gateway, { SALDO_FAILPOINT: `${name}:${nth}` });
    const { process: armed } = gateways.at(gateway);
    await this.#wait(() => !isAlive(armed.pid));
    const hasDied = !isAlive(armed.pid);
    // A process that never reached its failpoint is still killed: it must not affect the next fault.
    await armed.stop("SIGKILL");
    await gateways.startAgain(gateway);
    return hasDied;
  }

  async #stopInOrder(index: number): Promise<void> {
    const code = await this.#options.gateways.at(index).process.stop();
    if (code !== 0) this.#options.violate(`a stopped gateway ended with ${code}`);
  }

  /** Applies a fault to so many transactions of the lanes, each with chance one half, so that others run in between. */
  async #misuse(what: ProxyFault, turns: number): Promise<void> {
    const { proxy } = this.#options;
    let left = turns;
    let seen = 0;
    proxy.rule = ({ statements }) => {
      if (left === 0 || !statements.some((name) => LANE_STATEMENT.test(name))) return undefined;
      seen += 1;
      if (seen % 2 === 0) return undefined;
      left -= 1;
      return what;
    };
    await this.#wait(() => left === 0);
    proxy.rule = () => undefined;
    // A fault that never happens proves nothing: the statements have other names, or there are no requests.
    if (left === turns) this.#options.violate("the nemesis found no transaction to misuse");
  }

  async #wait(condition: () => boolean): Promise<void> {
    const deadline = Date.now() + (this.#options.happensWithinMs ?? HAPPENS_WITHIN_MS);
    while (!condition() && Date.now() < deadline) await sleep(LOOK_MS);
  }
}
