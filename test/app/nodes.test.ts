// Several nodes on one PostgreSQL: what is promised of one holds of all together, and one can be restarted after the other
// while they are in use.

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
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

const HELLO = { model: "demo/small", messages: [{ role: "user", content: "Hello!" }] };
const SOUND = { ok: true, violations: [] };
const LOOK_MS = 20;

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
    const load = new Load(ports, key);
    const clients = [load.watch(0), load.watch(1), ...Array.from({ length: 16 }, (_, index) => load.run(index))];
    try {
      for (const index of IS_LONG ? [0, 1, 0, 1] : [0, 1]) {
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

/**
 * Clients behind a balancer: it asks a node as long as that is ready, and asks the other when the port is closed, because
 * then nothing can have been done.
 */
class Load {
  readonly answered: string[] = [];
  readonly failures: string[] = [];
  sentElsewhere = 0;
  ended = false;
  readonly #ports: readonly number[];
  readonly #key: string;
  readonly #isReady = [true, true];

  constructor(ports: readonly number[], key: string) {
    this.#ports = ports;
    this.#key = key;
  }

  async run(client: number): Promise<void> {
    for (let asked = client; !this.ended; asked += 1) await this.#ask(asked % 2, asked % 3 === 0);
  }

  /** Looks after a node as a balancer does. */
  async watch(node: number): Promise<void> {
    while (!this.ended) {
      this.#isReady[node] = await fetch(`http://127.0.0.1:${this.#ports[node]}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
      await sleep(LOOK_MS);
    }
  }

  /** Waits until this many more were answered. */
  async answeredMore(count: number): Promise<void> {
    const goal = this.answered.length + count;
    await expect.poll(() => this.answered.length + this.failures.length, { timeout: 120_000 }).toBeGreaterThan(goal);
  }

  async #ask(wanted: number, stream: boolean): Promise<void> {
    const node = this.#isReady[wanted] === true ? wanted : 1 - wanted;
    if (node !== wanted) this.sentElsewhere += 1;
    try {
      const answer = await chat(`http://127.0.0.1:${this.#ports[node]}`, this.#key, { ...HELLO, stream });
      const text = await answer.text();
      const whole = stream ? text.trimEnd().endsWith("data: [DONE]") : text.includes('"cost_idr"');
      if (answer.status === 200 && whole) this.answered.push(answer.headers.get("x-request-id") ?? "");
      else this.failures.push(`${answer.status} ${text.slice(-300)}`);
    } catch (error) {
      if (causeOf(error) !== "ECONNREFUSED") return void this.failures.push(causeOf(error));
      await sleep(LOOK_MS);
      if (!this.ended) await this.#ask(1 - node, stream);
    }
  }
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && "code" in cause ? String(cause.code) : String(cause ?? error);
}
