// A node with several worker processes: one address and one bill, with any of them answering or dying.

import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { Client, credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import packageJson from "../../package.json" with { type: "json" };
import { isAlive } from "../../src/database/embedded/postmaster.ts";
import { makeDataDir, postmasterPid, removeDataDir, until } from "../setup/own-server.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { runSaldoProcess, SaldoProcess } from "../setup/saldo-process.ts";
import { callUnary } from "./clients/grpc-calls.ts";
import { chat, newCustomer } from "./customer.ts";

const HELLO = { model: "demo/small", messages: [{ role: "user", content: "Hello!" }] };
const SOUND = { ok: true, violations: [] };

describe("a node with two workers", { timeout: 240_000 }, () => {
  let folder: string;
  let settings: Record<string, string>;
  let node: SaldoProcess;
  const flags = packageJson.scripts.start.split(" ").filter((word) => word.startsWith("--"));
  const start = () => SaldoProcess.start({ ...settings, SALDO_DEMO_PACE_MS: "20" }, flags);

  beforeAll(async () => {
    folder = await makeDataDir();
    settings = { SALDO_DATA_DIR: folder, SALDO_WORKERS: "2" };
    node = await start();
  });
  afterAll(async () => {
    await node.stop();
    await until(() => !workerPids(node).some(isAlive));
    await removeDataDir(folder);
  });

  it("shares one address, one rate window and one scrape, over HTTP and gRPC", async () => {
    expect(flags.length).toBeGreaterThan(0);
    const { accountId, key } = await newCustomer(settings, { amount: "100000", rateLimit: 60 });
    // Each in its own connection, which go to the workers in turn.
    const answers = await Promise.all(Array.from({ length: 61 }, () => chat(node.httpUrl, key, HELLO)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
    const { records } = (await saldoJson(["usage", "list", "--account", accountId, "--limit", "100"], settings)) as {
      records?: unknown;
    };
    expect(records).toHaveLength(60);

    const scraped = await (await fetch(`${node.metricsUrl}/metrics`)).text();
    const members = (worker: number): number =>
      Number(new RegExp(`^saldo_ledger_members_total\\{worker="${worker}"\\} (\\d+)$`, "m").exec(scraped)?.[1]);
    expect(members(1)).toBeGreaterThan(0);
    expect(members(2)).toBeGreaterThan(0);
    // The refused one is a member too: an admission that was decided.
    expect(members(1) + members(2)).toBe(61 + 60);
    expect(scraped).toMatch(/^saldo_workers_serving\{worker="primary"\} 2$/m);
    for (const pid of workerPids(node)) {
      expect((await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0")).toEqual(expect.arrayContaining(flags));
    }

    const other = await newCustomer(settings, { amount: "1000" });
    const grpc = new Client(node.grpcAddress, credentials.createInsecure());
    const { createChatCompletion } = GatewayService.method;
    const call = { request: HELLO, key: other.key, options: { deadline: Date.now() + 20_000 } };
    expect(await callUnary(grpc, createChatCompletion, call)).toMatchObject({ model: HELLO.model });
    grpc.close();
    expect(await saldoJson(["audit"], settings)).toMatchObject(SOUND);
  });

  it("goes on answering while a killed worker is replaced", async () => {
    const { key } = await newCustomer(settings, { amount: "1000" });
    const [first = 0, second = 0] = workerPids(node);
    process.kill(first, "SIGKILL");
    await until(() => !isAlive(first));
    await until(async () => (await chat(node.httpUrl, key, HELLO)).status === 200);
    await until(() => workerPids(node).length === 3);
    expect(isAlive(second)).toBe(true);
    const scraped = await (await fetch(`${node.metricsUrl}/metrics`)).text();
    expect(scraped).toMatch(/^saldo_workers_serving\{worker="primary"\} 2$/m);
    expect(scraped).toMatch(/^saldo_worker_restarts_total\{worker="[12]"\} 1$/m);
  });

  it("finishes and bills running requests of every worker when it is stopped, and stops PostgreSQL last", async () => {
    const server = await postmasterPid(folder);
    const { accountId, streams } = await openStreams(node, settings);
    const stopped = node.stop();
    expect((await Promise.all(streams.map(endOf))).every((text) => text.endsWith("data: [DONE]"))).toBe(true);
    expect(await stopped).toBe(0);
    expect(isAlive(server)).toBe(false);
    expect(workerPids(node).some(isAlive)).toBe(false);
    expect(await saldoJson(["account", "show", "--account", accountId], settings)).toMatchObject({ held: "0" });
    expect(await billedTo(accountId, settings)).toHaveLength(streams.length);
  });

  it("loses its primary to kill -9: the workers end what runs, then themselves, and the next start takes over", async () => {
    node = await start();
    const server = await postmasterPid(folder);
    const { accountId, key, streams } = await openStreams(node, settings);
    await node.stop("SIGKILL");
    expect((await Promise.all(streams.map(endOf))).every((text) => text.endsWith("data: [DONE]"))).toBe(true);
    await until(() => !workerPids(node).some(isAlive));

    const next = await SaldoHere.start({ ...settings, SALDO_WORKERS: "1" });
    expect(await postmasterPid(folder)).toBe(server);
    expect((await chat(next.httpUrl, key, HELLO)).status).toBe(200);
    expect(await billedTo(accountId, settings)).toHaveLength(streams.length + 1);
    expect(await saldoJson(["audit"], settings)).toMatchObject(SOUND);
    await next.stop();
  });

  it("does not start beside another server on its port, reports that, and leaves nothing behind", async () => {
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(0, "127.0.0.1", resolve));
    const { port } = squatter.address() as AddressInfo;
    const free = { SALDO_GRPC_PORT: "0", SALDO_METRICS_PORT: "0" };
    const { code, stderr } = await runSaldoProcess(["serve"], { ...settings, ...free, SALDO_HTTP_PORT: String(port) });
    squatter.close();
    expect(code).toBe(1);
    expect(stderr).toContain("EADDRINUSE");
    expect(stderr).toContain(String(port));
  });
});

/** The workers that have served so far, also those that are gone. */
function workerPids({ log }: SaldoProcess): number[] {
  return log.filter(({ event }) => event === "process.worker.serving").map(({ pid }) => Number(pid));
}

type Streams = {
  readonly accountId: string;
  readonly key: string;
  readonly streams: readonly ReadableStreamDefaultReader<string>[];
};

/** Opens streams on both workers and reads the first of each, so that all have begun. */
async function openStreams(node: SaldoProcess, settings: Readonly<Record<string, string>>): Promise<Streams> {
  const { accountId, key } = await newCustomer(settings, { amount: "10000" });
  const streams = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const answer = await chat(node.httpUrl, key, { ...HELLO, stream: true });
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      if (reader === undefined) throw new Error("a stream has a body");
      await reader.read();
      return reader;
    }),
  );
  return { accountId, key, streams };
}

async function endOf(reader: ReadableStreamDefaultReader<string>): Promise<string> {
  let text = "";
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text += piece.value;
  return text.trimEnd();
}

async function billedTo(accountId: string, settings: Readonly<Record<string, string>>): Promise<unknown> {
  const page = await saldoJson(["usage", "list", "--account", accountId, "--limit", "100"], settings);
  return page["records"];
}
