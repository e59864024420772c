// An upstream of chat and of Messages that costs as little CPU as Node allows: raw sockets, every answer rendered before it is
// asked for. Runs as its own process, prints its port and ends with its parent.
//   node test/bench/mock-upstream.ts
//   GET /bench/configure?chunks=100&delayMs=40&latencyMs=0&cutAfter=0   changes how it answers, at once
//   GET /bench/counters                                                what it has done so far

import { createServer, type Socket } from "node:net";
import { announce } from "./announce.ts";
import { ChunkPacer } from "./chunk-pacer.ts";
import { USAGE } from "./price.ts";

const settings = { chunks: 100, delayMs: 40, latencyMs: 0, cutAfter: 0 };
const SETTINGS = ["chunks", "delayMs", "latencyMs", "cutAfter"] as const;
const counters = { requests: 0, streams: 0, chunks: 0, aborted: 0, open: 0 };

const REPORTED_USAGE = {
  prompt_tokens: USAGE.input,
  completion_tokens: USAGE.output,
  total_tokens: USAGE.input + USAGE.output,
  prompt_tokens_details: { cached_tokens: USAGE.cached, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
};
// With it an answer comes to about a kilobyte.
const CONTENT_BYTES = 600;
const COMMON = { id: "chatcmpl-bench00000000000000000000", created: 1790000000, model: "bench-large-2026" };

const CONTENT = "lorem ipsum ".repeat(100).slice(0, CONTENT_BYTES);
const PIECE = " another few letters";
const MODELS = answer("200 OK", JSON.stringify({ object: "list", data: [{ id: COMMON.model, object: "model" }] }));
const STREAM_HEAD = Buffer.from(
  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n" +
    "Transfer-Encoding: chunked\r\n\r\n",
);

/** The answers of one protocol: whole, and the parts of a stream. */
type Rendered = { readonly answer: Buffer; readonly head: Buffer; readonly chunk: Buffer; readonly tail: Buffer };

const CHAT: Rendered = {
  answer: answer("200 OK", renderCompletion(CONTENT)),
  head: STREAM_HEAD,
  chunk: Buffer.from(frame(event({ choices: [choice({ content: PIECE }, null)], usage: null }))),
  tail: Buffer.from(
    frame(event({ choices: [choice({}, "stop")], usage: null })) +
      frame(event({ choices: [], usage: REPORTED_USAGE })) +
      frame("data: [DONE]\n\n") +
      "0\r\n\r\n",
  ),
};

const MESSAGES_USAGE = {
  input_tokens: USAGE.input - USAGE.cached,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: USAGE.cached,
  output_tokens: USAGE.output,
};
const MESSAGE = { id: "msg_bench", type: "message", role: "assistant", model: "bench-messages-2026" };

const MESSAGES: Rendered = {
  answer: answer(
    "200 OK",
    JSON.stringify({
      ...MESSAGE,
      content: [{ type: "text", text: CONTENT }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: MESSAGES_USAGE,
    }),
  ),
  head: Buffer.concat([
    STREAM_HEAD,
    Buffer.from(
      named({
        type: "message_start",
        message: {
          ...MESSAGE,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...MESSAGES_USAGE, output_tokens: 1 },
        },
      }) + named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    ),
  ]),
  chunk: Buffer.from(named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: PIECE } })),
  tail: Buffer.from(
    named({ type: "content_block_stop", index: 0 }) +
      named({
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: USAGE.output },
      }) +
      named({ type: "message_stop" }) +
      "0\r\n\r\n",
  ),
};

function named(data: { readonly type: string; readonly [member: string]: unknown }): string {
  return frame(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
}

function renderCompletion(content: string): string {
  const message = { role: "assistant", content, refusal: null };
  return JSON.stringify({
    ...COMMON,
    object: "chat.completion",
    choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
    usage: REPORTED_USAGE,
    system_fingerprint: "fp_bench",
  });
}

function answer(status: string, json: string): Buffer {
  return Buffer.from(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  );
}

function choice(delta: object, finishReason: string | null): object {
  return { index: 0, delta, logprobs: null, finish_reason: finishReason };
}

function event(fields: object): string {
  return `data: ${JSON.stringify({ ...COMMON, object: "chat.completion.chunk", system_fingerprint: "fp_bench", ...fields })}\n\n`;
}

function frame(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

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
  const protocol = head.startsWith("POST /v1/messages") ? MESSAGES : CHAT;
  if (wantsStream(body)) return stream(socket, protocol);
  if (settings.latencyMs > 0) setTimeout(() => socket.write(protocol.answer), settings.latencyMs);
  else socket.write(protocol.answer);
}

function respondToGet(head: string): Buffer {
  const url = new URL(head.slice(4, head.indexOf(" ", 4)), "http://upstream");
  if (url.pathname === "/bench/counters") return answer("200 OK", JSON.stringify(counters));
  if (url.pathname !== "/bench/configure") return MODELS;
  for (const name of SETTINGS) {
    const value = url.searchParams.get(name);
    if (value !== null) settings[name] = Number(value);
  }
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
