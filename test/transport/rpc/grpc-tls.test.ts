// gRPC with a certificate from files, which can be renewed while the server serves.

import { once } from "node:events";
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { type AddressInfo, connect as connectPlain } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { GatewayService, grpcJsClient } from "../../../src/client/client.ts";
import { BoundedSessions, HTTP2_BOUNDS, http2Options } from "../../../src/transport/grpc/http2-bounds.ts";
import { createHttp2Server } from "../../../src/transport/grpc/http2-server.ts";
import { BEARER, startServers } from "../fakes.ts";

const pemOf = (name: string): string => fileURLToPath(new URL(`../../setup/certificates/${name}.pem`, import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "saldo-tls-"));
});
afterAll(() => rm(folder, { recursive: true }));

it("answers clients that trust its certificate over TLS, and none in clear", async () => {
  const tls = { certFile: pemOf("localhost-cert"), keyFile: pemOf("localhost-key") };
  const running = await startServers({ grpc: { host: "127.0.0.1", tls } });
  const caller = { token: BEARER.split(" ")[1] ?? "", address: running.grpc };
  const trusting = grpcJsClient(GatewayService, { ...caller, tls: { ca: await readFile(tls.certFile) } });
  const doubting = grpcJsClient(GatewayService, { ...caller, tls: {} });
  const clear = grpcJsClient(GatewayService, caller);
  const request = { id: "acme/large" };
  const deadline = { deadline: Date.now() + 20_000 };
  try {
    expect(await trusting.getModel(request, deadline)).toMatchObject({ model: { id: "acme/large" } });
    await expect(doubting.getModel(request, deadline)).rejects.toThrow(/certificate/);
    await expect(clear.getModel(request, deadline)).rejects.toThrow(/UNAVAILABLE/);
  } finally {
    for (const client of [trusting, doubting, clear]) client.close();
    await running.servers.close(1_000);
  }
});

it("takes a renewed certificate without a restart, and keeps the former one while the files do not fit", async () => {
  const tls = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
  const put = async (name: string, file: string): Promise<void> => copyFile(pemOf(name), file);
  await put("localhost-cert", tls.certFile);
  await put("localhost-key", tls.keyFile);
  const server = createHttp2Server({}, tls, () => {}, 20);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  try {
    const first = await serialAt(port);
    await put("renewed-cert", tls.certFile);
    expect(await serialAt(port)).toBe(first);
    await put("renewed-key", tls.keyFile);
    await expect.poll(() => serialAt(port), { timeout: 10_000 }).not.toBe(first);
  } finally {
    server.close();
  }
});

it("bounds the connections that have not agreed on TLS yet", async () => {
  const tls = { certFile: pemOf("localhost-cert"), keyFile: pemOf("localhost-key") };
  const bounds = { ...HTTP2_BOUNDS, maxSessions: 2 };
  const server = createHttp2Server(http2Options(bounds), tls, () => {});
  const refused: string[] = [];
  const sessions = new BoundedSessions(server, bounds, (reason) => refused.push(reason));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const silent = Array.from({ length: 7 }, () => connectPlain(port, "127.0.0.1").on("error", () => {}));
  try {
    await expect.poll(() => refused, { timeout: 5_000 }).toEqual(["sessions", "sessions", "sessions"]);
    expect(sessions.all).toEqual([]);
  } finally {
    for (const socket of silent) socket.destroy();
    server.close();
  }
});

it("has TLS 1.3, and of older versions only what keeps past connections secret", async () => {
  const tls = { certFile: join(folder, "kept-cert.pem"), keyFile: join(folder, "kept-key.pem") };
  // With keys of RSA there are kinds of exchange that keep nothing secret.
  await copyFile(pemOf("rsa-cert"), tls.certFile);
  await copyFile(pemOf("rsa-key"), tls.keyFile);
  const server = createHttp2Server({}, tls, () => {}, 20);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  // A client of the time of the oldest versions, which would take anything.
  const old = { minVersion: "TLSv1", ciphers: "ALL:@SECLEVEL=0" } as const;
  const spoken = async (): Promise<unknown> => [
    await protocolAt(port, {}),
    await protocolAt(port, { ...old, maxVersion: "TLSv1.2" }),
    await protocolAt(port, { ...old, maxVersion: "TLSv1.1" }),
    await protocolAt(port, { ...old, maxVersion: "TLSv1.2", ciphers: "AES128-GCM-SHA256:AES256-SHA:@SECLEVEL=0" }),
  ];
  const wanted = ["TLSv1.3 TLS_AES_256_GCM_SHA384", expect.stringMatching(/^TLSv1.2 ECDHE-/), "refused", "refused"];
  try {
    expect(await spoken()).toEqual(wanted);
  } finally {
    server.close();
  }
});

/** What a client with such settings agrees on with a port. */
async function protocolAt(port: number, settings: ConnectionOptions): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", ALPNProtocols: ["h2"], rejectUnauthorized: false, ...settings });
  try {
    await once(socket, "secureConnect");
    return `${socket.getProtocol()} ${socket.getCipher().name}`;
  } catch {
    return "refused";
  } finally {
    socket.destroy();
  }
}

/** The serial number of the certificate that a port shows. */
async function serialAt(port: number): Promise<string> {
  const socket: TLSSocket = connect({
    port,
    host: "127.0.0.1",
    servername: "localhost",
    ALPNProtocols: ["h2"],
    rejectUnauthorized: false,
  });
  await once(socket, "secureConnect");
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}
