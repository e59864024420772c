// Several nodes on one PostgreSQL: what is promised of one holds of all together, and one can be restarted after the other
// while they are in use.

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { revokePair } from "../../src/merchant/merchants/credentials.ts";
import { freePorts } from "../setup/free-ports.ts";
import { IS_LONG } from "../setup/long-tests.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { onServer, urlOfDatabase } from "../setup/test-servers.ts";
import { chat, newCustomer } from "./customer.ts";
import { HELLO, RollingLoad } from "./rolling-load.ts";

const SOUND = { ok: true, violations: [] };

describe("two nodes on one database", () => {
  let opened: TestDatabase;
  let settings: Record<string, string>;
  const nodes: (SaldoProcess | SaldoHere)[] = [];

  beforeAll(async () => {
    opened = await createTestDatabase();
    settings = { DATABASE_URL: opened.url };
    nodes.push(await SaldoProcess.start({ ...settings, SALDO_WORKERS: "2" }), await SaldoHere.start(settings));
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await opened.drop();
  });
  /** Asks both nodes, the first over connections to both of its workers. */
  const askEverywhere = async (key: string, times: number): Promise<number[]> => {
    const asked = Array.from({ length: times }, (_, index) => chat(nodes[index % 2]?.httpUrl ?? "", key, HELLO));
    return Promise.all(asked.map(async (answer) => (await answer).status));
  };

  it("answer 60 of 61 requests of a key, on any node", async () => {
    const { key } = await newCustomer(settings, { amount: "100000", rateLimit: 60 });
    const statuses = await askEverywhere(key, 61);
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  });

  it("admit nothing of a key from the moment on that it is revoked", async () => {
    const { keyId, key } = await newCustomer(settings, { amount: "100000" });
    // Every process remembers the key now.
    expect(new Set(await askEverywhere(key, 16))).toEqual(new Set([200]));
    await saldoJson(["key", "revoke", "--key-id", keyId], settings);
    expect(new Set(await askEverywhere(key, 16))).toEqual(new Set([401]));
    expect(await saldoJson(["audit"], settings)).toMatchObject(SOUND);
  });

  it("take no order of a merchant pair from the moment on that it is revoked", async () => {
    const { accountId } = await newCustomer(settings, { amount: "0.000001" });
    const create = ["merchant", "create", "--account", accountId, "--environment", "sandbox"];
    const merchant = await saldoJson(create, settings);
    const { merchantId = "", apiKey = "", secretKey = "" } = merchant;
    await saldoJson(
      ["merchant", "credit", "--merchant", merchantId, "--currency", "TRX", "--amount", "1000"].concat([
        "--reason",
        "test",
        "--reference",
        merchantId,
      ]),
      settings,
    );
    let orders = 0;
    const order = (node: number) =>
      fetch(`${nodes[node % 2]?.httpUrl}/sandbox/v1/merchant-transfers/create`, {
        method: "POST",
        headers: { authorization: `Basic ${btoa(`${apiKey}:${secretKey}`)}`, "content-type": "application/json" },
        body: JSON.stringify({
          externalId: `order-${(orders += 1)}`,
          currencyCode: "TRX",
          amount: 1,
          address: "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC",
        }),
      });
    // One after the other: orders of a currency wait for one row, and not for long.
    const orderEverywhere = async (): Promise<number[]> => {
      const statuses: number[] = [];
      for (let node = 0; node < 8; node += 1) statuses.push((await order(node)).status);
      return statuses;
    };
    // Every process remembers the pair now.
    expect(new Set(await orderEverywhere())).toEqual(new Set([200]));
    const { rows } = await opened.database.pool.query<{ id: string }>(
      "SELECT id FROM merchant_credential WHERE merchant_id = $1",
      [merchantId],
    );
    await revokePair(opened.database, rows[0]?.id ?? "");
    expect(new Set(await orderEverywhere())).toEqual(new Set([401]));
    const transfers = await opened.database.pool.query("SELECT FROM transfer WHERE merchant_id = $1", [merchantId]);
    expect(transfers.rowCount).toBe(8);
  });

  it("can both be the first to start on an empty database", async () => {
    const server = inject("testServers")[0];
    if (server === undefined) throw new Error("a test run has a server");
    const name = `saldo_test_${randomBytes(6).toString("hex")}`;
    await onServer(server.url, `CREATE DATABASE ${name}`);
    const empty = { DATABASE_URL: urlOfDatabase(server.url, name) };
    try {
      const first = await Promise.all([SaldoProcess.start(empty), SaldoHere.start(empty)]);
      const { key } = await newCustomer(empty, { amount: "1000" });
      for (const { httpUrl } of first) expect((await chat(httpUrl, key, HELLO)).status).toBe(200);
      await Promise.all(first.map((node) => node.stop()));
      expect(await saldoJson(["audit"], empty)).toMatchObject(SOUND);
    } finally {
      await onServer(server.url, `DROP DATABASE ${name} WITH (FORCE)`);
    }
  });
});

describe("a rolling restart under load", () => {
  it("loses nothing: every request is answered, and billed once", async () => {
    const opened = await createTestDatabase();
    const settings = { DATABASE_URL: opened.url };
    const ports = await freePorts(2);
    const start = (index: number) =>
      SaldoProcess.start({ ...settings, SALDO_HTTP_PORT: String(ports[index]), SALDO_DEMO_PACE_MS: "5" });
    const nodes = [await start(0), await start(1)];
    const { accountId, key } = await newCustomer(settings, { amount: "1000000" });
    const load = new RollingLoad(ports, key);
    const clients = [load.watch(0), load.watch(1), ...Array.from({ length: 16 }, (_, index) => load.run(index))];
    try {
      for (const index of IS_LONG ? [0, 1, 0, 1] : [0]) {
        await load.answeredMore(40);
        expect(await nodes[index]?.stop()).toBe(0);
        nodes[index] = await start(index);
      }
      await load.answeredMore(40);
    } finally {
      load.ended = true;
      await Promise.all(clients);
      await Promise.all(nodes.map((node) => node.stop()));
    }
    expect(load.failures).toEqual([]);
    expect(load.refused).toBe(0);
    expect(load.sentElsewhere).toBeGreaterThan(0);
    const { rows } = await opened.database.pool.query<{ id: string; charge: bigint }>(
      "SELECT request_id AS id, charge FROM usage_record WHERE account_id = $1",
      [accountId],
    );
    expect(rows.map(({ id }) => id).toSorted()).toEqual(load.answered.toSorted());
    expect(rows.every(({ charge }) => charge > 0n)).toBe(true);
    expect(await saldoJson(["account", "show", "--account", accountId], settings)).toMatchObject({ held: "0" });
    expect(await saldoJson(["audit"], settings)).toMatchObject(SOUND);
    await opened.drop();
  }, 360_000);
});
