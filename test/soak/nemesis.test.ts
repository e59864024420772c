// A fault that never happened must not be counted as survived.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import type { PostgresProxy, Rule } from "../faults/postgres-proxy.ts";
import type { SaldoProcess } from "../setup/saldo-process.ts";
import { Nemesis, type NemesisOptions } from "./nemesis.ts";

const ENDS_AT_ONCE = "";
const STAYS = "process.stdin.resume()";

/** A nemesis over a gateway that follows a script. */
function nemesisOver(script: string) {
  const violations: string[] = [];
  const started: string[] = [];
  const child = () => {
    const running = spawn(process.execPath, ["-e", script], { stdio: ["pipe", "ignore", "ignore"] });
    const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> => {
      if (running.exitCode === null && running.signalCode === null) {
        running.kill(signal);
        await once(running, "exit");
      }
      return 0;
    };
    return { pid: running.pid ?? 0, stop } as unknown as SaldoProcess;
  };
  const gateway = { url: "", isReady: true, process: child() };
  const gateways: NemesisOptions["gateways"] = {
    at: () => gateway,
    async startAgain(_index, { SALDO_FAILPOINT: armed = "none" } = {}) {
      started.push(armed);
      gateway.process = child();
    },
  };
  const rule: Rule = () => undefined;
  const proxy = { rule, stranded: [] } as unknown as PostgresProxy;
  const nemesis = new Nemesis({
    gateways,
    proxy,
    url: "",
    dataDir: "",
    accountIds: () => [],
    violate: (what) => void violations.push(what),
    happensWithinMs: script === STAYS ? 300 : 10_000,
  });
  return { nemesis, violations, started, end: () => gateway.process.stop("SIGKILL") };
}

it.each([
  { script: ENDS_AT_ONCE, reached: true },
  { script: STAYS, reached: false },
])("distinguishes a reached failpoint from one that was not: $reached", async ({ script, reached }) => {
  const { nemesis, started, end } = nemesisOver(script);
  expect(await nemesis.carryOut({ kind: "failpoint", gateway: 0, name: "mid-settle", nth: 3 })).toBe(reached);
  expect(started).toEqual(["mid-settle:3", "none"]);
  await end();
});

it("reports a fault without a transaction to hit", async () => {
  const { nemesis, violations, end } = nemesisOver(STAYS);
  await nemesis.carryOut({ kind: "raise errors", sqlState: "40001", turns: 3 });
  expect(violations).toEqual(["the nemesis found no transaction to misuse"]);
  await end();
});
