// What does not pass to an upstream of Responses as its client wrote it.

import { describe, expect, it } from "vitest";
import { ValidationError } from "../../../kernel/errors.ts";
import type { JsonObject } from "../../request/field-rules.ts";
import { responsesProtocol } from "./responses-protocol.ts";

function wrongFields(members: JsonObject): readonly string[] {
  const body = Buffer.from(JSON.stringify({ model: "acme/m", input: "hi", ...members }));
  const { native } = responsesProtocol.read(body);
  try {
    native?.check({ accepts: null, outputBound: 64 });
  } catch (error) {
    if (error instanceof ValidationError) return error.details.map(({ field, rule }) => `${field} ${rule}`);
    throw error;
  }
  return [];
}

describe("a request is refused by its field", () => {
  const item = (value: JsonObject): JsonObject => ({ input: [{ role: "user", content: "a" }, value] });
  const said = (part: JsonObject): JsonObject =>
    item({ role: "assistant", content: [{ type: "output_text", text: "a", ...part }] });
  const found = (...tools: JsonObject[]): JsonObject =>
    item({ type: "tool_search_output", execution: "client", call_id: "a", tools });

  it.each<[string, JsonObject]>([
    ["next_month unknown", { next_month: 1 }],
    ["top_k unknown", { top_k: 1 }],
    ["moderation unknown", { moderation: { model: "omni" } }],
    ["access_programs unknown", { access_programs: { cyber: "daybreak_red" } }],
    ["reasoning.budget unknown", { reasoning: { effort: "low", budget: 1 } }],
    ["reasoning.mode unpriced", { reasoning: { mode: "pro" } }],
    ["text.voice unknown", { text: { voice: "x" } }],
    ["stream_options.include_usage unknown", { stream_options: { include_usage: true } }],
    ["context_management unpriced", { context_management: [{ type: "compaction", compact_threshold: 1_000 }] }],
    ["Service_Tier spelling", { Service_Tier: "priority" }],
    ["\u017Ftore spelling", { "\u017Ftore": true }],
    ["MAX_OUTPUT_TOKENS spelling", { MAX_OUTPUT_TOKENS: 100_000 }],
    ["reasoning.Mode spelling", { reasoning: { Mode: "pro" } }],
    ["input[1].Type spelling", item({ role: "user", content: "a", Type: "item_reference" })],
    ["tools[0].Type spelling", { tools: [{ type: "function", name: "a", Type: "mcp" }] }],
    [
      "input[1].content[0].annotations[0].file_id stateless",
      said({ annotations: [{ type: "file_path", file_id: "f" }] }),
    ],
    ["input[1].content[0].container_id stateless", said({ container_id: "cntr_1" })],
    ["tools[0].container stateless", { tools: [{ type: "function", name: "a", container: "auto" }] }],
    ["tools[0].vector_store_ids stateless", { tools: [{ type: "function", name: "a", vector_store_ids: ["vs"] }] }],
    ["input[1].tools[0].type unpriced", found({ type: "mcp", server_label: "x" })],
    [
      "input[1].tools[1].tools[0].type unpriced",
      found({ type: "custom" }, { type: "namespace", tools: [{ type: "shell" }] }),
    ],
  ])("%s", (field, members) => {
    // A name in other letters is not known either.
    expect(wrongFields(members).filter((each) => each.endsWith("unknown") === field.endsWith("unknown"))).toEqual([
      field,
    ]);
  });

  it("unless it is known, or as good as absent", () => {
    expect(
      wrongFields({
        next_month: null,
        reasoning: { effort: "high", mode: "standard", context: "auto", new: null },
        context_management: [],
        metadata: { Model: "x", file_id: "mine" },
        client_metadata: { Type: "x" },
        tools: [
          { type: "function", name: "a", parameters: { Type: "object", properties: { file_id: {} } }, async: true },
        ],
        text: { format: { type: "json_schema", name: "a", schema: { Required: ["container"] } } },
        prompt_cache_retention: "in_memory",
        max_tool_calls: 3,
      }),
    ).toEqual([]);
  });
});
