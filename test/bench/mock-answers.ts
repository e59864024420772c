// The answers of the mock upstream, rendered before they are asked for: whole, and as the parts of a stream.

import { USAGE } from "./price.ts";

const REPORTED_USAGE = {
  prompt_tokens: USAGE.input,
  completion_tokens: USAGE.output,
  total_tokens: USAGE.input + USAGE.output,
  prompt_tokens_details: { cached_tokens: USAGE.cached, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
};
// With it an answer comes to about a kilobyte.
const CONTENT_BYTES = 600;
export const COMMON = { id: "chatcmpl-bench00000000000000000000", created: 1790000000, model: "bench-large-2026" };

const CONTENT = "lorem ipsum ".repeat(100).slice(0, CONTENT_BYTES);
const PIECE = " another few letters";
const STREAM_HEAD = Buffer.from(
  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n" +
    "Transfer-Encoding: chunked\r\n\r\n",
);

/** The answers of one protocol: whole, and the parts of a stream. */
export type Rendered = {
  readonly answer: Buffer;
  readonly head: Buffer;
  readonly chunk: Buffer;
  readonly tail: Buffer;
};

export const CHAT: Rendered = {
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

export const MESSAGES: Rendered = {
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

/** An answer of HTTP with a JSON text. */
export function answer(status: string, json: string): Buffer {
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

const RESPONSES_USAGE = {
  input_tokens: USAGE.input,
  input_tokens_details: { cached_tokens: USAGE.cached },
  output_tokens: USAGE.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: USAGE.input + USAGE.output,
};
const AT = { item_id: "msg_bench", output_index: 0, content_index: 0 };

/** The answers of Responses. The end of a stream repeats its text, so it depends on how many chunks there are. */
export function renderResponses(chunks: number): Rendered {
  const text = PIECE.repeat(chunks);
  const part = (content: string) => ({ type: "output_text", text: content, annotations: [], logprobs: [] });
  const item = (status: string, content: object[]) => {
    return { id: AT.item_id, type: "message", role: "assistant", status, content };
  };
  const response = (status: string, output: object[], usage: object | null) => {
    const fixed = { object: "response", created_at: COMMON.created, model: "bench-responses-2026" };
    return { id: "resp_bench", ...fixed, status, error: null, incomplete_details: null, output, usage };
  };
  const created = response("in_progress", [], null);
  const completed = response("completed", [item("completed", [part(text)])], RESPONSES_USAGE);
  return {
    answer: answer(
      "200 OK",
      JSON.stringify(response("completed", [item("completed", [part(CONTENT)])], RESPONSES_USAGE)),
    ),
    head: Buffer.concat([
      STREAM_HEAD,
      Buffer.from(
        named({ type: "response.created", response: created }) +
          named({ type: "response.output_item.added", output_index: 0, item: item("in_progress", []) }) +
          named({ type: "response.content_part.added", ...AT, part: part("") }),
      ),
    ]),
    chunk: Buffer.from(named({ type: "response.output_text.delta", ...AT, delta: PIECE, logprobs: [] })),
    tail: Buffer.from(
      named({ type: "response.output_text.done", ...AT, text, logprobs: [] }) +
        named({ type: "response.content_part.done", ...AT, part: part(text) }) +
        named({ type: "response.output_item.done", output_index: 0, item: item("completed", [part(text)]) }) +
        named({ type: "response.completed", response: completed }) +
        "0\r\n\r\n",
    ),
  };
}
