// What strangers and customers can send to the ports of a gateway to keep it busy, fill its memory or end it. Each attack gives
// what it was answered, so that a test sees that it was refused and not merely survived.

import { once } from "node:events";
import { connect as connectHttp2, constants, type ClientHttp2Session } from "node:http2";
import { connect } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { SaldoProcess } from "../../setup/saldo-process.ts";

type Target = Pick<SaldoProcess, "httpUrl" | "grpcAddress">;

const MIB = 2 ** 20;
const CHAT = "/v1/chat/completions";
const GET_BALANCE = "/saldo.billing.v1.BillingService/GetBalance";
const CHAT_RPC = "/saldo.gateway.v1.GatewayService/CreateChatCompletion";
const WATCH = "/grpc.health.v1.Health/Watch";
const CALL = { ":method": "POST", "content-type": "application/grpc", te: "trailers" };
const ANSWER_WITHIN_MS = 20_000;

/** Sends bytes on a connection of their own and gives the status of the answer; 0: it was closed without one. */
function sendRaw({ httpUrl }: Target, bytes: string | Buffer): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const socket = connect(Number(new URL(httpUrl).port), "127.0.0.1", () => socket.write(bytes));
  let answer = "";
  socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy());
  socket.on("error", () => undefined);
  socket.on("data", (part: Buffer) => {
    answer += part.toString("latin1");
    if (answer.includes("\r\n")) socket.destroy();
  });
  socket.on("close", () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)));
  return promise;
}

const HEADS = [
  `GET ${GET_BALANCE} HTTP/1.1\r\nHost: a b\r\n\r\n`,
  `POST ${GET_BALANCE} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
  `GET /v1/models HTTP/1.1\r\nHost: %\r\n\r\n`,
  `GET /v1/models HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`,
  `GET /v1/models HTTP/1.1\r\nHost: a\r\n${"X-A: b\r\n".repeat(4_000)}\r\n`,
  `GET /${"a".repeat(70_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  `POST ${CHAT} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  `POST ${CHAT} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n`,
  `POST ${CHAT} HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n`,
  `BREW / HTTP/1.1\r\nHost: a\r\n\r\n`,
  "\u0000\u0001\u0002\r\n\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
];

/** Heads that are no request, or none that can be trusted. Gives the statuses. */
export function badHeads(target: Target): Promise<number[]> {
  return Promise.all(Array.from({ length: 10 }, () => HEADS.map((head) => sendRaw(target, head))).flat());
}

const AUTHORITIES = ["%", "[", "a:99999", "256.256.256.256", "1.2.3.4.5", "a b", "@", "\\"];

/** Authorities of which no URL can be made. Gives those with which a call succeeded. */
export async function badAuthorities({ grpcAddress }: Target): Promise<string[]> {
  const answers = await Promise.all(
    AUTHORITIES.map(async (authority) => {
      const session = open(grpcAddress);
      try {
        return await statusOf(session, { ":path": "/grpc.health.v1.Health/Check", ":authority": authority });
      } finally {
        session.destroy();
      }
    }),
  );
  return AUTHORITIES.filter((_authority, index) => answers[index] === "0");
}

/** Small messages that become large ones. Gives the statuses. */
export async function bombs({ httpUrl }: Target, key: string): Promise<number[]> {
  const empty = Buffer.alloc(32 * MIB, "7800", "hex");
  const elements = Buffer.alloc(32 * MIB, "12027800", "hex");
  const [brotli, gzip] = [brotliCompressSync(empty), gzipSync(elements)];
  const query = new URLSearchParams({ connect: "v1", encoding: "proto", base64: "1", compression: "br" });
  query.set("message", brotli.toString("base64url"));
  const post = (path: string, body: Buffer, headers: Record<string, string>) =>
    statusOfFetch(`${httpUrl}${path}`, { method: "POST", body: new Uint8Array(body), headers });
  const proto = { "content-type": "application/proto", "connect-protocol-version": "1" };
  const bearer = { authorization: `Bearer ${key}` };
  return Promise.all([
    statusOfFetch(`${httpUrl}${GET_BALANCE}?${query.toString()}`, {}),
    statusOfFetch(`${httpUrl}${GET_BALANCE}?${query.toString()}`, { headers: bearer }),
    post(GET_BALANCE, brotli, { ...proto, ...bearer, "content-encoding": "br" }),
    post(CHAT_RPC, gzip, { ...proto, "content-encoding": "gzip" }),
    post(CHAT_RPC, gzip, { ...proto, ...bearer, "content-encoding": "gzip" }),
    post(CHAT_RPC, elements, { ...proto, ...bearer }),
  ]);
}

/** JSON that is deep, wide or never ends. Gives the statuses. */
export async function badJson({ httpUrl }: Target, key: string): Promise<number[]> {
  const chat = (member: string): string =>
    `{"model":"acme/large","messages":[{"role":"user","content":"x"}],"metadata":${member}}`;
  const bodies = [
    chat(`{"a":[${"[],".repeat((8 * MIB) / 3)}null]}`),
    chat("[".repeat(2 * MIB)),
    chat(`{${'"a":1,'.repeat(MIB)}"b":1}`),
    chat(`"${'\\"'.repeat(MIB)}`),
    chat(`"${"\\u0041".repeat(MIB)}`),
    `{"model":"acme/large","messages":[${'{"role":"user","content":""},'.repeat(100_000)}null]}`,
  ];
  const statuses: number[] = [];
  for (const body of bodies) {
    for (const headers of [{ authorization: `Bearer ${key}` }, {}]) {
      statuses.push(
        await statusOfFetch(`${httpUrl}${CHAT}`, {
          method: "POST",
          body,
          headers: { "content-type": "application/json", ...headers },
        }),
      );
    }
  }
  return statuses;
}

/** The paths that read JSON before a caller has signed in. Gives the statuses. */
export function badSignIns(target: Target): Promise<number[]> {
  const body = `{"email":"${'\\"'.repeat(8_000)}`;
  const head =
    `POST /auth/sign-in/email HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: ${target.httpUrl}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Promise.all(Array.from({ length: 50 }, () => sendRaw(target, head + body)));
}

/** Large bodies that are begun by strangers and never end. Gives the statuses. */
export function endlessBodies(target: Target): Promise<number[]> {
  const head = `POST ${CHAT} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${32 * MIB}\r\n\r\n`;
  const bytes = Buffer.concat([Buffer.from(head), Buffer.alloc(4 * MIB, 0x20)]);
  return Promise.all(Array.from({ length: 40 }, () => sendRaw(target, bytes)));
}

/** Streams that are opened and reset at once, on some connections. Gives how many connections the server ended. */
export async function rapidResets({ grpcAddress }: Target): Promise<number> {
  const ended = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const session = open(grpcAddress);
      const closed = new Promise<void>((resolve) => void session.once("close", () => resolve()));
      await once(session, "connect");
      for (let sent = 0; sent < 5_000 && !session.closed && !session.destroyed; sent += 1) {
        const stream = session.request({ ...CALL, ":path": WATCH });
        stream.on("error", () => undefined).write(Buffer.alloc(5));
        stream.close(constants.NGHTTP2_CANCEL);
        if (sent % 100 === 99) await new Promise((resolve) => setImmediate(resolve));
      }
      if (!session.closed && !session.destroyed) await Promise.race([closed, pause(2_000)]);
      const wasEnded = session.closed || session.destroyed;
      session.destroy();
      return wasEnded;
    }),
  );
  return ended.filter(Boolean).length;
}

/** Opens so many silent streams, and holds them for a while. Gives how many were held and how many were ended. */
export async function idleStreams({ grpcAddress }: Target, { total, holdMs }: { total: number; holdMs: number }) {
  const perSession = 500;
  const sessions: ClientHttp2Session[] = [];
  let opened = 0;
  let ended = 0;
  while (opened < total) {
    const session = open(grpcAddress);
    sessions.push(session);
    await new Promise<void>((resolve) => void session.once("connect", () => resolve()).once("close", () => resolve()));
    for (let index = 0; index < perSession; index += 1, opened += 1) {
      if (session.destroyed || session.closed) {
        ended += 1;
        continue;
      }
      const stream = session.request({ ...CALL, ":path": WATCH });
      stream.on("error", () => undefined).on("close", () => (ended += 1));
      // The start of a message that never comes.
      stream.write(Buffer.alloc(3));
    }
  }
  await pause(holdMs);
  const outcome = { held: opened - ended, ended };
  for (const session of sessions) session.destroy();
  return outcome;
}

function open(address: string): ClientHttp2Session {
  const session = connectHttp2(`http://${address}`);
  session.on("error", () => undefined);
  return session;
}

/** The gRPC status of a call that is answered; null: it was refused below the level of calls. */
async function statusOf(session: ClientHttp2Session, headers: Record<string, string>): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const stream = session.request({ ...CALL, ...headers });
  stream.setTimeout(ANSWER_WITHIN_MS, () => stream.close());
  let status: string | null = null;
  const note = (fields: Record<string, unknown>): void => {
    if (typeof fields["grpc-status"] === "string") status = fields["grpc-status"];
  };
  stream
    .on("response", note)
    .on("trailers", note)
    .on("error", () => undefined)
    .on("close", () => resolve(status))
    .resume();
  stream.end(Buffer.alloc(5));
  return promise;
}

/** The status of an answer; 0: the connection was closed without one. */
async function statusOfFetch(url: string, init: RequestInit): Promise<number> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    if (error instanceof DOMException) throw error;
    return 0;
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds));
}
