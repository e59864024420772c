// A model behind an OpenAI-compatible upstream that does what a case wants: it calls the agent's own tools, thinks, breaks off
// or refuses. It remembers what it reported for each answer, which is what Saldo has to charge.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { closeServer, listen } from "../support.ts";
import { type Call, callOf, type Tool } from "./tool-calls.ts";

/** What a case lets the model do; the text of a case is in the prompt as `CASE-<name>`. */
export type CaseName = "TEXT" | "TOOL" | "PARALLEL" | "THINK" | "CANCEL" | "CUT" | "OVERFLOW" | "FULL";

/** The counts that the model reported for one answer; null: it reported none. */
export type Truth = { readonly input: number; readonly cached: number; readonly output: number } | null;

/** A request as the model saw it, and what it reported. */
export type Seen = { readonly name: CaseName | null; readonly body: ChatBody; truth: Truth };

export type ChatBody = {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly Tool[];
};

/** A model that is asked over HTTP. */
export type ScriptedModel = {
  readonly url: string;
  /** What it was asked since the case began. */
  readonly seen: Seen[];
  /** Resolves once a streamed answer of the case CANCEL has begun. */
  begun(): Promise<void>;
  close(): Promise<void>;
};

type Answer = { readonly text: string; readonly thought?: string; readonly calls?: readonly Call[] };

/** The word that an agent shows when the model's last answer has arrived. */
export const LAST_WORD = "ZEBRA";
const CHARACTERS_PER_TOKEN = 4;
/** So many times its input is what a conversation without room seems to have. */
const FULL_FACTOR = 2.5;
/** Calls that did not write what they should end, too. */
const MOST_CALLS = 3;
const PAUSE_MS = 100;
/** A long answer, which Saldo reads to its end for the count when the agent has left. */
const SENTENCES = 20;

/** Starts it on a free port. */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const seen: Seen[] = [];
  let begin = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request)) as ChatBody;
    const one: Seen = { name: caseIn(body), body, truth: null };
    const isFirst = seen.every(({ name }) => name !== one.name);
    seen.push(one);
    if (one.name === "OVERFLOW" && isFirst) return refuse(response);
    await answer(response, { one, isFirst, onBegin: one.name === "CANCEL" ? begin.resolve : null });
  });
  const url = await listen(server);
  return {
    url: `${url}/v1`,
    seen,
    begun: () => {
      begin = Promise.withResolvers<void>();
      return begin.promise;
    },
    close: () => closeServer(server),
  };
}

type Way = { readonly one: Seen; readonly isFirst: boolean; readonly onBegin: (() => void) | null };

async function answer(response: ServerResponse, { one, isFirst, onBegin }: Way): Promise<void> {
  const wanted = answerTo(one, isFirst);
  const usage = usageOf(one.body, { ...wanted, isFull: one.name === "FULL" && isFirst });
  const cut = one.name === "CUT" && isFirst;
  if (one.body.stream !== true) {
    one.truth = usage;
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole(wanted, usage)));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (value: object): boolean => response.write(`data: ${JSON.stringify(value)}\n\n`);
  const pieces = deltasOf(wanted);
  const sent = cut ? pieces.slice(0, Math.ceil(pieces.length / 2)) : pieces;
  for (const delta of sent) send(chunk(delta, null));
  if (onBegin !== null) {
    onBegin();
    for (let sentences = 0; sentences < SENTENCES && !response.destroyed; sentences += 1) {
      send(chunk({ content: "and so on " }, null));
      await pause(PAUSE_MS);
    }
    // The caller has left before the count.
    if (response.destroyed) return;
  }
  if (cut) {
    await once(response, "drain", { signal: AbortSignal.timeout(PAUSE_MS) }).catch(() => undefined);
    response.destroy();
    return;
  }
  send(chunk({}, wanted.calls === undefined ? "stop" : "tool_calls"));
  one.truth = usage;
  send({ ...chunk({}, null), choices: [], usage: usageJson(usage) });
  response.end("data: [DONE]\n\n");
}

function answerTo({ body, name }: Seen, isFirst: boolean): Answer {
  const results = body.messages.filter(({ role }) => role === "tool").map(({ content }) => JSON.stringify(content));
  const isOver = results.length >= MOST_CALLS || results.some((text) => /MARK-\d-42/.test(text));
  const isParallel = name === "PARALLEL";
  if (((name === "TOOL" || isParallel) && !isOver) || (name === "FULL" && isFirst)) {
    const calls = (isParallel ? [1, 2] : [1]).flatMap((number) => callOf(body.tools ?? [], number) ?? []);
    if (calls.length > 0) return { text: "", thought: "A command will show it.", calls };
  }
  const said = [...new Set(results.flatMap((text) => text.match(/MARK-\d-42/g) ?? []))].join(" and ");
  const thought = name === "THINK" ? "Let me think about the stripes of this animal for a while." : undefined;
  const text = `The answer is ${LAST_WORD}${said === "" ? "" : `, and the tool wrote ${said}`}. Nothing else is to be done.`;
  return { text, ...(thought === undefined ? {} : { thought }) };
}

/** The last case that is named in what the agent wrote; its own prompt and later tools do not name one. */
function caseIn({ messages }: ChatBody): CaseName | null {
  const found = [...JSON.stringify(messages).matchAll(/CASE-([A-Z]+)/g)].at(-1)?.[1];
  return (found as CaseName | undefined) ?? null;
}

function usageOf(
  body: ChatBody,
  { text, thought = "", calls = [], isFull }: Answer & { readonly isFull: boolean },
): NonNullable<Truth> {
  const all = Math.ceil(JSON.stringify(body).length / CHARACTERS_PER_TOKEN);
  const input = isFull ? Math.floor(all * FULL_FACTOR) : all;
  const output = Math.ceil((text.length + thought.length + JSON.stringify(calls).length) / CHARACTERS_PER_TOKEN);
  return { input, cached: Math.floor(input / 3), output };
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

function whole({ text, thought, calls }: Answer, usage: NonNullable<Truth>): object {
  const tool_calls = calls?.map(({ name, input }, index) => ({
    id: `call_${index}_x`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  const message = { role: "assistant", content: text, reasoning_content: thought, tool_calls };
  const choice = { index: 0, message, finish_reason: calls === undefined ? "stop" : "tool_calls" };
  return { id: "chatcmpl-1", object: "chat.completion", created: 1, choices: [choice], usage: usageJson(usage) };
}

function usageJson({ input, cached, output }: NonNullable<Truth>): object {
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
