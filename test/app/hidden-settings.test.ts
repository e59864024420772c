// A process that serves has no secret in its environment: not where packages, reports of faults and programs it starts would find it.

import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PRODUCTION, SaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

/** Makes a process and its workers write the names of their environment into the log. */
const PRINT_NAMES = `process.on("SIGUSR2",()=>process.stderr.write(JSON.stringify({msg:"environment",names:Object.keys(process.env)})+"\\n"))`;
const SECRETS = { ...PRODUCTION, SOME_API_KEY: "the key of an upstream", MIDTRANS_SERVER_KEY: "the key of a provider" };

let opened: TestDatabase;
beforeAll(async () => {
  opened = await createTestDatabase();
});
afterAll(() => opened.drop());

it.each(["1", "2"])("holds for a node of %s workers, which work all the same", async (workers) => {
  const settings = { ...SECRETS, DATABASE_URL: opened.url, SALDO_WORKERS: workers, SALDO_DEMO: "0" };
  const saldo = await SaldoProcess.start(settings, [
    "--import",
    `data:text/javascript,${encodeURIComponent(PRINT_NAMES)}`,
  ]);
  try {
    const pids = () => [
      saldo.pid,
      ...saldo.log.flatMap(({ event, pid }) => (event === "process.worker.serving" ? [Number(pid)] : [])),
    ];
    await expect.poll(() => pids().length, { timeout: 30_000 }).toBe(workers === "1" ? 1 : 3);
    for (const pid of pids()) process.kill(pid, "SIGUSR2");
    const named = () => saldo.log.filter(({ msg }) => msg === "environment").map(({ names }) => names as string[]);
    while (named().length < pids().length) await sleep(20);
    const hidden = [...Object.keys(SECRETS), "DATABASE_URL"].filter((name) => name !== "NODE_ENV");
    for (const names of named()) expect(names.filter((name) => hidden.includes(name))).toEqual([]);
    expect((await fetch(`${saldo.httpUrl}/readyz`)).status).toBe(200);
  } finally {
    await saldo.stop();
  }
});

it("gives the keys of wallets to the one worker that pays, and their addresses to the others", async () => {
  const key = `0x${"01".repeat(32)}`;
  const chain = { SALDO_BSC_RPC_URL: "http://127.0.0.1:9", SALDO_BSC_KEY_VARIABLE: "HOT_WALLET", HOT_WALLET: key };
  const saldo = await SaldoProcess.start({
    ...SECRETS,
    ...chain,
    DATABASE_URL: opened.url,
    SALDO_WORKERS: "3",
    SALDO_DEMO: "0",
  });
  try {
    const workers = () => saldo.log.filter(({ event }) => event === "process.worker.serving");
    await expect.poll(() => workers().length, { timeout: 30_000 }).toBe(3);
    for (const { pid, worker } of workers()) {
      // What the process was started with, as the system keeps it.
      const started = (await readFile(`/proc/${String(pid)}/environ`, "utf8")).split("\0");
      const wallet = worker === 1 ? key : "0x1a642f0E3c3aF545E7AcBD38b07251B3990914F1";
      expect([worker, started.filter((each) => each.startsWith("HOT_WALLET="))]).toEqual([
        worker,
        [`HOT_WALLET=${wallet}`],
      ]);
    }
  } finally {
    await saldo.stop();
  }
});
