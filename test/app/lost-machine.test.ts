// The whole way of a machine that is lost: a backup under load, a restore to a moment before the loss, and the service again. What was answered
// until the moment is in the books, and each transfer is paid once, also those that were ordered or paid behind it. Long: `npm run test-long`.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Anvil } from "../chains/anvil.ts";
import { answersIn, ask, BACKUP_SECRET, DEMO_KEY, Folders, receivedAll, urlIn } from "../setup/backups.ts";
import { IS_LONG } from "../setup/long-tests.ts";
import { postmasterPid } from "../setup/own-server.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { onServer } from "../setup/test-servers.ts";

const CLIENTS = 4;
/** Transfers that are paid before the moment, ordered before and paid behind it, and ordered and paid behind it. */
const TRANSFERS = { before: 3, open: 3, behind: 3 } as const;
const UNITS = 10_000_000n;
const PATIENCE = { timeout: 90_000, interval: 200 } as const;
const TEST_MS = 300_000;

type Ordered = { readonly externalId: string; readonly to: Hex; readonly id: string };

describe.runIf(IS_LONG)("a machine that is lost under load", () => {
  const folders = new Folders();
  let [root, first, second, journals] = ["", "", "", ""];
  let anvil: Anvil;
  let token: Hex;
  let chain: Record<string, string>;
  let pair: string;
  let key: string;
  let blocks: NodeJS.Timeout;
  let saldo: SaldoProcess;
  let moment: string;
  /** Answered requests, by whether their answers arrived before the moment. */
  const answered = { before: new Set<string>(), behind: new Set<string>() };
  const transfers: Record<keyof typeof TRANSFERS, Ordered[]> = { before: [], open: [], behind: [] };

  const settingsOf = (dir: string) => ({ ...BACKUP_SECRET, ...chain, SALDO_DATA_DIR: dir, SALDO_BACKUP_DIR: root });
  const command = (dir: string, ...words: string[]) => saldoJson(words, settingsOf(dir));

  async function call(path: string, body?: object) {
    const response = await fetch(`${saldo.httpUrl}/v1/merchant-transfers${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: pair, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return (JSON.parse(text) as { data: Record<string, unknown> }).data;
  }

  async function order(externalId: string, to: Hex): Promise<string> {
    return String((await call("/create", { currencyCode: "USDT", amount: 10, address: to, externalId }))["id"]);
  }

  async function orderAll(which: keyof typeof TRANSFERS): Promise<void> {
    for (let number = 0; number < TRANSFERS[which]; number += 1) {
      const { address: to } = await anvil.wallet(0n);
      const externalId = `${which}-${number}`;
      transfers[which].push({ externalId, to, id: await order(externalId, to) });
    }
  }

  async function untilConfirmed(ordered: readonly Ordered[]): Promise<void> {
    for (const { id } of ordered)
      await expect.poll(async () => call(`/${id}`), PATIENCE).toMatchObject({ status: "CONFIRMED" });
  }

  /** Asks until the machine is lost. */
  async function client(): Promise<void> {
    for (;;) {
      const answer = await ask(saldo.httpUrl, key).catch(() => null);
      if (answer === null) return;
      if (answer.status === 200) answered[moment === "" ? "before" : "behind"].add(answer.requestId);
    }
  }

  const now = async (dir: string): Promise<string> =>
    (await onServer(urlIn(dir), "SELECT clock_timestamp() AS at")).rows[0].at.toISOString();
  const recordsIn = async (): Promise<number> => (await answersIn(first)).length;

  beforeAll(async () => {
    [root, first, second] = [await folders.make(), await folders.make(), await folders.make()];
    journals = await mkdtemp(join(tmpdir(), "saldo-journals-"));
    moment = "";
    anvil = await Anvil.start();
    token = await anvil.deployToken();
    const hot = await anvil.wallet();
    await anvil.giveTokens(token, hot.address, 1_000_000_000n);
    blocks = setInterval(() => void anvil.mine().catch(() => {}), 200);
    chain = {
      SALDO_PAYOUT_JOURNAL_DIR: journals,
      SALDO_ETHEREUM_RPC_URL: anvil.url,
      SALDO_ETHEREUM_CHAIN_ID: "31337",
      SALDO_ETHEREUM_KEY_VARIABLE: "HOT_WALLET_KEY",
      HOT_WALLET_KEY: hot.privateKey,
      SALDO_ETHEREUM_TOKENS: `USDT=${token}`,
      SALDO_ETHEREUM_FINALITY: "2",
      // A chain that is further ahead than it can be is not believed.
      SALDO_ETHEREUM_BLOCK_MS: "100",
    };
    saldo = await SaldoProcess.start(settingsOf(first));
    key = saldo.announced(DEMO_KEY);
    const { accountId = "" } = await command(first, "account", "create", "--email", "merchant@test.example");
    const made = await command(first, "merchant", "create", "--account", accountId, "--environment", "production");
    pair = `Basic ${Buffer.from(`${made["apiKey"]}:${made["secretKey"]}`).toString("base64")}`;
    const credit = ["--merchant", made["merchantId"] ?? "", "--currency", "USDT", "--amount", "1000"];
    await command(first, "merchant", "credit", ...credit, "--reason", "test", "--reference", "first");
  }, TEST_MS);
  afterAll(async () => {
    clearInterval(blocks);
    await saldo.stop("SIGKILL");
    await anvil.stop();
    await folders.remove();
    await rm(journals, { recursive: true });
  });

  it("is backed up under load, and lost behind more answers and payments", { timeout: TEST_MS }, async () => {
    const account = (await onServer(urlIn(first), "SELECT account_id AS id FROM api_key LIMIT 1")).rows[0].id;
    const words = ["key", "create", "--account", account, "--name", "load", "--rate-limit", "0"];
    key = (await command(first, ...words))["key"] ?? "";
    const clients = Array.from({ length: CLIENTS }, client);
    await expect.poll(recordsIn, PATIENCE).toBeGreaterThan(CLIENTS);
    await command(first, "backup", "--to", root);
    const taken = await recordsIn();
    await expect.poll(recordsIn, PATIENCE).toBeGreaterThan(taken);
    await orderAll("before");
    await untilConfirmed(transfers.before);
    await command(first, "payout", "stop", "--reason", "these are paid behind the moment");
    await orderAll("open");
    // What has arrived by now was committed before the moment.
    const arrived = [...answered.before];
    moment = await now(first);
    answered.before = new Set(arrived);
    await command(first, "payout", "start", "--reason", "go on");
    await orderAll("behind");
    await untilConfirmed([...transfers.open, ...transfers.behind]);
    const since = answered.behind.size;
    await expect.poll(() => answered.behind.size, PATIENCE).toBeGreaterThan(since + CLIENTS);
    await expect.poll(async () => Date.now() - Date.parse(moment) > 1_000, PATIENCE).toBe(true);
    process.kill(await postmasterPid(first), "SIGKILL");
    await saldo.stop("SIGKILL");
    await Promise.all(clients);
  });

  it("is restored to the moment, with everything stopped and all books sound", { timeout: TEST_MS }, async () => {
    const restored = await command(first, "restore", "--from", root, "--data-dir", second, "--until", moment);
    expect(restored).toMatchObject({ until: moment, timeline: 2 });
    saldo = await SaldoProcess.start(settingsOf(second));
    const records = new Set(await answersIn(second));
    expect([...answered.before].filter((id) => !records.has(id))).toEqual([]);
    expect(answered.before.size).toBeGreaterThan(CLIENTS);
    expect([...answered.behind].some((id) => !records.has(id))).toBe(true);
    expect(await command(second, "audit", "--full", "--hurry")).toMatchObject({ ok: true, violations: [] });
    expect((await ask(saldo.httpUrl, key)).status).toBe(503);
    expect(await command(second, "payout", "status")).toMatchObject({ stops: [{ chain: "", address: "" }] });
    const halted = async () => JSON.stringify((await command(second, "payout", "status"))["wallets"]);
    await expect.poll(halted, PATIENCE).toMatch(/the books lack \d+ transactions that/);
    const lost = (await command(second, "recover", "report"))["payouts"] as unknown as { transferId: string }[];
    const expected = [...transfers.open, ...transfers.behind].map(({ id }) => id).toSorted();
    expect(lost.map(({ transferId }) => transferId).toSorted()).toEqual(expected);
  });

  it("has each transfer paid once, by the payments that the network has", { timeout: TEST_MS }, async () => {
    const resume = ["payout", "resume", "--chain", "ethereum", "--reason", "restored"];
    await expect(command(second, ...resume)).rejects.toThrow(/resume with --adopt/);
    const resumed: Record<string, unknown> = await command(second, ...resume, "--adopt");
    expect(resumed).toMatchObject({ foreignNonces: 0, adoptedPayments: TRANSFERS.open + TRANSFERS.behind });
    const remade = transfers.behind.map(({ id }) => id).toSorted();
    expect((resumed["remadeTransfers"] as string[]).toSorted()).toEqual(remade);
    await command(second, "payout", "start", "--reason", "each payment is known");
    await command(second, "admission", "start");
    const all = [...transfers.before, ...transfers.open, ...transfers.behind];
    // The merchant does not know what was lost, and orders everything again.
    for (const { externalId, to, id } of all) expect(await order(externalId, to)).toBe(id);
    await untilConfirmed(all);
    await expect.poll(async () => (await ask(saldo.httpUrl, key)).status, PATIENCE).toBe(200);
    const { address: to } = await anvil.wallet(0n);
    const next = { externalId: "next", to, id: await order("next", to) };
    await untilConfirmed([next]);
    for (const { id, to: recipient } of [...all, next]) {
      const { transactionHash } = await call(`/${id}`);
      expect(await anvil.tokenTransfersTo(token, recipient)).toEqual([{ transactionHash, value: UNITS }]);
    }
    expect(await command(second, "audit", "--full", "--hurry")).toMatchObject({ ok: true, violations: [] });
    expect(await command(second, "recover", "report")).toMatchObject({ payouts: [], foreignPayments: [], owed: [] });
    await expect.poll(() => receivedAll(second), PATIENCE).toBe(true);
  });
});
