// A fault that nothing caught: the process logs it, finishes and bills running requests, and exits non-zero.

import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { isAlive } from "../../src/database/embedded/postmaster.ts";
import { until } from "../setup/own-server.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { chat, newCustomer } from "./customer.ts";

const HELLO = { model: "demo/small", messages: [{ role: "user", content: "Hello!" }] };
/** Makes each process of the service throw where nothing catches it when it gets SIGUSR2. */
const THROWING = plant("setImmediate(() => { throw new Error('a planted fault'); })");
const REJECTING = plant("Promise.reject(new Error('a planted fault'))");

let own: TestDatabase;
let settings: Record<string, string>;
const running: SaldoProcess[] = [];
beforeAll(async () => {
  own = await createTestDatabase();
  settings = { DATABASE_URL: own.url };
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((saldo) => saldo.stop("SIGKILL")));
});
afterAll(() => own.drop());

it.each([
  ["an exception", THROWING, "uncaughtException"],
  ["a rejection", REJECTING, "unhandledRejection"],
])(
  "after %s that nothing caught, ends and bills what runs, takes nothing new, and exits with 1",
  async (_, flags, origin) => {
    const saldo = await start({ SALDO_DEMO_PACE_MS: "20" }, flags);
    const { accountId, key } = await newCustomer(settings, { amount: "1000" });
    const stream = await chat(saldo.httpUrl, key, { ...HELLO, stream: true });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader?.read())?.value ?? "";
    process.kill(saldo.pid, "SIGUSR2");
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) text += piece.value;
    expect(text.trimEnd().endsWith("data: [DONE]")).toBe(true);
    await saldo.untilEnd();
    expect(await saldo.stop()).toBe(1);
    expect(saldo.log).toContainEqual(
      expect.objectContaining({
        level: "fatal",
        event: "process.fault",
        origin,
        err: expect.objectContaining({ message: "a planted fault" }) as unknown,
      }),
    );
    await expect(chat(saldo.httpUrl, key, HELLO)).rejects.toThrow();
    const balance = await saldoJson(["account", "show", "--account", accountId], settings);
    expect(balance["held"]).toBe("0");
    expect(Number(balance["posted"])).toBeLessThan(1000);
  },
);

it("goes on with the other worker while the one with the fault is replaced", async () => {
  const node = await start({ SALDO_WORKERS: "2" }, THROWING);
  const { key } = await newCustomer(settings, { amount: "1000" });
  const [first = 0, second = 0] = workerPids(node);
  process.kill(first, "SIGUSR2");
  while (workerPids(node).length < 3) expect((await chat(node.httpUrl, key, HELLO)).status).toBe(200);
  expect([isAlive(first), isAlive(second), isAlive(node.pid)]).toEqual([false, true, true]);
  await until(() => node.log.some(({ event, code }) => event === "process.worker.ended" && code === 1));
  expect((await chat(node.httpUrl, key, HELLO)).status).toBe(200);
  expect(await node.stop()).toBe(0);
});

async function start(more: Record<string, string>, flags: readonly string[]): Promise<SaldoProcess> {
  const saldo = await SaldoProcess.start({ ...settings, ...more }, flags);
  running.push(saldo);
  return saldo;
}

/** The workers that have served so far. */
function workerPids({ log }: SaldoProcess): number[] {
  return log.filter(({ event }) => event === "process.worker.serving").map(({ pid }) => Number(pid));
}

function plant(code: string): readonly string[] {
  return ["--import", `data:text/javascript,${encodeURIComponent(`process.on("SIGUSR2", () => { ${code} });`)}`];
}
