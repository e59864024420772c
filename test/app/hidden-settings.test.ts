// A process that serves has no secret in its environment: not where packages, reports of faults and programs it starts would find it.

import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PRODUCTION, SaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

/** Makes a process and its workers write the names of their environment into the log. */
const PRINT_NAMES = `process.on("SIGUSR2",()=>process.stderr.write(JSON.stringify({msg:"environment",names:Object.keys(process.env)})+"\\n"))`;
const SECRETS = { ...PRODUCTION, SOME_API_KEY: "the key of an upstream", MIDTRANS_SERVER_KEY: "the key of a provider" };

const WALLET = { key: `0x${"01".repeat(32)}`, address: "0x1a642f0E3c3aF545E7AcBD38b07251B3990914F1" };
const CHAIN = { SALDO_BSC_RPC_URL: "http://127.0.0.1:9", SALDO_BSC_KEY_VARIABLE: "HOT_WALLET", HOT_WALLET: WALLET.key };
const PRELOADED = ["--import", `data:text/javascript,${encodeURIComponent(PRINT_NAMES)}`];

let opened: TestDatabase;
/** By the number of their workers. */
const nodes: Record<number, SaldoProcess> = {};
beforeAll(async () => {
  opened = await createTestDatabase();
  for (const workers of [1, 2]) {
    const settings = { ...SECRETS, ...CHAIN, DATABASE_URL: opened.url, SALDO_DEMO: "0" };
    nodes[workers] = await SaldoProcess.start({ ...settings, SALDO_WORKERS: String(workers) }, PRELOADED);
  }
});
afterAll(async () => {
  await Promise.all(Object.values(nodes).map((node) => node.stop()));
  await opened.drop();
});

function nodeOf(workers: number): SaldoProcess {
  const node = nodes[workers];
  if (node === undefined) throw new Error(`no node of ${workers} workers runs`);
  return node;
}

const workersOf = ({ log }: SaldoProcess) => log.filter(({ event }) => event === "process.worker.serving");

it.each([1, 2])("holds for a node of %i workers, which work all the same", async (workers) => {
  const node = nodeOf(workers);
  const pids = () => [node.pid, ...workersOf(node).map(({ pid }) => Number(pid))];
  await expect.poll(() => pids().length, { timeout: 30_000 }).toBe(workers === 1 ? 1 : 3);
  for (const pid of pids()) process.kill(pid, "SIGUSR2");
  const named = () => node.log.filter(({ msg }) => msg === "environment").map(({ names }) => names as string[]);
  while (named().length < pids().length) await sleep(20);
  const hidden = [...Object.keys({ ...SECRETS, ...CHAIN }), "DATABASE_URL"].filter((name) => name !== "NODE_ENV");
  for (const names of named()) expect(names.filter((name) => hidden.includes(name))).toEqual([]);
  expect((await fetch(`${node.httpUrl}/readyz`)).status).toBe(200);
});

it("gives the keys of wallets to the one worker that pays, and their addresses to the others", async () => {
  const workers = workersOf(nodeOf(2));
  expect(workers).toHaveLength(2);
  for (const { pid, worker } of workers) {
    // What the process was started with, as the system keeps it.
    const started = (await readFile(`/proc/${String(pid)}/environ`, "utf8")).split("\0");
    const wallet = worker === 1 ? WALLET.key : WALLET.address;
    expect([worker, started.filter((each) => each.startsWith("HOT_WALLET="))]).toEqual([
      worker,
      [`HOT_WALLET=${wallet}`],
    ]);
  }
});
