// An upstream of our own that speaks chat completions over HTTP. It answers as the fake of Anthropic does, reads prompts from a cache
// as far as it has seen them, and knows what it would charge.

import type { ServerResponse } from "node:http";
import { answerTo, type FakeAnswer } from "./anthropic-answers.ts";
import { type FakeRequest, startFakeServer } from "./fake-server.ts";
import { type Json, textIn } from "./anthropic-wire.ts";

/** The usage of a call. The input has what was read from the cache, and the output what was thought. */
export type TrueUsage = {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
};

export type FakeChat = Awaited<ReturnType<typeof startFakeChat>>;

export async function startFakeChat() {
  const truths: TrueUsage[] = [];
  const seen = new Set<string>();

  function usageOf(body: Json, answer: FakeAnswer): TrueUsage {
    let [input, cached, prefix] = [3, 0, JSON.stringify(body["tools"] ?? [])];
    for (const message of body["messages"] as Json[]) {
      const text = JSON.stringify(message);
      prefix += text;
      input += Math.ceil(text.length / 8);
      if (seen.has(prefix)) cached = input;
      seen.add(prefix);
    }
    return { input, cached, output: answer.outputTokens, reasoning: answer.thinkingTokens };
  }

  function reply(response: ServerResponse, { body }: FakeRequest, number: number): void {
    const answer = answerTo(inMessages(body), number);
    if (answer.refusal !== null) {
      const { status, type, message } = answer.refusal;
      response
        .writeHead(status, { "content-type": "application/json" })
        .end(JSON.stringify({ error: { message, type } }));
      return;
    }
    const usage = usageOf(body, answer);
    truths.push(usage);
    if (body["stream"] === true) stream(response, answer, usage);
    else whole(response, answer, usage);
  }

  const server = await startFakeServer("/v1", reply);
  return Object.assign(server, { truths });
}

/** What the answer is made of: the last text, the tools, and whether the model is to think. */
function inMessages({ messages, tools = [], reasoning_effort: effort, max_tokens: bound }: Json): Json {
  const content = (messages as Json[]).at(-1)?.["content"];
  return {
    messages: [{ content: Array.isArray(content) ? content : String(content) }],
    tools: (tools as Json[]).map((tool) => tool["function"]),
    max_tokens: bound,
    ...(effort === undefined ? {} : { thinking: { type: "adaptive" } }),
  };
}

function whole(response: ServerResponse, answer: FakeAnswer, usage: TrueUsage): void {
  response.writeHead(200, { "content-type": "application/json" });
  if (answer.broken === "cut") {
    response.write("{", () => response.destroy());
    return;
  }
  const calls = callsOf(answer);
  const message = {
    role: "assistant",
    content: textsOf(answer, "text") || null,
    ...(textsOf(answer, "thinking") === "" ? {} : { reasoning_content: textsOf(answer, "thinking") }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const choice = { index: 0, message, finish_reason: finishOf(answer) };
  response.end(JSON.stringify({ id: "c1", object: "chat.completion", choices: [choice], usage: usageJson(usage) }));
}

/** The inputs of several calls alternate, as some upstreams send them. */
function stream(response: ServerResponse, answer: FakeAnswer, usage: TrueUsage): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const calls = callsOf(answer);
  const halves = (text: string): string[] => [text.slice(0, 3), text.slice(3)];
  const deltas: Json[] = [
    { role: "assistant", content: "" },
    ...halves(textsOf(answer, "thinking")).map((text) => ({ reasoning_content: text })),
    ...piecesOf(textsOf(answer, "text")).map((text) => ({ content: text })),
    ...calls.map(({ function: { name }, ...call }) => ({
      tool_calls: [{ ...call, function: { name, arguments: "" } }],
    })),
    ...[0, 1].flatMap((half) =>
      calls.map(({ index, function: called }) => {
        return { tool_calls: [{ index, function: { arguments: halves(called.arguments)[half] } }] };
      }),
    ),
  ];
  const chunks: Json[] = deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }));
  chunks.push({ choices: [{ index: 0, delta: {}, finish_reason: finishOf(answer) }] });
  chunks.push({ choices: [], usage: usageJson(usage) });
  const { broken } = answer;
  const kept = broken === null ? chunks.length : broken === "error" ? 1 : chunks.length - 3;
  for (const chunk of chunks.slice(0, kept)) {
    response.write(`data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", ...chunk })}\n\n`);
  }
  if (broken === "cut") {
    response.write("", () => response.destroy());
    return;
  }
  if (broken !== null) response.write(`data: {"error":{"message":"Overloaded","type":"server_error"}}\n\n`);
  response.end("data: [DONE]\n\n");
}

function callsOf({ content }: FakeAnswer) {
  return content
    .filter(({ type }) => type === "tool_use")
    .map(({ id, name, input }, index) => {
      return { index, id, type: "function", function: { name, arguments: JSON.stringify(input) } };
    });
}

function textsOf({ content }: FakeAnswer, type: "text" | "thinking"): string {
  return content.map((block) => (block["type"] === type ? textIn(block, type) : "")).join("");
}

function piecesOf(text: string): string[] {
  return Array.from(text.matchAll(/.{1,5}/gsu), ([piece]) => piece);
}

function finishOf({ stopReason }: FakeAnswer): string {
  return { tool_use: "tool_calls", max_tokens: "length", refusal: "content_filter" }[stopReason] ?? "stop";
}

function usageJson({ input, cached, output, reasoning }: TrueUsage): Json {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
