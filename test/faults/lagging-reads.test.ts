// Usage that is read from a standby: it is of an earlier moment and has its time, and balances never are.

import { createClient, createRouterTransport } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UNRECORDED } from "../../src/database/record-change.ts";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { createBillingService } from "../../src/billing/service.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { runSaldo } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { type ServerPair, startPair } from "../setup/server-pair.ts";
import { createTestDatabase } from "../setup/test-database.ts";
import { onServer } from "../setup/test-servers.ts";

const KEY = /gw_[A-Za-z0-9]{49}/;
const HELLO = JSON.stringify({ model: "demo/small", messages: [{ role: "user", content: "Hello!" }] });
const PATIENCE = { timeout: 15_000, interval: 100 };

type Usage = { readonly records?: readonly unknown[]; readonly asOf?: string };

describe("usage with a standby for reads", () => {
  let pair: ServerPair;
  let saldo: SaldoHere;
  let settings: Record<string, string>;
  let requests = 0;
  beforeAll(async () => {
    pair = await startPair();
    settings = { DATABASE_URL: pair.primaryUrl, DATABASE_READ_URL: pair.standbyUrl, SALDO_READ_LAG_SECONDS: "5" };
    saldo = await SaldoHere.start(settings);
  });
  afterAll(async () => {
    await saldo.stop();
    await pair.stop();
  });

  const headers = () => ({ authorization: `Bearer ${saldo.announced(KEY)}`, "content-type": "application/json" });

  async function chat(): Promise<void> {
    const response = await fetch(`${saldo.httpUrl}/v1/chat/completions`, {
      method: "POST",
      headers: headers(),
      body: HELLO,
    });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    requests += 1;
  }

  async function usage(): Promise<Usage> {
    const url = `${saldo.httpUrl}/saldo.billing.v1.BillingService/ListUsage`;
    const response = await fetch(url, { method: "POST", headers: headers(), body: "{}" });
    expect(response.status).toBe(200);
    return (await response.json()) as Usage;
  }

  const lines = async () => (await usage()).records?.length ?? 0;
  /** Whether the service would read from the standby; a look at its metrics takes nothing from the key's window. */
  const isFromStandby = async () => /^saldo_read_standby_used 1$/m.test(await metrics());
  const linesOnStandby = async () =>
    (await onServer(pair.standbyUrl, "SELECT count(*)::int AS lines FROM usage_record")).rows[0].lines;

  async function balance(): Promise<string> {
    const response = await fetch(`${saldo.httpUrl}/v1/balance`, { headers: headers() });
    return ((await response.json()) as { posted: string }).posted;
  }

  async function postedOnPrimary(): Promise<string> {
    const text = "SELECT posted::text AS posted FROM account WHERE id = (SELECT account_id FROM usage_record LIMIT 1)";
    const { posted } = (await onServer(pair.primaryUrl, text)).rows[0];
    return posted;
  }

  const micro = (rupiah: string) => String(Math.round(Number(rupiah) * 1_000_000));
  const metrics = async () => (await fetch(`${saldo.metricsUrl}/metrics`)).text();

  const isLogged = (event: string, reason?: string): boolean =>
    saldo.log.some((line) => line["event"] === event && line["reason"] === reason);

  async function pauseReplay(): Promise<void> {
    await onServer(pair.standbyUrl, "SELECT pg_wal_replay_pause()");
    const state = async () =>
      (await onServer(pair.standbyUrl, "SELECT pg_get_wal_replay_pause_state() AS s")).rows[0].s;
    await expect.poll(state, PATIENCE).toBe("paused");
  }

  const resumeReplay = () => onServer(pair.standbyUrl, "SELECT pg_wal_replay_resume()");

  /** The service's own database, without its ports. */
  async function withReads<T>(readUrl: string, work: (database: Database) => Promise<T>): Promise<T> {
    const database = await openDatabase({ url: pair.primaryUrl, readUrl, dataDir: "" });
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  }

  it("comes from the standby with its moment, and the balance does not", async () => {
    await chat();
    await expect.poll(isFromStandby, PATIENCE).toBe(true);
    await expect.poll(linesOnStandby, PATIENCE).toBe(requests);
    await pauseReplay();
    const before = requests;
    await chat();
    const { records, asOf } = await usage();
    expect(records).toHaveLength(before);
    expect(new Date(asOf ?? 0).getTime()).toBeLessThan(Date.now());
    expect(micro(await balance())).toBe(await postedOnPrimary());
    await resumeReplay();
    await expect.poll(linesOnStandby, PATIENCE).toBe(requests);
    expect(await lines()).toBe(requests);
  });

  it("comes from the primary while the standby is further behind than the setting, and from the standby again", async () => {
    await pauseReplay();
    await chat();
    await expect.poll(isFromStandby, PATIENCE).toBe(false);
    expect(await lines()).toBe(requests);
    await expect.poll(() => isLogged("database.reads.primary", "behind"), PATIENCE).toBe(true);
    expect(await metrics()).toMatch(/^saldo_read_fallbacks_total\{reason="behind"\} [1-9]/m);
    await resumeReplay();
    await expect.poll(isFromStandby, PATIENCE).toBe(true);
    await expect.poll(() => isLogged("database.reads.standby"), PATIENCE).toBe(true);
  });

  it("has its moment in the header of a file, and the file its columns", async () => {
    await withReads(pair.standbyUrl, async (database) => {
      const { rows } = await database.pool.query<{ id: string }>("SELECT account_id AS id FROM usage_record LIMIT 1");
      const service = createBillingService({
        database,
        accountOf: () => rows[0]?.id ?? "",
        recordChangeOf: () => UNRECORDED,
        visibleKeysOf: async () => null,
      });
      const billing = createClient(
        BillingService,
        createRouterTransport((router) => void router.service(BillingService, service)),
      );
      const fileOf = async (which: "exportUsage" | "exportLedger") => {
        let asOf: string | null = null;
        let text = "";
        const onHeader = (header: Headers) => void (asOf = header.get("x-saldo-as-of"));
        for await (const { csv } of billing[which]({}, { onHeader })) text += Buffer.from(csv).toString();
        return { asOf, text };
      };
      const now = await fileOf("exportUsage");
      expect(now.asOf).toBeNull();
      const waitForStandby = async () => {
        await database.reads.look();
        return database.reads.problem;
      };
      await expect.poll(waitForStandby, PATIENCE).toBeNull();
      const later = await fileOf("exportUsage");
      expect(later.text).toBe(now.text);
      for (const { asOf } of [later, await fileOf("exportLedger")])
        expect(new Date(asOf ?? 0).getTime()).toBeGreaterThan(Date.now() - 60_000);
      const summary = await billing.summarizeUsage({});
      expect([summary.totals?.requests, summary.asOf === undefined]).toEqual([BigInt(requests), false]);
    });
  });

  it("is repeated on the primary when the standby cancels it to go on", async () => {
    await onServer(pair.standbyUrl, "ALTER SYSTEM SET max_standby_streaming_delay = '50ms'");
    await onServer(pair.standbyUrl, "SELECT pg_reload_conf()");
    await withReads(pair.standbyUrl, async ({ reads }) => {
      const isUsed = async () => {
        await reads.look();
        return reads.problem;
      };
      await expect.poll(isUsed, PATIENCE).toBeNull();
      const read = reads.beginRead();
      const isReading = Promise.withResolvers<void>();
      const servers = read.run((pool) =>
        withTransaction({ pool }, async (client) => {
          const { rows } = await client.query("SELECT pg_is_in_recovery() AS standby, count(*) FROM usage_record");
          isReading.resolve();
          await client.query("SELECT CASE WHEN pg_is_in_recovery() THEN pg_sleep(60) END");
          return rows[0];
        }),
      );
      await isReading.promise;
      await onServer(pair.primaryUrl, "BEGIN; LOCK TABLE usage_record IN ACCESS EXCLUSIVE MODE; COMMIT");
      expect(await servers).toMatchObject({ standby: false });
      expect(reads.fallbacks).toMatchObject({ conflict: 1 });
    });
  });

  it("never comes from a server of other books", async () => {
    const other = await createTestDatabase();
    await withReads(other.url, async ({ reads }) => {
      for (let times = 0; times < 3; times += 1) await reads.look();
      expect(reads.problem).toBe("history");
    });
    await other.drop();
  });

  it("gives the margin of a command its moment", async () => {
    const words = ["margin", "--from", "2026-11-01", "--to", "2026-11-02", "--json"];
    const asOf = async () => JSON.parse((await runSaldo(words, settings)).stdout)["asOf"];
    await expect.poll(asOf, PATIENCE).toMatch(/^\d{4}-/);
  });

  it("comes from the primary when the standby is gone", async () => {
    await pair.standby.stop({ evenWithClients: true });
    await chat();
    await expect.poll(isFromStandby, PATIENCE).toBe(false);
    expect(await lines()).toBe(requests);
    await expect.poll(() => isLogged("database.reads.primary", "away"), PATIENCE).toBe(true);
  });
});
