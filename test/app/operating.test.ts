// An operator's work while the service runs: look, stop admissions, give money back, and read the alarms.

import { readFile } from "node:fs/promises";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { billingDay } from "../../src/kernel/clock.ts";
import { timeOfUuidv7 } from "../../src/kernel/ids.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { expressions } from "../packaging/deployed.ts";
import { chat, newCustomer } from "./customer.ts";

const HELLO = { model: "demo/small", messages: [{ role: "user", content: "Hello!" }] };
const ALARMS = new URL("../../deploy/ALARMS.md", import.meta.url);

/** Metrics of a node with several workers (workers.test.ts), of one that reads from a standby (lagging-reads.test.ts), and of cells (test/cells). */
const isOfOtherNodes = (name: string): boolean => /^saldo_(?:worker|read_|cell_)/.test(name);

describe("operating the service", () => {
  let opened: TestDatabase;
  let folder: string;
  let settings: Record<string, string>;
  let saldo: SaldoHere;
  beforeAll(async () => {
    opened = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), "saldo-operating-"));
    settings = { DATABASE_URL: opened.url, SALDO_DATA_DIR: folder };
    saldo = await SaldoHere.start({ ...settings, SALDO_DEMO_PACE_MS: "20" });
  });
  afterAll(async () => {
    await saldo.stop();
    await opened.drop();
    await rm(folder, { recursive: true });
  });

  const metrics = async (): Promise<string> => (await fetch(`${saldo.metricsUrl}/metrics`)).text();
  /** The value of the series with exactly these labels, 0 where there is none yet. */
  const metric = async (series: string): Promise<number> => {
    const line = (await metrics()).split("\n").find((each) => each.startsWith(`${series} `));
    return Number(line?.split(" ").at(-1) ?? 0);
  };

  it("shows every metric that the list of alarms names", async () => {
    const named = new Set((await readFile(ALARMS, "utf8")).match(/\b(?:saldo|nodejs)_[a-z0-9_]+/g));
    expect(named.size).toBeGreaterThan(15);
    const shown = new Set((await metrics()).match(/^# TYPE \S+/gm)?.map((line) => line.slice("# TYPE ".length)));
    expect([...named].filter((name) => !shown.has(name) && !isOfOtherNodes(name))).toEqual([]);
    // And every shown metric is on the list, except those that need no alarm.
    const onlyShown = [...shown].filter((name) => name.startsWith("saldo_") && !named.has(name));
    expect(onlyShown).toEqual([
      "saldo_ledger_groups_total",
      "saldo_ledger_members_total",
      "saldo_ledger_open_holds",
      "saldo_unanswered_departures",
    ]);
  });

  it("shows every metric that a dashboard or an alert rule in deploy/ names", async () => {
    const named = expressions().flatMap((text) => text.match(/\b(?:saldo|nodejs|process)_[a-z0-9_]+/g) ?? []);
    expect(new Set(named).size).toBeGreaterThan(50);
    const shown = new Set((await metrics()).match(/^# TYPE \S+/gm)?.map((line) => line.slice("# TYPE ".length)));
    const isShown = (name: string): boolean =>
      isOfOtherNodes(name) || shown.has(name) || shown.has(name.replace(/_(?:bucket|count|sum)$/, ""));
    expect(named.filter((name) => !isShown(name))).toEqual([]);
  });

  it("counts requests by how they ended, and what upstreams failed with", async () => {
    const { key } = await newCustomer(settings, { amount: "1000" });
    const answered = await metric('saldo_chat_requests_total{outcome="answered"}');
    const timed = await metric("saldo_chat_duration_seconds_count");
    expect((await chat(saldo.httpUrl, key, HELLO)).status).toBe(200);
    const failing = { ...HELLO, messages: [{ role: "user", content: "!503x" }] };
    expect((await chat(saldo.httpUrl, key, failing)).status).toBe(503);
    expect(await metric('saldo_chat_requests_total{outcome="answered"}')).toBe(answered + 1);
    expect(await metric('saldo_chat_requests_total{outcome="upstream_busy"}')).toBe(1);
    expect(await metric("saldo_chat_duration_seconds_count")).toBe(timed + 2);
    expect(await metric('saldo_gateway_events_total{kind="attempt_failed",upstream="demo"}')).toBe(2);
    expect(await metric("saldo_catalog_age_seconds")).toBeGreaterThan(0);
  });

  it("audits by itself, and reports wrong books in metrics and log", async () => {
    const { accountId } = await newCustomer(settings, { amount: "1000" });
    const lag = 'saldo_audit_lag_seconds{audit="incremental"}';
    await expect.poll(() => metric(lag), { timeout: 30_000, interval: 500 }).toBeGreaterThan(0);
    expect(await metric('saldo_audit_violations{audit="incremental"}')).toBe(0);
    await opened.database.pool.query("UPDATE account SET posted = posted + 1 WHERE id = $1", [accountId]);
    const found = await runSaldo(["audit", "--json"], settings);
    expect(found.code).toBe(1);
    expect(JSON.parse(found.stdout)).toMatchObject({
      kind: "incremental",
      ok: false,
      violations: [{ subject: accountId }],
    });
    const violations = 'saldo_audit_violations{audit="incremental"}';
    await expect.poll(() => metric(violations), { timeout: 30_000, interval: 500 }).toBe(1);
    await opened.database.pool.query("UPDATE account SET posted = posted - 1 WHERE id = $1", [accountId]);
    expect(await saldoJson(["audit", "--full"], settings)).toMatchObject({ kind: "full", ok: true, violations: [] });
  });

  it("stops admissions on a running process within seconds, finishes what runs, and starts again", async () => {
    const { key } = await newCustomer(settings, { amount: "1000" });
    const long = { ...HELLO, stream: true, messages: [{ role: "user", content: "!tokens=400" }] };
    const stream = await chat(saldo.httpUrl, key, long);
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader?.read())?.value ?? "";
    const stopped = await saldoJson(["admission", "stop", "--reason", "a price was a slip"], settings);
    expect(stopped).toMatchObject({ stopped: true, reason: "a price was a slip" });
    // A second stop keeps the first's reason and moment.
    expect(await saldoJson(["admission", "stop", "--reason", "another"], settings)).toEqual(stopped);
    expect(await saldoJson(["admission", "status"], settings)).toEqual(stopped);
    await expect.poll(() => metric("saldo_admission_stopped"), { timeout: 10_000 }).toBe(1);

    const refused = await chat(saldo.httpUrl, key, HELLO);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("30");
    expect(await refused.json()).toMatchObject({ error: "upstream_busy", retry_after: 30 });
    expect(await metric('saldo_chat_requests_total{outcome="stopped"}')).toBe(1);
    const authorization = { authorization: `Bearer ${key}` };
    for (const path of ["/v1/models", "/v1/balance", "/readyz"]) {
      expect((await fetch(saldo.httpUrl + path, { headers: authorization })).status, path).toBe(200);
    }
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) text += piece.value;
    expect(text.trimEnd().endsWith("data: [DONE]")).toBe(true);

    // One that starts meanwhile does not admit either.
    const other = await SaldoHere.start(settings);
    expect((await chat(other.httpUrl, key, { ...HELLO, model: "none" })).status).toBe(503);
    await other.stop();

    expect(await saldoJson(["admission", "start"], settings)).toEqual({ stopped: false, since: null, reason: null });
    await expect.poll(async () => (await chat(saldo.httpUrl, key, HELLO)).status, { timeout: 10_000 }).toBe(200);
  });

  it("freezes an account on a running process, shows the reason in no answer, and unfreezes it", async () => {
    const { accountId, key } = await newCustomer(settings, { amount: "1000" });
    const frozen = await saldoJson(
      ["account", "freeze", "--account", accountId, "--reason", "a stolen card"],
      settings,
    );
    expect(frozen).toMatchObject({ accountId, frozenAt: expect.any(String) as string, openRequests: 0 });
    const refused = await chat(saldo.httpUrl, key, HELLO);
    expect(refused.status).toBe(403);
    expect(await refused.text()).not.toContain("stolen");
    const balance = await fetch(`${saldo.httpUrl}/v1/balance`, { headers: { authorization: `Bearer ${key}` } });
    expect(balance.status).toBe(200);
    expect(await saldoJson(["account", "show", "--account", accountId], settings)).toMatchObject({
      frozenAt: frozen["frozenAt"],
    });
    await saldoJson(["account", "unfreeze", "--account", accountId], settings);
    expect((await chat(saldo.httpUrl, key, HELLO)).status).toBe(200);
    const limit = ["account", "limit", "--account", accountId, "--max-open-requests"];
    expect(await saldoJson([...limit, "3"], settings)).toMatchObject({ maxOpenRequests: 3 });
    expect((await runSaldo([...limit, "-1"], settings)).code).toBe(2);
    await opened.database.pool.query("UPDATE account SET open_holds = 5 WHERE id = $1", [accountId]);
    const recount = ["account", "recount", "--account", accountId, "--reason", "the audit found it"];
    expect(await saldoJson(recount, settings)).toMatchObject({ was: 5, openRequests: 0 });
  });

  it("credits a reference once, writes it down once, and refuses another amount or account under it", async () => {
    const [first, other] = [await newCustomer(settings), await newCustomer(settings)];
    const order = (accountId: string, amount: string) => [
      "account",
      "credit",
      "--account",
      accountId,
      "--amount",
      amount,
      "--reason",
      "transfer",
      "--reference",
      "T-1",
    ];
    for (const unnamed of [
      order(first.accountId, "100").slice(0, -2),
      ["merchant", "credit", "--merchant", first.accountId, "--currency", "TRX", "--amount", "1", "--reason", "in"],
    ]) {
      const { code, stderr } = await runSaldo(unnamed, settings);
      expect({ code, needs: stderr.includes("needs --reference") }).toEqual({ code: 2, needs: true });
    }
    const credit = await saldoJson(order(first.accountId, "100"), settings);
    expect(credit).toMatchObject({ available: "100" });
    expect(await saldoJson(order(first.accountId, "100"), settings)).toEqual(credit);
    for (const slip of [order(first.accountId, "200"), order(other.accountId, "100")]) {
      const { code, stderr } = await runSaldo(slip, settings);
      expect(code).toBe(1);
      expect(stderr).toContain(`Rp 100.00 on account ${first.accountId}`);
    }
    const { actions } = (await saldoJson(["action", "list"], settings)) as unknown as {
      actions: { action: string; subject: string; facts: unknown }[];
    };
    const of = ({ subject }: { subject: string }) => [first.accountId, other.accountId].includes(subject);
    const facts = { postingId: credit["postingId"], amount: "100" };
    const credited = { action: "account credit", subject: first.accountId, facts };
    expect(actions.filter((each) => of(each) && each.action === "account credit")).toMatchObject([credited]);
    expect(await saldoJson(["account", "show", "--account", other.accountId], settings)).toMatchObject({ posted: "0" });
  });

  it("gives a charge back by a credit note, once, and shows it with the usage", async () => {
    const { accountId, key } = await newCustomer(settings, { amount: "1000" });
    const answer = await chat(saldo.httpUrl, key, HELLO);
    const requestId = answer.headers.get("x-request-id") ?? "";
    const charge = answer.headers.get("x-saldo-cost-idr") ?? "";
    const words = ["usage", "credit", "--request-id", requestId, "--reason", "wrong answer"];
    const note = await saldoJson(words, settings);
    expect(note).toMatchObject({ accountId, amount: charge, credited: charge, left: "0" });
    expect(await saldoJson(words, settings)).toEqual(note);
    expect(await saldoJson(["account", "show", "--account", accountId], settings)).toMatchObject({ posted: "1000" });
    expect(await saldoJson(["usage", "list", "--account", accountId], settings)).toMatchObject({
      records: [{ requestId, charge, credited: charge }],
    });
    const again = await runSaldo([...words, "--name", "more", "--json"], settings);
    expect(again.code).toBe(1);
    expect(JSON.parse(again.stdout)).toMatchObject({ error: "limit_exceeded" });
    expect((await runSaldo(["usage", "credit", "--request-id", requestId, "--json"], settings)).code).toBe(2);
    expect(await saldoJson(["audit", "--full"], settings)).toMatchObject({ ok: true, violations: [] });
  });

  it("reports the margin of a day by model, upstream and account", async () => {
    const { accountId, key } = await newCustomer(settings, { amount: "1000" });
    const answer = await chat(saldo.httpUrl, key, HELLO);
    const charge = answer.headers.get("x-saldo-cost-idr");
    const today = billingDay(timeOfUuidv7(answer.headers.get("x-request-id") ?? ""));
    const report = (by: string) =>
      saldoJson(["margin", "--from", today, "--to", today, "--by", by], settings) as Promise<Record<string, unknown>>;
    const { lines, total } = await report("account");
    expect(lines).toContainEqual({
      account: accountId,
      requests: 1,
      revenue: charge,
      credited: "0",
      upstreamCost: "0",
      margin: charge,
      uncollected: "0",
      unbilled: "0",
      withoutCost: 1,
    });
    expect(await report("model")).toMatchObject({ from: today, to: today, by: "model", total });
    expect(await report("upstream")).toMatchObject({
      lines: expect.arrayContaining([expect.objectContaining({ upstream: "demo" })]) as unknown,
      total,
    });
    for (const words of [
      ["--from", "2026-02-30", "--to", "2026-03-01"],
      ["--from", "2026-03-02", "--to", "2026-03-01"],
      ["--from", "2024-01-01", "--to", "2026-03-01"],
      ["--from", today, "--to", today, "--by", "moon"],
    ]) {
      expect((await runSaldo(["margin", ...words], settings)).code, words.join(" ")).toBe(2);
    }
  });

  it("writes down what operators did, once for each thing that was done", async () => {
    const { actions } = (await saldoJson(["action", "list"], settings)) as unknown as {
      actions: { action: string; operator: string; reason: string | null }[];
    };
    const done = actions
      .filter(({ action }) => !["account create", "account credit", "key create"].includes(action))
      .map(({ action, reason }) => [action, reason]);
    expect(done).toEqual([
      ["usage credit", "wrong answer"],
      ["account recount", "the audit found it"],
      ["account limit", null],
      ["account unfreeze", null],
      ["account freeze", "a stolen card"],
      ["admission start", null],
      ["admission stop", "a price was a slip"],
    ]);
    for (const { operator } of actions) expect(operator).toMatch(/^.+@.+$/);
  });
});
