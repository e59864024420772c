// A client of Responses at upstreams of Responses, without a transport.

import type { CatalogModel } from "../../src/catalog/catalog-model.ts";
import type { GatewayDeps } from "../../src/gateway/answer/answer-chat.ts";
import { answerConversation } from "../../src/gateway/conversation/answer-conversation.ts";
import { responsesProtocol } from "../../src/gateway/conversation/responses/responses-protocol.ts";
import { RpcOutput } from "../../src/gateway/conversation/rpc-output.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { customerTag } from "../../src/gateway/request/customer-tag.ts";
import { type FakeResponses, startFakeResponses } from "./fakes/responses.ts";
import type { Json } from "./fakes/responses-wire.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
import { type Bench, KEY, modelOf, openBench, RATE, upstreamOf } from "./support.ts";

/** The routes of a model: to the fake, and to a script in two protocols. */
export type UpstreamId = "gpt" | "raw" | "chat";

export async function startUpstreams() {
  const gpt: FakeResponses = await startFakeResponses();
  const raw: ScriptedUpstream = await startScriptedUpstream();
  const opened: Bench[] = [];
  return {
    gpt,
    raw,
    /** A gateway whose model has these routes, and thinks where `more` sets nothing else. */
    open(upstreams: readonly UpstreamId[], more: Partial<CatalogModel> = {}, deps: Partial<GatewayDeps> = {}): Bench {
      const routes = upstreams.map((upstream) => ({ upstream, model: "gpt-9" }));
      const bench = openBench({
        models: [modelOf("acme/m", { routes, hiddenOutput: true, ...more })],
        upstreams: [
          upstreamOf("gpt", gpt.baseUrl, { kind: "openai-responses" }),
          upstreamOf("raw", raw.baseUrl, { kind: "openai-responses" }),
          upstreamOf("chat", raw.baseUrl),
        ],
        deps,
      });
      opened.push(bench);
      return bench;
    },
    async stop(): Promise<void> {
      await Promise.all(opened.map(({ upstreams }) => upstreams.close()));
      await gpt.stop();
      await raw.stop();
    },
  };
}

/** Keeps the bytes that pass. */
export class PassedBytes extends RpcOutput {
  readonly passed: Buffer[] = [];
  constructor() {
    super(AbortSignal.any([]));
  }
  override pass(bytes: Buffer, format: Parameters<RpcOutput["pass"]>[1]): boolean {
    this.passed.push(bytes);
    return super.pass(bytes, format);
  }
}

/** The outcome, or the error before an answer. */
export async function send({ gateway }: Bench, body: Json | string, output = new PassedBytes()): Promise<unknown> {
  const text = typeof body === "string" ? body : JSON.stringify({ model: "acme/m", ...body });
  const call = { requestId: uuidv7(), receivedAtMs: Date.now(), key: KEY, body: Buffer.from(text) };
  const keys = { takeSlot: () => Promise.resolve(RATE) };
  const deps = { gateway, keys, protocol: responsesProtocol };
  return answerConversation(deps, call, output).catch((error: unknown) => error);
}

export async function streamed(bench: Bench, body: Json) {
  const output = new PassedBytes();
  const work = send(bench, { ...body, stream: true }, output);
  const events = (await Array.fromAsync(output.eventsOf(work))) as Json[];
  return { events, bytes: Buffer.concat(output.passed).toString("utf8") };
}

/** The last request that the fake was sent. */
export const lastBody = ({ requests }: FakeResponses): Json => requests.at(-1)?.body ?? {};

export const TAG = customerTag(KEY.accountId);
export const HI: Json = { input: [{ role: "user", content: "hi" }] };
export const USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 5, of_next_month: 1 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 29,
};
export const ITEMS: readonly Json[] = [
  { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "gAAA-_=" },
  {
    id: "msg_1",
    type: "message",
    role: "assistant",
    phase: "final_answer",
    content: [{ type: "output_text", text: "é", annotations: [], of_next_month: [] }],
  },
];
/** A response of `raw`, with what stays here and what is not known yet. */
export const RESPONSE: Json = {
  id: "resp_theirs",
  object: "response",
  created_at: 1_790_000_000,
  model: "gpt-9-2026-01-01",
  status: "completed",
  output: ITEMS,
  metadata: {},
  max_output_tokens: 4_096,
  safety_identifier: TAG,
  prompt_cache_key: `${TAG}.mine`,
  billing: { payer: "developer" },
  service_tier: "default",
  of_next_month: [1],
  asked_by: { tag: TAG },
  run_by: ["gpt-9-mini"],
  usage: USAGE,
};
