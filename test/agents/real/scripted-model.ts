// A model behind an OpenAI-compatible upstream that does what the script wants.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { writeStream } from "../../gateway/fakes/fake-server.ts";
import { closeServer, listen } from "../support.ts";
import { type Answer, type Asked, CHARACTERS_PER_TOKEN, type Play, type Script, tokensOf } from "./script.ts";
import type { Tool } from "./tool-calls.ts";

type ChatBody = {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly Tool[];
};

/** A model that is asked over HTTP. */
export type ScriptedModel = { readonly url: string; close(): Promise<void> };

type Usage = { readonly input: number; readonly cached: number; readonly output: number };

/** So many times its input is what a conversation without room seems to have. */
const FULL_FACTOR = 2.5;
/** The finish and the usage. */
const EVENTS_BEHIND_OUTPUT = 3;

/** Starts it on a free port. */
export async function startScriptedModel(script: Script): Promise<ScriptedModel> {
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request)) as ChatBody;
    const play = script.play(askedOf(body));
    if (play.isRefused) return refuse(response);
    await answer(response, body, play);
  });
  return { url: `${await listen(server)}/v1`, close: () => closeServer(server) };
}

function askedOf({ model, messages, tools = [] }: ChatBody): Asked {
  return {
    model,
    turns: JSON.stringify(messages),
    lastTurn: JSON.stringify(messages.at(-1)),
    results: messages.filter(({ role }) => role === "tool").map(({ content }) => JSON.stringify(content)),
    tools,
  };
}

async function answer(response: ServerResponse, body: ChatBody, play: Play): Promise<void> {
  const { one, isCut } = play;
  const usage = usageOf(body, play);
  const truth = { input: usage.input - usage.cached, cached: usage.cached, output: usage.output };
  if (body.stream !== true) {
    one.truth = truth;
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole(play.answer, usage)));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const deltas = deltasOf(play.answer).map((delta) => chunk(delta, null));
  const finish = chunk({}, play.answer.calls === undefined ? "stop" : "tool_calls");
  const counted = { ...chunk({}, null), choices: [], usage: usageJson(usage) };
  const pieces = isCut
    ? deltas.slice(0, Math.ceil(deltas.length / 2)).map(dataOf)
    : [...[...deltas, finish, counted].map(dataOf), "data: [DONE]\n\n"];
  const end = await writeStream(response, { pieces, last: EVENTS_BEHIND_OUTPUT, isCut, pause: play.wait });
  if (end === "ended") one.truth = truth;
}

function dataOf(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function usageOf(body: ChatBody, { answer: said, isFull }: Play): Usage {
  const all = Math.ceil(JSON.stringify(body).length / CHARACTERS_PER_TOKEN);
  const input = isFull ? Math.floor(all * FULL_FACTOR) : all;
  return { input, cached: Math.floor(input / 3), output: tokensOf(said) };
}

function deltasOf({ text, thought, calls }: Answer): object[] {
  const begun = { role: "assistant", content: "" };
  const thinking = thought === undefined ? [] : piecesOf(thought).map((piece) => ({ reasoning_content: piece }));
  const calling = (calls ?? []).flatMap(({ name, input }, index) => [
    { tool_calls: [{ index, id: `call_${index}_x`, type: "function", function: { name, arguments: "" } }] },
    ...piecesOf(JSON.stringify(input)).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]);
  return [begun, ...thinking, ...piecesOf(text).map((content) => ({ content })), ...calling];
}

function piecesOf(text: string): string[] {
  return text.match(/[^]{1,7}/g) ?? [];
}

function chunk(delta: object, finish: string | null): object {
  const choice = { index: 0, delta, finish_reason: finish };
  return { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "agent-1", choices: [choice] };
}

function whole({ text, thought, calls }: Answer, usage: Usage): object {
  const tool_calls = calls?.map(({ name, input }, index) => ({
    id: `call_${index}_x`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  const message = { role: "assistant", content: text, reasoning_content: thought, tool_calls };
  const choice = { index: 0, message, finish_reason: calls === undefined ? "stop" : "tool_calls" };
  return { id: "chatcmpl-1", object: "chat.completion", created: 1, choices: [choice], usage: usageJson(usage) };
}

function usageJson({ input, cached, output }: Usage): object {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

function refuse(response: ServerResponse): void {
  const error = {
    message: "This model's maximum context length is 1000 tokens. However, your messages resulted in 2000 tokens.",
    type: "invalid_request_error",
    param: "messages",
    code: "context_length_exceeded",
  };
  response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error }));
}

async function textOf(request: IncomingMessage): Promise<string> {
  return Buffer.concat((await request.toArray()) as Buffer[]).toString("utf8");
}
