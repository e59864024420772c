// A request that a fault of ours ends is no request that a busy upstream ended, in the metrics and in the log either.

import { afterAll, beforeAll, expect, it } from "vitest";
import { completion, json } from "../gateway/scripted-upstream.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { PostgresProxy } from "./postgres-proxy.ts";
import { Service } from "./service.ts";

let opened: TestDatabase;
let proxy: PostgresProxy;
let service: Service;
beforeAll(async () => {
  opened = await createTestDatabase();
  proxy = await PostgresProxy.before(opened.url);
  service = await Service.create(opened.url, { DATABASE_URL: proxy.urlFor(opened.url), SALDO_LOG_LEVEL: "info" });
});
afterAll(async () => {
  await service.close();
  await proxy.close();
  await opened.drop();
});

it("counts and logs a request without its database as a fault of this service", { timeout: 60_000 }, async () => {
  const node = await service.node();
  const customer = await service.customer(1_000_000_000n);
  const outcome = async (name: string): Promise<number> => {
    const text = await (await fetch(`${node.metricsUrl}/metrics`)).text();
    return Number(new RegExp(`^saldo_chat_requests_total\\{outcome="${name}"\\} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
  };
  service.upstream.run(json(completion()));
  expect((await service.ask(node, customer)).status).toBe(200);

  proxy.cutAll({ refuse: true });
  const refused = await service.ask(node, customer);
  proxy.isAway = false;
  expect([refused.status, JSON.parse(refused.text)]).toMatchObject([503, { error: "upstream_busy" }]);
  expect(await outcome("service_busy")).toBe(1);
  expect(await outcome("upstream_busy")).toBe(0);
  const codes = (): unknown[] =>
    node.log.filter(({ event }) => event === "call.ended").map((line) => line["code"] ?? null);
  await expect.poll(codes).toEqual(["ok", "service_busy"]);

  service.upstream.run(json("{}", 503));
  const busy = async (): Promise<number> => (await service.ask(node, customer), outcome("upstream_busy"));
  await expect.poll(busy, { timeout: 20_000 }).toBeGreaterThan(0);
});
