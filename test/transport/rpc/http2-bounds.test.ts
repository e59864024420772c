// Attacks of a client on the gRPC port below the level of calls. The other clients are served meanwhile.

import { EventEmitter, once } from "node:events";
import { constants, type ClientHttp2Session, type Http2Server } from "node:http2";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { createGrpcServer } from "../../../src/transport/grpc/grpc-server.ts";
import { BoundedSessions, HTTP2_BOUNDS, type Http2Bounds } from "../../../src/transport/grpc/http2-bounds.ts";
import type { RefusedAtPort } from "../../../src/transport/grpc/port-refusals.ts";
import type { StoppableServer } from "../../../src/transport/http/stoppable-server.ts";
import { BEARER, createKeys, createLogMemory, implementations } from "../fakes.ts";
import { callGrpc, envelope, openSession, pathOf } from "./raw-calls.ts";

const CHECK = "/grpc.health.v1.Health/Check";
const WATCH = "/grpc.health.v1.Health/Watch";
const EMPTY = envelope(Buffer.alloc(0));
const OK = "0";

type Port = { readonly address: string; readonly server: StoppableServer; readonly refused: RefusedAtPort[] };

const open: ClientHttp2Session[] = [];
const servers: StoppableServer[] = [];

async function startPort(bounds: Partial<Http2Bounds> = {}): Promise<Port> {
  const refused: RefusedAtPort[] = [];
  const server = createGrpcServer({
    implementations,
    ports: {
      keys: createKeys(),
      logger: createLogMemory().logger,
      verifyMerchant: async () => null,
      verifyServiceToken: async () => null,
      verifySession: async () => null,
      accountExists: async () => false,
      takeCallerSlot: async () => undefined,
      takeCountSlot: () => undefined,
      recordCall: async () => undefined,
    },
    ready: async () => true,
    bounds: { ...HTTP2_BOUNDS, ...bounds },
    onRefused: (reason) => refused.push(reason),
  });
  servers.push(server);
  return { address: `127.0.0.1:${await server.listen({ host: "127.0.0.1", port: 0 })}`, server, refused };
}

function sessionTo({ address }: Port): ClientHttp2Session {
  const session = openSession(address);
  open.push(session);
  return session;
}

/** The event of a session, which an error before it does not hide. */
const eventOf = (session: ClientHttp2Session, event: "close" | "goaway" | "ping"): Promise<void> =>
  new Promise((resolve) => void session.once(event, () => resolve()));

/** Whether another client is served, as its gRPC status. */
const statusOfAnother = async (port: Port) =>
  (await callGrpc(sessionTo(port), CHECK, EMPTY)).trailers.get("grpc-status");

afterEach(() => open.splice(0).forEach((session) => session.destroy()));
afterAll(() => Promise.all(servers.map((server) => server.close(0))));

describe("an authority that is no host", () => {
  let port: Port;
  beforeAll(async () => void (port = await startPort()));
  beforeEach(() => void port.refused.splice(0));

  const refusedByUs = ["%", "[", "[::1", "a:99999", "a:b", "256.256.256.256", "1.2.3.4.5"];
  const refusedByProtocol = ["a b", "a|b", "a/%", "\\", "#", "@"];

  test.each([...refusedByUs, ...refusedByProtocol])("%j ends its call and nothing else", async (authority) => {
    const { resetCode } = await callGrpc(sessionTo(port), CHECK, EMPTY, { headers: { ":authority": authority } });
    expect(resetCode).toBe(constants.NGHTTP2_PROTOCOL_ERROR);
    expect(port.refused).toEqual(refusedByUs.includes(authority) ? ["authority"] : []);
    expect(await statusOfAnother(port)).toBe(OK);
  });
});

test("a method that is not there, and a verb of another kind, are refused without a call", async () => {
  const port = await startPort();
  const session = sessionTo(port);
  for (const headers of [{ ":path": "/nothing" }, { ":method": "GET" }, { ":method": "PATCH" }])
    expect((await callGrpc(session, CHECK, EMPTY, { headers })).trailers.get("grpc-status")).not.toBe(OK);
  expect(await statusOfAnother(port)).toBe(OK);
});

test("ends the stream of a client that goes on sending a request that was refused", async () => {
  const port = await startPort();
  const chat = pathOf(GatewayService.method.createChatCompletion);
  const stranger = await callGrpc(sessionTo(port), chat, Buffer.alloc(64), { unfinished: true });
  expect(stranger.resetCode).toBe(constants.NGHTTP2_NO_ERROR);
  const tooLarge = envelope(Buffer.alloc(64), { announced: 2 ** 31 });
  const headers = { authorization: BEARER };
  const caller = await callGrpc(sessionTo(port), chat, tooLarge, { unfinished: true, headers });
  expect([caller.resetCode, caller.trailers.get("grpc-status")]).toEqual([constants.NGHTTP2_NO_ERROR, "8"]);
});

test("ends a connection that resets streams faster than a caller would, with GOAWAY", async () => {
  const port = await startPort();
  const session = sessionTo(port);
  await once(session, "connect");
  const goneAway = eventOf(session, "goaway");
  const closed = eventOf(session, "close");
  let sent = 0;
  while (!session.closed && !session.destroyed && sent < 5_000) {
    for (let i = 0; i < 100 && !session.closed && !session.destroyed; i += 1, sent += 1) {
      const stream = session.request({ ":method": "POST", ":path": WATCH, "content-type": "application/grpc" });
      stream.on("error", () => {
        // It is reset, by one side or the other.
      });
      stream.write(EMPTY);
      stream.close(constants.NGHTTP2_CANCEL);
    }
    await new Promise(setImmediate);
  }
  await goneAway;
  await closed;
  expect(sent).toBeLessThan(5_000);
  expect(await statusOfAnother(port)).toBe(OK);
});

test("takes no more connections than an address may have, and takes one again when one has gone", async () => {
  const port = await startPort({ maxSessionsPerAddress: 3 });
  const held = [sessionTo(port), sessionTo(port), sessionTo(port)];
  for (const session of held) expect((await callGrpc(session, CHECK, EMPTY)).trailers.get("grpc-status")).toBe(OK);
  const fourth = sessionTo(port);
  await eventOf(fourth, "close");
  expect(port.refused).toEqual(["sessions"]);
  const [first] = held;
  first?.close();
  await eventOf(first ?? fourth, "close");
  await expect.poll(() => statusOfAnother(port)).toBe(OK);
});

test("refuses streams beyond the bound of the process so that they may be sent again", async () => {
  const port = await startPort({ maxStreams: 2 });
  const session = sessionTo(port);
  const watches = [1, 2].map(() =>
    session.request({ ":method": "POST", ":path": WATCH, "content-type": "application/grpc" }),
  );
  for (const watch of watches) watch.end(EMPTY);
  await Promise.all(watches.map((watch) => once(watch, "data")));
  const third = await callGrpc(session, CHECK, EMPTY);
  expect(third.resetCode).toBe(constants.NGHTTP2_REFUSED_STREAM);
  watches[0]?.close();
  await expect.poll(async () => (await callGrpc(session, CHECK, EMPTY)).trailers.get("grpc-status")).toBe(OK);
});

test("closes a connection without a call, and keeps one whose call is silent", async () => {
  const port = await startPort({ idleMs: 100 });
  const idle = sessionTo(port);
  const watching = sessionTo(port);
  const watch = watching.request({ ":method": "POST", ":path": WATCH, "content-type": "application/grpc" });
  watch.end(EMPTY);
  await once(watch, "data");
  // The watch is silent and is asked by a ping more than once; the idle connection is closed.
  const pinged = eventOf(watching, "ping").then(() => eventOf(watching, "ping"));
  await Promise.all([eventOf(idle, "close"), pinged]);
  expect([watching.closed, watch.closed]).toEqual([false, false]);
  expect(port.refused).toEqual([]);
});

test("ends a request that does not arrive in time", async () => {
  const port = await startPort({ requestMs: 100 });
  const { resetCode } = await callGrpc(sessionTo(port), CHECK, Buffer.alloc(2), { unfinished: true });
  expect(resetCode).toBe(constants.NGHTTP2_CANCEL);
  expect(port.refused).toEqual(["slow_request"]);
});

test("sessions of an IPv6 network are counted by network, and those of IPv4 by address", () => {
  const port = new EventEmitter();
  const refused: RefusedAtPort[] = [];
  const bounds = { ...HTTP2_BOUNDS, maxSessionsPerAddress: 2 };
  const sessions = new BoundedSessions(port as unknown as Http2Server, bounds, (reason) => refused.push(reason));
  const admitted = (remoteAddress: string): number => {
    const calls = { goaway: () => {}, destroy: () => {}, setTimeout: () => {} };
    port.emit("session", Object.assign(new EventEmitter(), calls, { socket: { remoteAddress } }));
    return sessions.all.length;
  };
  const own = ["2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:2:ffff::3"].map(admitted);
  expect([own, refused]).toEqual([[1, 2, 2], ["sessions"]]);
  expect(["2001:db8:1:3::1", "203.0.113.1", "203.0.113.2", "203.0.113.1", "::ffff:203.0.113.1"].map(admitted)).toEqual([
    3, 4, 5, 6, 6,
  ]);
});
