// A database that is away for longer than a lease lasts, for every gateway: none may declare another dead.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SOUND } from "../money/money-setup.ts";
import type { SaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { waitHalfway } from "./load.ts";
import { PostgresProxy } from "./postgres-proxy.ts";
import { Service } from "./service.ts";

/** Longer than the 20 s for which a lease is renewed. */
const OUTAGE_MS = 23_000;
/** In this time every gateway has renewed, and each one that could bury another has tried. */
const AFTERWARDS_MS = 6_000;

describe("an outage of the database that outlasts the leases", () => {
  let opened: TestDatabase;
  let proxy: PostgresProxy;
  let service: Service;
  let nodes: Pick<SaldoProcess, "httpUrl">[];
  beforeAll(async () => {
    opened = await createTestDatabase();
    proxy = await PostgresProxy.before(opened.url);
    service = await Service.create(opened.url, { DATABASE_URL: proxy.urlFor(opened.url) });
    nodes = [await service.node(), await service.nodeHere()];
  });
  afterAll(async () => {
    await service.close();
    await proxy.close();
    await opened.drop();
  });

  it("kills no stream, admits nothing without a hold, and ends unaided", async () => {
    const customer = await service.customer(1_000_000_000n);
    const [meanwhile, afterwards] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { upstream } = service;
    upstream.run((response, received, call) =>
      waitHalfway(call > 4 ? Promise.resolve() : call > 2 ? afterwards.promise : meanwhile.promise)(
        response,
        received,
        call,
      ),
    );
    const streams = [];
    for (const node of [...nodes, ...nodes]) {
      streams.push(service.ask(node, customer, { stream: true }));
      await expect.poll(() => upstream.received.length).toBe(streams.length);
    }
    const before = await service.processes();
    expect(before.map(({ dead }) => dead)).toEqual([false, false]);

    proxy.cutAll({ refuse: true });
    const over = sleep(OUTAGE_MS);
    let ended = 0;
    for (const stream of streams) void stream.then(() => (ended += 1));
    // The first two upstreams end now. That is not visible before it is billed.
    meanwhile.resolve();
    for (const node of [...nodes, ...nodes]) {
      const refused = await service.ask(node, customer);
      expect([refused.status, JSON.parse(refused.text)]).toMatchObject([503, { error: "upstream_busy" }]);
      expect((await fetch(`${node.httpUrl}/readyz`)).status).toBe(503);
    }
    await over;
    expect(ended).toBe(0);
    expect(upstream.received).toHaveLength(streams.length);

    proxy.isAway = false;
    await sleep(AFTERWARDS_MS);
    afterwards.resolve();
    for (const stream of streams) {
      expect(await stream).toMatchObject({ status: 200, broken: false, costIdr: "0.0838" });
    }
    for (const node of nodes)
      expect(await service.ask(node, customer)).toMatchObject({ status: 200, costIdr: "0.0838" });
    const usage = await service.usageOf(customer.accountId);
    expect(usage.map(({ basis }) => basis)).toEqual(
      Array.from({ length: streams.length + nodes.length }, () => "exact"),
    );
    expect(await service.processes()).toEqual(before);
    // An admission under way when the connections were lost may have been written; the sweep releases it.
    await expect.poll(() => service.openHolds(), { timeout: 90_000, interval: 500 }).toBe(0);
    expect(await service.audit()).toEqual(SOUND);
  }, 180_000);
});
