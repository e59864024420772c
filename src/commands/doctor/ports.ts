// The ports: whether Saldo answers there, and where it does not serve, whether it could.

import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { connect } from "node:http2";
import { Agent, fetch } from "undici";
import type { TlsFiles } from "../../app/config/config.ts";
import { packageVersion } from "../../kernel/version.ts";
import { type OwnTls, ownTls } from "./certificates.ts";
import { type Check, codeOf, failed, type Finding, ok, type CheckContext, warning } from "./check.ts";

type Port = {
  readonly name: string;
  readonly setting: string;
  readonly hostSetting: string;
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles | null;
  /** Asks what serves there. Errors: those of the connection; `UnknownServer`. */
  readonly ask: (port: Port, withinMs: number) => Promise<Finding>;
};

/** Something answers at a port that is not Saldo. */
class UnknownServer extends Error {}

/** Metrics of many workers are long. */
const MOST_BYTES = 64 * 1024 * 1024;
const FIRST_FREE_FOR_ALL = "/proc/sys/net/ipv4/ip_unprivileged_port_start";

/** The checks of the three ports. */
export function portChecks({ config, withinMs }: CheckContext): Check[] {
  const { host, grpcHost, metricsHost, httpTls, grpcTls, metricsTls } = config;
  const ports: readonly Port[] = [
    {
      name: "http port",
      setting: "SALDO_HTTP_PORT",
      hostSetting: "SALDO_HOST",
      host,
      port: config.httpPort,
      tls: httpTls,
      ask: askHttp,
    },
    {
      name: "grpc port",
      setting: "SALDO_GRPC_PORT",
      hostSetting: "SALDO_GRPC_HOST",
      host: grpcHost,
      port: config.grpcPort,
      tls: grpcTls,
      ask: askGrpc,
    },
    {
      name: "metrics port",
      setting: "SALDO_METRICS_PORT",
      hostSetting: "SALDO_METRICS_HOST",
      host: metricsHost,
      port: config.metricsPort,
      tls: metricsTls,
      ask: askMetrics,
    },
  ];
  return ports.map((port) => ({
    name: port.name,
    advice: `Look at what listens at ${addressOf(port)}, or set ${port.setting}.`,
    look: async () => [await lookAt(port, withinMs)],
  }));
}

async function lookAt(port: Port, withinMs: number): Promise<Finding> {
  if (port.port === 0) return ok(port.name, "each start takes a free port");
  const unlistenable = await whyNotHere(port);
  if (unlistenable !== null) {
    const text = `this machine cannot listen at ${port.host}: ${unlistenable}`;
    return failed(port.name, text, `Set ${port.hostSetting} to an address of this machine.`);
  }
  try {
    return await port.ask(port, withinMs);
  } catch (error) {
    if (isRefused(error)) return lookAtFree(port);
    return failed(
      port.name,
      `another program answers at ${addressOf(port)}, or Saldo with other settings of TLS`,
      `Stop that program, or set ${port.setting} to a free port.`,
    );
  }
}

/** Why no program can listen at a port's host. Null: one can. Any port is taken for it: a start of now may need the one of the setting. */
async function whyNotHere({ host }: Port): Promise<string | null> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen({ host, port: 0 }, resolve);
    });
    return null;
  } catch (error) {
    return codeOf(error);
  } finally {
    server.close();
  }
}

/** Nothing listens at the port. */
async function lookAtFree(port: Port): Promise<Finding> {
  const address = addressOf(port);
  const first = Number(await readFile(FIRST_FREE_FOR_ALL, "utf8").catch(() => "0"));
  if (port.port < first && process.getuid?.() !== 0) {
    return warning(
      port.name,
      `${address} is free, and ports below ${first} are for privileged programs`,
      `Set ${port.setting} to ${first} or above, or give the service the right to listen there.`,
    );
  }
  return ok(port.name, `${address} is free; Saldo does not serve there now`);
}

async function askHttp(port: Port, withinMs: number): Promise<Finding> {
  const health = await get(port, "/healthz", withinMs);
  const { status, version } = objectIn(health.text);
  if (status !== "ok" || typeof version !== "string") throw new UnknownServer();
  const ready = await get(port, "/readyz", withinMs);
  const at = `Saldo ${version} answers at ${addressOf(port)}`;
  if (!ready.isFine) {
    return failed(
      port.name,
      `${at} and is not ready`,
      "Its database or its required standby is away: see those lines, and its log.",
    );
  }
  if (version === packageVersion()) return ok(port.name, at);
  return warning(
    port.name,
    `${at}, and this is ${packageVersion()}`,
    "Restart the service, or run the command of its version.",
  );
}

async function askMetrics(port: Port, withinMs: number): Promise<Finding> {
  const { isFine, text } = await get(port, "/metrics", withinMs);
  if (!isFine || !/^saldo_/m.test(text)) throw new UnknownServer();
  return ok(port.name, `Saldo answers at ${addressOf(port)}`);
}

async function askGrpc(port: Port, withinMs: number): Promise<Finding> {
  const serving = await healthOf(urlOf(port), await tlsOf(port), withinMs);
  if (serving === SERVING) return ok(port.name, `Saldo answers at ${addressOf(port)}`);
  return failed(
    port.name,
    `Saldo answers at ${addressOf(port)} and is not ready`,
    "Its database or its required standby is away: see those lines, and its log.",
  );
}

/** A call of gRPC's health without the contracts, which commands do not import: an empty request, and the status in the answer. */
const HEALTH_PATH = "/grpc.health.v1.Health/Check";
const FRAME_HEADER_BYTES = 5;
const SERVING = 1;

/** The status that the health of a gRPC server has. Errors: those of the connection; UnknownServer. */
async function healthOf(url: string, tls: OwnTls | null, withinMs: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const session = connect(url, tls ?? {});
  session.on("error", reject).setTimeout(withinMs, () => reject(new UnknownServer()));
  try {
    const headers = { ":method": "POST", ":path": HEALTH_PATH, "content-type": "application/grpc", te: "trailers" };
    const parts: Buffer[] = [];
    const call = session.request(headers);
    call.on("error", reject).on("data", (part: Buffer) => parts.push(part));
    call.on("end", () => {
      // The message is one field: its tag, and the status.
      const message = Buffer.concat(parts).subarray(FRAME_HEADER_BYTES);
      const status = message.at(-1);
      if (message.length !== 2 || status === undefined) reject(new UnknownServer());
      else resolve(status);
    });
    call.end(Buffer.alloc(FRAME_HEADER_BYTES));
    return await promise;
  } finally {
    session.destroy();
  }
}

async function get(port: Port, path: string, withinMs: number): Promise<{ isFine: boolean; text: string }> {
  const connecting = { ...(await tlsOf(port)), timeout: withinMs };
  const agent = new Agent({ connect: connecting, maxResponseSize: MOST_BYTES });
  try {
    const response = await fetch(`${urlOf(port)}${path}`, { dispatcher: agent, signal: AbortSignal.timeout(withinMs) });
    return { isFine: response.ok, text: await response.text() };
  } finally {
    await agent.destroy();
  }
}

function isRefused(error: unknown): boolean {
  const all = [error, error instanceof Error ? error.cause : undefined];
  return all.some((each) => codeOf(each) === "ECONNREFUSED");
}

/** Null: the port has no certificate. */
async function tlsOf({ tls }: Port): Promise<OwnTls | null> {
  return tls === null ? null : ownTls(tls);
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Where a program that listens everywhere is asked. */
function hostOf({ host }: Port): string {
  const local = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return local.includes(":") ? `[${local}]` : local;
}

function addressOf(port: Port): string {
  return `${hostOf(port)}:${port.port}`;
}

function urlOf(port: Port): string {
  return `${port.tls === null ? "http" : "https"}://${addressOf(port)}`;
}
