import { createServer, type Server } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { Agent, request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { publicConnector, type OutsideRules } from "./public-connector.ts";

let server: Server;
let port: number;
let connections = 0;

beforeAll(async () => {
  server = createServer((_request, response) => void response.end("inside"));
  server.on("connection", () => (connections += 1));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((done) => server.close(done)));

/** A resolver that gives the answers one after the other, and counts. */
function resolver(...answers: string[][]): { resolve: LookupFunction; asked: () => number } {
  let asked = 0;
  const resolve: LookupFunction = (_hostname, _options, callback) => {
    const addresses = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };
  return { resolve, asked: () => asked };
}

/** What a request to a host comes to under the rules: its body, or the code it failed with. */
async function fetched(host: string, rules: Omit<OutsideRules, "timeoutMs"> = {}): Promise<string> {
  const agent = new Agent({ connect: publicConnector({ timeoutMs: 2_000, ...rules }) });
  try {
    const { body } = await request(`http://${host}:${port}/`, { dispatcher: agent });
    return await body.text();
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  } finally {
    await agent.destroy();
  }
}

test("refuses addresses of this machine and network however they are written, without connecting", async () => {
  const before = connections;
  for (const host of [
    "127.0.0.1",
    "0x7f.1",
    "2130706433",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "0.0.0.0",
    "localhost",
    "10.0.0.1",
  ]) {
    expect([host, await fetched(host)]).toEqual([host, "SALDO_PRIVATE_ADDRESS"]);
  }
  expect(connections).toBe(before);
});

test("refuses a name when any of its addresses is private", async () => {
  for (const addresses of [
    ["127.0.0.1"],
    ["8.8.8.8", "127.0.0.1"],
    ["2606:4700::1111", "::1"],
    ["8.8.8.8", "169.254.169.254"],
  ]) {
    const { resolve } = resolver(addresses);
    expect(await fetched("hooks.example.com", { resolve })).toBe("SALDO_PRIVATE_ADDRESS");
  }
});

test("connects to what it has checked: a name is resolved once", async () => {
  // Loopback is allowed, so that a connection can be made; the second answer would be refused.
  const { resolve, asked } = resolver(["127.0.0.1"], ["10.0.0.1"]);
  expect(await fetched("rebinding.example.com", { resolve, allowLoopback: true })).toBe("inside");
  expect(asked()).toBe(1);
});

test("accepts only loopback where that is allowed", async () => {
  expect(await fetched("127.0.0.1", { allowLoopback: true })).toBe("inside");
  expect(await fetched("localhost", { allowLoopback: true })).toBe("inside");
  expect(await fetched("10.0.0.1", { allowLoopback: true })).toBe("SALDO_PRIVATE_ADDRESS");
  expect(await fetched("169.254.169.254", { allowLoopback: true })).toBe("SALDO_PRIVATE_ADDRESS");
  expect(await fetched("x.example.com", { ...resolver(["192.168.1.1"]), allowLoopback: true })).toBe(
    "SALDO_PRIVATE_ADDRESS",
  );
});

test("fails when a name has no address", async () => {
  expect(await fetched("nowhere.example.com", { ...resolver([]) })).toContain("no address");
});
