// Starting, stopping and dying on the embedded database, as on a newcomer's machine.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Browser } from "../identity/browser.ts";
import { makeDataDir, removeDataDir } from "../setup/own-server.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { runSaldoProcess, SaldoProcess } from "../setup/saldo-process.ts";
import { chat, newCustomer } from "./customer.ts";

const KEY = /gw_[A-Za-z0-9]{49}/;
const PAIR = /mk_test_\w+:sk_test_\w+/;
const HELLO = { model: "demo/small", messages: [{ role: "user", content: "Hello!" }] };

async function heldOf(httpUrl: string, key: string): Promise<unknown> {
  const answer = await fetch(`${httpUrl}/v1/balance`, { headers: { authorization: `Bearer ${key}` } });
  const { held } = (await answer.json()) as { held: unknown };
  return held;
}

/** The status of a quote by the pair that was announced. */
async function calculate(saldo: SaldoHere): Promise<number> {
  const answer = await fetch(`${saldo.httpUrl}/sandbox/v1/merchant-transfers/calculate`, {
    method: "POST",
    headers: {
      authorization: `Basic ${Buffer.from(saldo.announced(PAIR)).toString("base64")}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ currencyCode: "TRX", amount: 100 }),
  });
  return answer.status;
}

describe("the service on its embedded database", () => {
  let folder: string;
  let settings: Record<string, string>;
  const running: SaldoProcess[] = [];
  const runningHere: SaldoHere[] = [];
  const start = async (more: Record<string, string> = {}): Promise<SaldoProcess> => {
    const saldo = await SaldoProcess.start({ ...settings, ...more });
    running.push(saldo);
    return saldo;
  };
  /** For what the start does, when no process has to end. */
  const startHere = async (): Promise<SaldoHere> => {
    const saldo = await SaldoHere.start(settings);
    runningHere.push(saldo);
    return saldo;
  };

  beforeAll(async () => {
    folder = await makeDataDir();
    settings = { SALDO_DATA_DIR: folder };
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((saldo) => saldo.stop("SIGKILL")));
    for (const saldo of runningHere.splice(0)) await saldo.stop();
  });
  // A killed service leaves its PostgreSQL server behind, and a process that only joins one does not stop it.
  afterAll(() => removeDataDir(folder));

  it("announces a key and a pair that work, and the same ones at the next start", async () => {
    const first = await startHere();
    const key = first.announced(KEY);
    const answer = await chat(first.httpUrl, key, HELLO);
    expect(answer.status).toBe(200);
    expect(Number(answer.headers.get("x-saldo-cost-idr"))).toBeGreaterThan(0);
    expect(await calculate(first)).toBe(200);
    await first.stop();

    const second = await startHere();
    expect([second.announced(KEY), second.announced(PAIR)]).toEqual([key, first.announced(PAIR)]);
    expect((await chat(second.httpUrl, key, HELLO)).status).toBe(200);
    expect(await calculate(second)).toBe(200);
    // A revoked one is replaced.
    const browser = new Browser(second.httpUrl);
    await browser.auth("/demo/sign-in", {});
    const { keys } = await browser.rpc<{ keys: { id: string }[] }>("keys.v1.KeysService/ListKeys");
    expect(keys).toHaveLength(1);
    await saldoJson(["key", "revoke", "--key-id", keys[0]?.id ?? ""], settings);
    await second.stop();

    const third = await startHere();
    expect(third.announced(KEY)).not.toBe(key);
    expect(third.announced(PAIR)).toBe(first.announced(PAIR));
    expect((await chat(third.httpUrl, key, HELLO)).status).toBe(401);
    expect((await chat(third.httpUrl, third.announced(KEY), HELLO)).status).toBe(200);
  });

  it("stops in order where one stop arrives as two signals, and leaves no server behind", async () => {
    const saldo = await start();
    const lock = join(folder, "postgres", "postmaster.pid");
    expect(existsSync(lock)).toBe(true);
    saldo.signal("SIGTERM");
    // As npm passes it on: signals that are sent at the same moment are received as one.
    await sleep(30);
    expect(await saldo.stop("SIGTERM")).toBe(0);
    expect(existsSync(lock)).toBe(false);
  });

  it("comes back after kill -9 with everything it acknowledged, and resolves what was open", async () => {
    const killed = await start();
    // Enough for the holds of all of them at once.
    const { accountId, key } = await newCustomer(settings, { amount: "100000" });
    const answers = await Promise.all(Array.from({ length: 20 }, () => chat(killed.httpUrl, key, HELLO)));
    const charged = answers.map((answer) => answer.headers.get("x-saldo-cost-idr"));
    const open = chat(killed.httpUrl, key, { ...HELLO, messages: [{ role: "user", content: "!slow" }] }).catch(
      () => null,
    );
    // Asked of the service itself: a command takes longer to start than the answer takes to come.
    await expect.poll(() => heldOf(killed.httpUrl, key), { timeout: 10_000 }).not.toBe("0");
    await killed.stop("SIGKILL");
    await open;

    const back = await startHere();
    const { records } = (await saldoJson(
      ["usage", "list", "--account", accountId, "--limit", "100"],
      settings,
    )) as unknown as {
      records: { charge: string }[];
    };
    expect(new Set(records.map(({ charge }) => charge))).toEqual(new Set(charged));
    expect(records).toHaveLength(charged.length);
    // The dead process's lease runs out after 20 s, and the new one may bury it after a term of its own.
    await expect
      .poll(async () => (await saldoJson(["account", "show", "--account", accountId], settings))["held"], {
        timeout: 90_000,
        interval: 2_000,
      })
      .toBe("0");
    expect((await chat(back.httpUrl, key, HELLO)).status).toBe(200);
    expect(await saldoJson(["audit"], settings)).toMatchObject({ ok: true, violations: [] });
  }, 120_000);

  it("finishes and bills running requests when it is stopped, and takes nothing new", async () => {
    const saldo = await start({ SALDO_DEMO_PACE_MS: "20" });
    const { accountId, key } = await newCustomer(settings, { amount: "1000" });
    const stream = await chat(saldo.httpUrl, key, { ...HELLO, stream: true });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    const first = await reader?.read();
    const stopped = saldo.stop();
    let text = first?.value ?? "";
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) text += piece.value;
    expect(text.trimEnd().endsWith("data: [DONE]")).toBe(true);
    expect(await stopped).toBe(0);
    await expect(chat(saldo.httpUrl, key, HELLO)).rejects.toThrow();
    const balance = await saldoJson(["account", "show", "--account", accountId], settings);
    expect(balance["held"]).toBe("0");
    expect(Number(balance["posted"])).toBeLessThan(1000);
  });

  it("ends a wrong command with exit code 2, a failed one with 1, and prints one JSON object with --json", async () => {
    for (const words of [
      ["nonsense"],
      ["account", "show"],
      ["account", "show", "--account", "x"],
      ["key", "create", "--bogus", "1"],
    ]) {
      expect(await runSaldo(words, settings)).toMatchObject({ code: 2, stdout: "" });
    }
    expect(await runSaldoProcess(["nonsense"], settings)).toMatchObject({ code: 2, stdout: "" });
    const unknown = "01a00000-0000-7000-8000-000000000000";
    const missing = await runSaldoProcess(["account", "show", "--account", unknown, "--json"], settings);
    expect(missing.code).toBe(1);
    expect(JSON.parse(missing.stdout)).toEqual({ error: "not_found", message: "There is no such account." });
    const audited = await runSaldo(["audit", "--json"], settings);
    expect(audited.stdout.trim().split("\n")).toEqual([expect.stringMatching(/^\{"ok":true,"violations":\[\]/)]);
    expect(await runSaldoProcess(["serve"], { ...settings, SALDO_HTTP_PORT: "many" })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("SALDO_HTTP_PORT") as string,
    });
  });

  it("shows that it is alive and ready, and its metrics", async () => {
    const saldo = await startHere();
    const health = await (await fetch(`${saldo.httpUrl}/healthz`)).json();
    const printed = await runSaldoProcess(["--version"], {});
    expect(printed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string });
    expect(health).toEqual({ status: "ok", version: printed.stdout.trim() });
    expect((await fetch(`${saldo.httpUrl}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${saldo.metricsUrl}/metrics`)).text()).toMatch(/^saldo_ledger_depth \d+$/m);
  });
});
