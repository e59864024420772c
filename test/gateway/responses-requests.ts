// Requests of Responses as a client of the protocol writes them, and what an upstream of the protocol gets for their items.

import fc from "fast-check";
import type { Json } from "./fakes/responses-wire.ts";

export const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).filter((each) => each.isWellFormed());

/** The known members of a request, as a client of this protocol writes them. */
const inputPart = fc.oneof(
  text.map((said): Json => ({ type: "input_text", text: said })),
  fc.constant<Json>({ type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "high" }),
  fc.constant<Json>({ type: "input_image", image_url: "https://x.example/a.png" }),
  fc.constant<Json>({ type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" }),
);
const message = (role: string): fc.Arbitrary<Json> =>
  fc
    .array(
      role === "user"
        ? inputPart
        : text.map((said): Json => ({ type: role === "assistant" ? "output_text" : "input_text", text: said })),
      {
        minLength: 1,
        maxLength: 3,
      },
    )
    .map((content) => ({ type: "message", role, content }));
const toolOutput = fc.oneof(
  text.map((said): unknown => said),
  fc.array(inputPart, { minLength: 2, maxLength: 3 }),
);
/** Thinking, text and calls in one turn, with the results of the calls in their order. */
const step = fc
  .record({
    isThought: fc.boolean(),
    said: fc.option(message("assistant")),
    calls: fc.array(fc.tuple(fc.nat(2), text, toolOutput), { maxLength: 3 }),
  })
  .map(({ isThought, said, calls }) => (turn: number): Json[] => {
    const reasoning = {
      type: "reasoning",
      summary: [{ type: "summary_text", text: "hm" }],
      encrypted_content: "openai.gAAAA-_=",
    };
    const called = calls.map(([tool, input], at): Json => {
      const call_id = `call_${turn}_${at}`;
      if (tool === 1) return { type: "custom_tool_call", call_id, name: "apply_patch", input };
      const args = JSON.stringify({ input });
      if (tool === 2) return { type: "function_call", call_id, name: "wait", namespace: "agents", arguments: args };
      return { type: "function_call", call_id, name: "exec", arguments: args };
    });
    const results = calls.map(([tool, , result], at): Json => {
      const type = tool === 1 ? "custom_tool_call_output" : "function_call_output";
      return { type, call_id: `call_${turn}_${at}`, output: result };
    });
    const items = [...(said === null ? [] : [said]), ...called];
    return items.length === 0 ? [] : [...(isThought ? [reasoning] : []), ...items, ...results];
  });
export const TOOLS: readonly Json[] = [
  { type: "function", name: "exec", description: "Runs.", parameters: { type: "object" }, strict: true },
  {
    type: "custom",
    name: "apply_patch",
    description: "Edits.",
    format: { type: "grammar", syntax: "lark", definition: "start: X" },
  },
  {
    type: "namespace",
    name: "agents",
    description: "Agents.",
    tools: [{ type: "function", name: "wait", parameters: { type: "object" }, strict: false }],
  },
];
const request = fc.record({
  instructions: text,
  rounds: fc.array(
    fc.record({
      first: fc.constantFrom("user", "developer"),
      asked: message("user"),
      told: message("developer"),
      step,
    }),
    {
      minLength: 1,
      maxLength: 3,
    },
  ),
  members: fc.record(
    {
      tool_choice: fc.constantFrom<unknown>(
        "auto",
        "required",
        "none",
        { type: "function", name: "exec" },
        { type: "custom", name: "apply_patch" },
        { type: "function", name: "wait", namespace: "agents" },
      ),
      parallel_tool_calls: fc.boolean(),
      temperature: fc.constantFrom(0, 0.5, 2),
      top_p: fc.constantFrom(0, 0.9),
      reasoning: fc.record(
        { effort: fc.constantFrom("none", "low", "xhigh"), summary: fc.constantFrom("auto", "detailed") },
        { requiredKeys: ["effort"] },
      ),
      text: fc.constantFrom<Json>(
        { verbosity: "low" },
        { format: { type: "json_object" } },
        { format: { type: "json_schema", name: "a", schema: { type: "object" }, strict: true }, verbosity: "high" },
      ),
      prompt_cache_key: text.filter((each) => each.length <= 64),
      stream: fc.constant(true),
    },
    { requiredKeys: [] },
  ),
});

/** The members of a request, and what an upstream gets for its items. */
type Sent = { readonly sent: Json; readonly input: readonly Json[] };

export const sentRequest = request.map(({ instructions, rounds, members }): Sent => {
  const items = rounds.flatMap(({ first, asked, told, step: make }, turn) => [
    ...(first === "developer" && turn > 0 ? [told] : []),
    asked,
    ...make(turn),
  ]);
  const input = items.map((item): Json =>
    item["type"] === "reasoning" ? { ...item, encrypted_content: "gAAAA-_=" } : item,
  );
  return { sent: { instructions, input: items, tools: TOOLS, max_output_tokens: 64, ...members }, input };
});
