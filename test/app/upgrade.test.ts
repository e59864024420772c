// An upgrade at noon, and its rollback: two nodes of the version before, a change of the schema beneath them, one node after the
// other in the new version, and both back. Requests run all the time. `npm run upgrade-test` does it several times over.

import { randomBytes } from "node:crypto";
import { expect, inject, it } from "vitest";
import { clientConfig, connectClient } from "../../src/database/connections.ts";
import { schemaCode } from "../../src/database/migrations/migrations.ts";
import { checkOutFormerVersion, isShallowClone } from "../setup/former-version.ts";
import { freePorts } from "../setup/free-ports.ts";
import { IS_LONG } from "../setup/long-tests.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { onServer, urlOfDatabase } from "../setup/test-servers.ts";
import { RollingLoad } from "./rolling-load.ts";

const CLIENTS = IS_LONG ? 16 : 6;
const ROUNDS = IS_LONG ? 5 : 1;
/** Answers that are waited for in each state of the two nodes. */
const ANSWERS = IS_LONG ? 400 : 30;
const NEWEST = schemaCode.migrations.at(-1)?.number ?? 0;

type Settings = Readonly<Record<string, string>>;

// A clone of the newest commits alone has no version before; .ci/run fetches the whole history.
it.skipIf(isShallowClone())(
  "an upgrade of two nodes and its rollback fail no request, and bill each answer once",
  async () => {
    await using stack = new AsyncDisposableStack();
    const former = await checkOutFormerVersion();
    stack.defer(() => former.remove());
    const server = inject("testServers")[0];
    if (server === undefined) throw new Error("a test run has a server");
    const name = `saldo_test_${randomBytes(6).toString("hex")}`;
    await onServer(server.url, `CREATE DATABASE ${name}`);
    stack.defer(async () => void (await onServer(server.url, `DROP DATABASE ${name} WITH (FORCE)`)));
    const url = urlOfDatabase(server.url, name);
    const settings = { DATABASE_URL: url };
    const owner = await connectClient(clientConfig({ connectionString: url }, "test"));
    stack.defer(() => owner.end());

    const ports = await freePorts(2);
    const settingsOf = (index: number): Settings => ({
      ...settings,
      SALDO_HTTP_PORT: String(ports[index]),
      SALDO_GRPC_PORT: "0",
      SALDO_METRICS_PORT: "0",
      SALDO_DEMO_PACE_MS: "5",
    });
    const startFormer = (index: number) => SaldoProcess.startProgram([former.entry], settingsOf(index));
    const startNew = (index: number) => SaldoProcess.start(settingsOf(index));
    const nodes = await Promise.all([startFormer(0), startFormer(1)]);
    stack.defer(async () => void (await Promise.all(nodes.map((node) => node.stop()))));
    // The customer that the version before made at its start; a command of this version would bring the schema up to date.
    const key = nodes[0]?.announced(/gw_[A-Za-z0-9]{49}/) ?? "";
    const { rows: demo } = await owner.query<{ accountId: string }>(
      `UPDATE api_key SET rate_limit = 0 WHERE last_four = $1 RETURNING account_id AS "accountId"`,
      [key.slice(-4)],
    );
    const accountId = demo[0]?.accountId ?? "";
    const load = new RollingLoad(ports, key);
    const clients = [load.watch(0), load.watch(1), ...Array.from({ length: CLIENTS }, (_, index) => load.run(index))];
    const replace = async (index: number, start: (index: number) => Promise<SaldoProcess>): Promise<void> => {
      expect(await nodes[index]?.stop()).toBe(0);
      nodes[index] = await start(index);
      await load.answeredMore(ANSWERS);
    };
    const schema = async (): Promise<number> =>
      (await owner.query<{ newest: number }>("SELECT max(number) AS newest FROM schema_change")).rows[0]?.newest ?? 0;

    let besideChangeMs = 0;
    try {
      await load.answeredMore(ANSWERS);
      expect(await schema()).toBe(former.schema);

      // Another session has read the tables that requests use, and stays in its transaction: the change waits, and they do not.
      const reader = await connectClient(clientConfig({ connectionString: url }, "test"));
      await reader.query("BEGIN; SELECT FROM account, api_key, hold, usage_record, posting LIMIT 0");
      load.slowestMs = 0;
      const migrating = saldoJson(["migrate"], settings);
      await load.answeredMore(ANSWERS);
      await reader.query("COMMIT");
      await reader.end();
      await migrating;
      besideChangeMs = Math.round(load.slowestMs);
      expect(await schema()).toBe(NEWEST);
      await load.answeredMore(ANSWERS);

      for (let round = 0; round < ROUNDS; round += 1) {
        for (const index of [0, 1]) await replace(index, startNew);
        for (const index of IS_LONG ? [0, 1] : [0]) await replace(index, startFormer);
      }
      expect(await schema()).toBe(NEWEST);
    } finally {
      load.ended = true;
      await Promise.all(clients);
    }
    expect(await Promise.all(nodes.map((node) => node.stop()))).toEqual([0, 0]);

    expect(load.failures).toEqual([]);
    // Refused cleanly is allowed, but not the rule.
    expect(load.refused).toBeLessThanOrEqual(load.answered.length / 20);
    expect(load.sentElsewhere).toBeGreaterThan(0);
    const { rows } = await owner.query<{ id: string; charge: bigint }>(
      "SELECT request_id AS id, charge FROM usage_record WHERE account_id = $1",
      [accountId],
    );
    expect(rows.map(({ id }) => id).toSorted()).toEqual(load.answered.toSorted());
    expect(rows.every(({ charge }) => charge > 0n)).toBe(true);
    const { rows: accounts } = await owner.query("SELECT posted > 0 AS paid, held FROM account WHERE id = $1", [
      accountId,
    ]);
    expect(accounts).toEqual([{ paid: true, held: 0n }]);
    expect(await saldoJson(["audit", "--full"], settings)).toMatchObject({ ok: true, violations: [] });
    process.stdout.write(
      `upgrade from ${former.commit.slice(0, 8)}: ${load.answered.length} answered, ${load.refused} refused cleanly, ` +
        `the slowest beside a waiting change took ${besideChangeMs} ms\n`,
    );
  },
  900_000,
);
