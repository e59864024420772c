// The lease's own connection: opened once for all callers, replaced when it is lost, never left open.

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Client } from "pg";
import { ProcessLease } from "../../src/ledger/process-lease.ts";
import { testBackends } from "../setup/test-database.ts";
import { MoneySetup } from "./money-setup.ts";

describe.each(testBackends())("the lease's connection on the %s database", (backend) => {
  let setup: MoneySetup;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
  });
  afterAll(() => setup.close());

  it("owns no new holds while it may have run out, and its caller renews it", async () => {
    const lease = await ProcessLease.take(setup.opened.database);
    expect(lease.owner()).toBe(lease.processId);
    const now = vi.spyOn(performance, "now").mockReturnValue(performance.now() + 20_500);
    try {
      expect(() => lease.owner()).toThrow(expect.objectContaining({ code: "upstream_busy" }));
      await lease.renew();
      expect(lease.owner()).toBe(lease.processId);
    } finally {
      now.mockRestore();
    }
    await lease.resign();
  });

  it("is a single one, also when two renewals run at once after its loss, and is closed in the end", async () => {
    const made: Client[] = [];
    const ended = new Set<Client>();
    const lease = await ProcessLease.take({
      connect: async () => {
        const client = await setup.opened.database.connect();
        client.on("end", () => ended.add(client));
        made.push(client);
        return client;
      },
    });
    await setup.asOwner(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'INSERT INTO process%'",
    );
    await Promise.allSettled([lease.renew(), lease.expireDeadProcesses()]);
    await Promise.all([lease.renew(), lease.expireDeadProcesses()]);
    expect(made.length).toBeLessThanOrEqual(3);
    await lease.resign();
    await expect.poll(() => ended.size).toBe(made.length);
    const { rows } = await setup.pool.query("SELECT dead_at IS NOT NULL AS dead FROM process WHERE id = $1", [
      lease.processId,
    ]);
    expect(rows).toEqual([{ dead: true }]);
  });

  it("is given up without an error when the database is away at the end", async () => {
    let away = false;
    const lease = await ProcessLease.take({
      connect: () => (away ? Promise.reject(new Error("Connection terminated")) : setup.opened.database.connect()),
    });
    away = true;
    await setup.asOwner(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'INSERT INTO process%'",
    );
    await expect(lease.resign()).resolves.toBeUndefined();
  });
});
