// The HTTP port and the metrics port with a certificate from files.

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request as clearRequest, type IncomingMessage } from "node:http";
import { request as secureRequest } from "node:https";
import { connect as connectPlain } from "node:net";
import { connect, type ConnectionOptions } from "node:tls";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Registry } from "prom-client";
import { createMetricsServer } from "../../../src/transport/server/metrics-server.ts";
import { BEARER, type Running, startServers } from "../fakes.ts";

const pemOf = (name: string): string => fileURLToPath(new URL(`../../setup/certificates/${name}.pem`, import.meta.url));
// With keys of RSA there are kinds of exchange that keep nothing secret.
const RSA = { certFile: pemOf("rsa-cert"), keyFile: pemOf("rsa-key") };
const LOCALHOST = { certFile: pemOf("localhost-cert"), keyFile: pemOf("localhost-key") };
/** A client of the time of the oldest versions, which would take anything. */
const OLD = { minVersion: "TLSv1", ciphers: "ALL:@SECLEVEL=0" } as const;

let running: Running;
let port: number;
let ca: Buffer;
beforeAll(async () => {
  ca = await readFile(LOCALHOST.certFile);
  running = await startServers({ tls: LOCALHOST });
  port = Number(new URL(running.http).port);
});
afterAll(() => running.servers.close(0));

describe("the HTTP port with a certificate", () => {
  it("answers over TLS and asks browsers to use nothing else", async () => {
    const answer = await ask("/v1/models", { authorization: BEARER });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["strict-transport-security"]).toContain("max-age=31536000");
  });

  it("answers nothing in clear", async () => {
    const call = clearRequest({ port, host: "127.0.0.1", path: "/healthz" }).end();
    await expect(once(call, "response")).rejects.toThrow(/hang up|ECONNRESET|Parse Error/);
  });

  it("counts cookies of its own pages, which come from an https address", async () => {
    const paths = [`https://localhost:${port}`, `http://localhost:${port}`].map(async (origin) => {
      const answer = await ask("/auth/sign-in/email", { origin, "content-type": "application/json" }, "{}");
      return answer.statusCode;
    });
    expect(await Promise.all(paths)).toEqual([200, 403]);
  });

  it("stops though a client has not agreed on TLS yet", async () => {
    const stopping = await startServers({ tls: LOCALHOST });
    const silent = connectPlain(Number(new URL(stopping.http).port), "127.0.0.1");
    await once(silent, "connect");
    const ended = once(silent, "close");
    silent.on("error", () => {});
    const startedAt = performance.now();
    await stopping.servers.close(50);
    await ended;
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

describe("TLS 1.3, and of older versions only what keeps past connections secret", () => {
  const wanted = ["TLSv1.3 TLS_AES_256_GCM_SHA384", expect.stringMatching(/^TLSv1.2 ECDHE-/), "refused", "refused"];

  it("is spoken by the HTTP port", async () => {
    const rsa = await startServers({ tls: RSA });
    try {
      expect(await protocolsAt(Number(new URL(rsa.http).port))).toEqual(wanted);
    } finally {
      await rsa.servers.close(0);
    }
  });

  it("is spoken by the metrics port, which answers nothing in clear", async () => {
    const metrics = createMetricsServer(new Registry(), RSA);
    const metricsPort = await metrics.listen({ host: "127.0.0.1", port: 0 });
    try {
      expect(await protocolsAt(metricsPort)).toEqual(wanted);
      const call = clearRequest({ port: metricsPort, host: "127.0.0.1", path: "/metrics" }).end();
      await expect(once(call, "response")).rejects.toThrow(/hang up|ECONNRESET|Parse Error/);
    } finally {
      await metrics.close(0);
    }
  });
});

/** Sends a request that trusts the certificate. */
async function ask(path: string, headers: Record<string, string>, body?: string): Promise<IncomingMessage> {
  const method = body === undefined ? "GET" : "POST";
  const call = secureRequest({ port, host: "localhost", path, method, ca, headers, agent: false });
  call.end(body);
  const [answer] = (await once(call, "response")) as [IncomingMessage];
  answer.resume();
  return answer;
}

/** What clients of several times agree on with a port. */
async function protocolsAt(at: number): Promise<string[]> {
  return [
    await protocolAt(at, {}),
    await protocolAt(at, { ...OLD, maxVersion: "TLSv1.2" }),
    await protocolAt(at, { ...OLD, maxVersion: "TLSv1.1" }),
    await protocolAt(at, { ...OLD, maxVersion: "TLSv1.2", ciphers: "AES128-GCM-SHA256:AES256-SHA:@SECLEVEL=0" }),
  ];
}

async function protocolAt(at: number, settings: ConnectionOptions): Promise<string> {
  const socket = connect({ port: at, host: "127.0.0.1", rejectUnauthorized: false, ...settings });
  try {
    await once(socket, "secureConnect");
    return `${socket.getProtocol()} ${socket.getCipher().name}`;
  } catch {
    return "refused";
  } finally {
    socket.destroy();
  }
}
