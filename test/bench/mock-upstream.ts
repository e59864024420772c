// An upstream of chat, Messages and Responses that costs as little CPU as Node allows: raw sockets, every answer rendered before it is
// asked for. Runs as its own process, prints its port and ends with its parent.
//   node test/bench/mock-upstream.ts
//   GET /bench/configure?chunks=100&delayMs=40&latencyMs=0&cutAfter=0   changes how it answers, at once
//   GET /bench/counters                                                what it has done so far

import { createServer, type Socket } from "node:net";
import { announce } from "./announce.ts";
import { ChunkPacer } from "./chunk-pacer.ts";
import { answer, CHAT, COMMON, MESSAGES, type Rendered, renderResponses } from "./mock-answers.ts";

const settings = { chunks: 100, delayMs: 40, latencyMs: 0, cutAfter: 0 };
const SETTINGS = ["chunks", "delayMs", "latencyMs", "cutAfter"] as const;
const counters = { requests: 0, streams: 0, chunks: 0, aborted: 0, open: 0 };

const MODELS = answer("200 OK", JSON.stringify({ object: "list", data: [{ id: COMMON.model, object: "model" }] }));
/** The answers of Responses end with the text of all their chunks. */
let responses = renderResponses(settings.chunks);

// The flag is before or after the messages; a long prompt between them is not searched.
const FLAG_SEARCH_BYTES = 1024;
const STREAM_FLAG = /"stream"\s*:\s*true/;

function wantsStream(body: Buffer): boolean {
  if (body.length <= 2 * FLAG_SEARCH_BYTES) return STREAM_FLAG.test(body.toString("latin1"));
  return (
    STREAM_FLAG.test(body.toString("latin1", 0, FLAG_SEARCH_BYTES)) ||
    STREAM_FLAG.test(body.toString("latin1", body.length - FLAG_SEARCH_BYTES))
  );
}

const pacer = new ChunkPacer();

function respond(socket: Socket, head: string, body: Buffer): void {
  if (head.startsWith("GET ")) return void socket.write(respondToGet(head));
  counters.requests++;
  const protocol = answersOf(head);
  if (wantsStream(body)) return stream(socket, protocol);
  if (settings.latencyMs > 0) setTimeout(() => socket.write(protocol.answer), settings.latencyMs);
  else socket.write(protocol.answer);
}

function answersOf(head: string): Rendered {
  if (head.startsWith("POST /v1/messages")) return MESSAGES;
  return head.startsWith("POST /v1/responses") ? responses : CHAT;
}

function respondToGet(head: string): Buffer {
  const url = new URL(head.slice(4, head.indexOf(" ", 4)), "http://upstream");
  if (url.pathname === "/bench/counters") return answer("200 OK", JSON.stringify(counters));
  if (url.pathname !== "/bench/configure") return MODELS;
  for (const name of SETTINGS) {
    const value = url.searchParams.get(name);
    if (value !== null) settings[name] = Number(value);
  }
  responses = renderResponses(settings.chunks);
  return answer("200 OK", JSON.stringify(settings));
}

function stream(socket: Socket, { head, chunk, tail }: Rendered): void {
  counters.streams++;
  counters.open++;
  let left = settings.chunks;
  const cutAt = settings.cutAfter > 0 ? settings.chunks - settings.cutAfter : -1;
  socket.write(head);
  pacer.add(settings.delayMs, () => {
    if (socket.destroyed || left === cutAt) {
      counters.open--;
      counters.aborted++;
      socket.destroy();
      return false;
    }
    if (left > 0) {
      left--;
      counters.chunks++;
      socket.write(chunk);
      return true;
    }
    counters.open--;
    socket.write(tail);
    return false;
  });
}

function serve(socket: Socket): void {
  let parts: Buffer[] = [];
  let received = 0;
  let needed = 0; // Bytes of the request that is arriving; 0 while its head is incomplete.
  let headBytes = 0;
  socket.on("error", () => socket.destroy());
  socket.on("data", (data) => {
    parts.push(data);
    received += data.length;
    while (received > 0) {
      if (needed === 0 && !readHead()) return;
      if (received < needed) return;
      const bytes = joined();
      respond(socket, bytes.toString("latin1", 0, headBytes), bytes.subarray(headBytes, needed));
      parts = received > needed ? [bytes.subarray(needed)] : [];
      received -= needed;
      needed = 0;
    }
  });
  function joined(): Buffer {
    const [first] = parts;
    if (first !== undefined && parts.length === 1) return first;
    const whole = Buffer.concat(parts);
    parts = [whole];
    return whole;
  }
  function readHead(): boolean {
    const bytes = joined();
    const end = bytes.indexOf("\r\n\r\n");
    if (end < 0) return false;
    headBytes = end + 4;
    const head = bytes.toString("latin1", 0, headBytes);
    const length = /content-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined && head.startsWith("POST ")) {
      socket.end(answer("411 Length Required", '{"error":{"message":"send a content-length"}}'));
      return false;
    }
    needed = headBytes + Number(length ?? 0);
    return true;
  }
}

const server = createServer({ noDelay: true }, serve);
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => announce(server));
