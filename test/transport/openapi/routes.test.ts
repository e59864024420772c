// The document and the server are read off the same options; here they are compared as a client meets them.

import { readFile } from "node:fs/promises";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { documentedPath, routesOf } from "../../../src/transport/rest/http-rules.ts";
import { createMetricsServer } from "../../../src/transport/server/metrics-server.ts";
import { services } from "../../../src/transport/calls/services.ts";
import { startServers, type Running } from "../fakes.ts";

type PathItem = Record<string, unknown> & { servers?: { url: string }[] };
type Document = { paths: Record<string, PathItem> };

let running: Running;
let document: Document;

beforeAll(async () => {
  running = await startServers();
  document = (await (await fetch(`${running.http}/openapi.json`)).json()) as Document;
});
afterAll(() => running.servers.close(1_000));

const verbsOf = (item: PathItem) => Object.keys(item).filter((key) => key !== "servers");
const addressesOf = (path: string, item: PathItem) =>
  (item.servers ?? [{ url: "/" }]).map(({ url }) => url.replace(/\/$/, "") + path.replace("{id}", "some-id"));

test("serves the committed document", async () => {
  const committed = await readFile(new URL("../../../openapi/openapi.json", import.meta.url), "utf8");
  expect(document).toEqual(JSON.parse(committed));
});

test("every documented operation is registered, at every base it names", async () => {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const address of addressesOf(path, item)) {
      // OPTIONS has no handler: the answer names the verbs that are registered.
      const response = await fetch(running.http + address, { method: "OPTIONS" });
      expect([address, response.status]).toEqual([address, 405]);
      const allowed = (response.headers.get("allow") ?? "").split(", ").map((verb) => verb.toLowerCase());
      expect(allowed.toSorted()).toEqual(verbsOf(item).toSorted());
    }
  }
});

test("every route of the contracts is documented", () => {
  const routes = Object.values(services).flatMap((service) => service.methods.flatMap(routesOf));
  const documented = Object.entries(document.paths).flatMap(([path, item]) =>
    verbsOf(item).map((verb) => `${verb.toUpperCase()} ${path}`),
  );
  expect(routes.map((route) => `${route.verb} ${documentedPath(route)}`).toSorted()).toEqual(documented.toSorted());
});

test("only the merchant paths are under /sandbox", () => {
  const underSandbox = Object.entries(document.paths).filter(([, item]) =>
    item.servers?.some(({ url }) => url === "/sandbox"),
  );
  expect(underSandbox.map(([path]) => path).every((path) => path.startsWith("/v1/merchant-"))).toBe(true);
  expect(underSandbox.length).toBeGreaterThan(0);
});

test("shows the state of the process", async () => {
  expect((await fetch(`${running.http}/healthz`)).status).toBe(200);
  expect((await fetch(`${running.http}/readyz`)).status).toBe(200);
  const agentsPackage = await fetch(`${running.http}/saldo-agents.tgz`);
  expect(agentsPackage.headers.get("content-type")).toBe("application/gzip");
  expect(await agentsPackage.text()).toBe("a package");
});

test("shows the metrics on a port of their own, and nothing else there", async () => {
  const server = createMetricsServer(new Registry());
  const metrics = `http://127.0.0.1:${await server.listen({ host: "127.0.0.1", port: 0 })}`;
  expect((await fetch(`${metrics}/metrics`)).status).toBe(200);
  expect((await fetch(`${metrics}/v1/models`)).status).toBe(404);
  await server.close(1_000);
});

test("shows that the process is not ready", async () => {
  const away = await startServers({ ready: async () => false });
  expect((await fetch(`${away.http}/readyz`)).status).toBe(503);
  await away.servers.close(1_000);
});
