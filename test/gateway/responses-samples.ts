// An answer of Responses, its usage as the provider has it and as it is billed, for the tests of the format.

import type { AnswerStream } from "../../src/gateway/formats/answer-format.ts";
import { RESPONSES_FORMAT } from "../../src/gateway/formats/responses/responses-format.ts";
import type { BilledUsage } from "../../src/gateway/metering/bill.ts";
import type { Json } from "./fakes/responses-wire.ts";

export const NAMES = { id: "resp_ours", model: "acme/gpt" };
export const USAGE = {
  input_tokens: 150,
  input_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 157,
};
export const BILLED: BilledUsage = {
  counts: { inputTokensUncached: 100, inputTokensCached: 30, outputTokens: 7, otherTokens: { cacheWrite: 20 } },
  basis: "exact",
  clamped: false,
  settled: { cost: 1_500_000n, charge: 1_500_000n },
  reasoningTokens: 2,
  isAsReported: true,
};
export const OWN_COUNTS = { ...BILLED, isAsReported: false };
export const REASONING = {
  id: "rs_1",
  type: "reasoning",
  summary: [{ type: "summary_text", text: "hm" }],
  encrypted_content: "Sealed",
};
export const messageOf = (text: string): Json => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});
export const CALL = {
  id: "fc_1",
  type: "function_call",
  call_id: "call_1",
  name: "look",
  arguments: '{"at":1}',
  status: "completed",
};
export const PATCH = {
  id: "ctc_1",
  type: "custom_tool_call",
  call_id: "call_2",
  name: "patch",
  input: "*** é",
  status: "completed",
};
export const responseOf = (output: readonly Json[], more: Json = {}): Json => ({
  id: "theirs",
  object: "response",
  created_at: 1_790_000_000,
  model: "gpt-1",
  status: "completed",
  error: null,
  incomplete_details: null,
  safety_identifier: "customer-1",
  output,
  extra: 1,
  usage: USAGE,
  ...more,
});
/** A stream that shows our names. */
export const open = (): AnswerStream => RESPONSES_FORMAT.openStream({ names: NAMES, wantsUsage: false });
/** The events of bytes. */
export const parsed = (bytes: Buffer): Json[] =>
  RESPONSES_FORMAT.chunksIn(bytes).map((json) => JSON.parse(json) as Json);
/** What a reader finds in bytes. */
export const readAll = (bytes: Buffer) => {
  const reader = RESPONSES_FORMAT.openReader("gpt");
  return [...parsed(bytes).flatMap((event) => reader.read(event)), ...reader.end()];
};
