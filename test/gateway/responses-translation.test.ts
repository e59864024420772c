// Whatever a client of Responses sends reaches the upstream: from the body over the conversation to the chat request.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writeChatRequest } from "../../src/gateway/conversation/chat/write-chat-request.ts";
import { flatName } from "../../src/gateway/conversation/conversation.ts";
import { readResponsesRequest } from "../../src/gateway/conversation/responses/read-responses-request.ts";
import type { JsonObject } from "../../src/gateway/request/field-rules.ts";
import { readRequest } from "../../src/gateway/request/read-request.ts";

type Message = {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[];
};
type ChatBody = { readonly messages: readonly Message[] } & JsonObject;

const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).filter((text) => text.trim() !== "");
const name = fc.stringMatching(/^[a-z][a-z0-9]{0,9}$/);
const schema = fc.record({ type: fc.constant("object"), description: words });

const functionTool = fc.record({ type: fc.constant("function"), name, description: words, parameters: schema });
const customTool = fc.record({ type: fc.constant("custom"), name, description: words });
const ownTools = fc.uniqueArray(fc.oneof(functionTool, customTool), { selector: (tool) => tool.name, maxLength: 5 });
const namespaceTool = fc.record({
  type: fc.constant("namespace"),
  name: name.map((each) => `ns-${each}`),
  description: words,
  tools: ownTools.filter((tools) => tools.length > 0),
});
const tools = fc
  .tuple(ownTools, fc.uniqueArray(namespaceTool, { selector: (tool) => tool.name, maxLength: 2 }))
  .map(([own, spaces]) => [...own, ...spaces, { type: "web_search" }, { type: "tool_search" }]);

/** A step of a conversation: the text of one side, or calls with their results in some order. */
const step = fc.oneof(
  fc.record({ role: fc.constantFrom("user", "assistant", "developer", "system"), text: words }),
  fc.record({
    calls: fc.array(fc.record({ name, input: words, result: words, isCustom: fc.boolean() }), {
      minLength: 1,
      maxLength: 3,
    }),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The items of the steps. Results come in the reverse order of their calls. */
function itemsOf(steps: readonly Step[]): object[] {
  return steps.flatMap((each, turn): object[] => {
    if ("role" in each) {
      const type = each.role === "assistant" ? "output_text" : "input_text";
      return [{ type: "message", role: each.role, content: [{ type, text: each.text }] }];
    }
    const calls = each.calls.map((call, index) => ({ ...call, id: `call_${turn}_${index}` }));
    return [
      ...calls.map(({ id, name: tool, input, isCustom }) =>
        isCustom
          ? { type: "custom_tool_call", call_id: id, name: tool, input }
          : { type: "function_call", call_id: id, name: tool, arguments: JSON.stringify({ words: input }) },
      ),
      ...calls.toReversed().map(({ id, result, isCustom }) => ({
        type: isCustom ? "custom_tool_call_output" : "function_call_output",
        call_id: id,
        output: result,
      })),
    ];
  });
}

const settings = fc.record(
  {
    instructions: words,
    max_output_tokens: fc.integer({ min: 1, max: 100_000 }),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    top_p: fc.double({ min: 0, max: 1, noNaN: true }),
    reasoning: fc.record({ effort: fc.constantFrom("minimal", "low", "medium", "high"), summary: fc.constant("auto") }),
    text: fc.record({ format: fc.record({ type: fc.constant("json_schema"), name, schema, strict: fc.boolean() }) }),
    prompt_cache_key: name,
    parallel_tool_calls: fc.boolean(),
    tool_choice: fc.constantFrom("auto", "none"),
    stream: fc.boolean(),
    store: fc.boolean(),
    client_metadata: fc.constant({ session: "1" }),
  },
  { requiredKeys: [] },
);

function translated(body: JsonObject) {
  const { conversation } = readResponsesRequest(body);
  const chat = writeChatRequest(conversation);
  expect(readRequest(chat).model).toBe("acme/large");
  return { conversation, chat: JSON.parse(chat.toString("utf8")) as ChatBody };
}

describe("a Responses request", () => {
  it("keeps every text, call and result on its way to the upstream", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), tools, (steps, declared) => {
        const hi = { role: "user", content: "hi" };
        const { chat } = translated({ model: "acme/large", input: [hi, ...itemsOf(steps)], tools: declared });
        const sent = JSON.stringify(chat.messages);
        const said = steps.flatMap((each) => ("role" in each ? [JSON.stringify(each.text).slice(1, -1)] : []));
        expect(said.filter((text) => !sent.includes(text))).toEqual([]);
        const called = steps.flatMap((each, turn) =>
          "role" in each ? [] : each.calls.map((call, index) => ({ ...call, id: `call_${turn}_${index}` })),
        );
        const calls = chat.messages.flatMap((message) => message.tool_calls ?? []);
        expect(calls.map(({ id, function: { name: tool } }) => [id, tool])).toEqual(
          called.map((call) => [call.id, call.name]),
        );
        for (const call of called) {
          const args = JSON.parse(calls.find(({ id }) => id === call.id)?.function.arguments ?? "") as JsonObject;
          // A function call of a tool that is declared freeform by now: its arguments are the text of that tool.
          const isFreeformNow = declared.some(
            (tool) => tool.type === "custom" && "name" in tool && tool.name === call.name,
          );
          const asText = !call.isCustom && isFreeformNow ? JSON.stringify({ words: call.input }) : call.input;
          expect(Object.values(args)).toContain(asText);
          expect(chat.messages.find((message) => message.tool_call_id === call.id)?.content).toBe(call.result);
        }
      }),
    );
  });

  it("keeps every tool under a name of its own", () => {
    fc.assert(
      fc.property(tools, (declared) => {
        const { conversation, chat } = translated({ model: "acme/large", input: "hi", tools: declared });
        const expected = declared.flatMap((tool) => {
          if ("tools" in tool) return tool.tools.map((each) => `${tool.name}__${each.name}`);
          return "name" in tool ? [tool.name] : [];
        });
        expect(conversation.tools.map(flatName)).toEqual(expected);
        const sent = (chat["tools"] ?? []) as readonly { function: { name: string; parameters: JsonObject } }[];
        expect(sent.map((tool) => tool.function.name)).toEqual(expected);
        expect(sent.every((tool) => tool.function.parameters["type"] === "object")).toBe(true);
      }),
    );
  });

  it("keeps every setting that chat has", () => {
    fc.assert(
      fc.property(settings, (asked) => {
        const look = { type: "function", name: "look", parameters: { type: "object" } };
        const { conversation, chat } = translated({ model: "acme/large", input: "hi", tools: [look], ...asked });
        expect(chat).toMatchObject({
          ...(asked.max_output_tokens === undefined ? {} : { max_completion_tokens: asked.max_output_tokens }),
          ...(asked.temperature === undefined ? {} : { temperature: asked.temperature }),
          ...(asked.top_p === undefined ? {} : { top_p: asked.top_p }),
          ...(asked.reasoning === undefined ? {} : { reasoning_effort: asked.reasoning.effort }),
          ...(asked.prompt_cache_key === undefined ? {} : { prompt_cache_key: asked.prompt_cache_key }),
          ...(asked.parallel_tool_calls === undefined ? {} : { parallel_tool_calls: asked.parallel_tool_calls }),
          ...(asked.tool_choice === undefined ? {} : { tool_choice: asked.tool_choice }),
          ...(asked.stream === true ? { stream: true } : {}),
        });
        const { type: _type, ...format } = asked.text?.format ?? { type: "" };
        const expected = asked.text === undefined ? undefined : { type: "json_schema", json_schema: format };
        expect(chat["response_format"]).toEqual(expected);
        expect(conversation.system.map(({ text }) => text)).toEqual(
          asked.instructions === undefined ? [] : [asked.instructions],
        );
        expect(JSON.stringify(chat)).not.toContain("client_metadata");
      }),
    );
  });
});
