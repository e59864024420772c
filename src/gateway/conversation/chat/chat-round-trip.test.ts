// A chat request, read into a conversation and written as one of chat, keeps every field that a conversation has.

import fc from "fast-check";
import { expect, it } from "vitest";
import { readRequest } from "../../request/read-request.ts";
import { readChatConversation } from "./read-chat-conversation.ts";
import { writeChatRequest } from "./write-chat-request.ts";

const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });
const name = fc.stringMatching(/^[a-zA-Z][\w-]{0,15}$/);
const schema = fc.record({ type: fc.constant("object"), properties: fc.dictionary(name, fc.record({ type: name })) });

const image = fc.record({
  type: fc.constant("image_url"),
  image_url: fc.record(
    {
      url: fc.oneof(fc.constant("data:image/png;base64,AAAA"), fc.constant("https://x.example/i.png")),
      detail: fc.constantFrom("low", "high", "auto"),
    },
    { requiredKeys: ["url"] },
  ),
});
const sound = fc.record({
  type: fc.constant("input_audio"),
  input_audio: fc.record({ data: fc.constant("AAAA"), format: fc.constantFrom("wav", "mp3") }),
});
const textPart = fc.record({ type: fc.constant("text"), text: words });
// Texts alone are written as one text.
const parts = fc
  .tuple(fc.array(textPart, { maxLength: 2 }), fc.oneof(image, sound), fc.array(fc.oneof(textPart, image)))
  .map(([before, media, behind]) => [...before, media, ...behind]);

/** A user's message, and an answer whose calls all have results. */
const step = fc.record({
  asked: fc.oneof(words, parts),
  said: fc.option(words),
  calls: fc.array(fc.record({ tool: name, args: fc.dictionary(name, words), result: words }), { maxLength: 3 }),
  noted: fc.option(words),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function messagesOf({ asked, said, calls, noted }: Step, turn: number): object[] {
  const ids = calls.map((_, index) => `call_${turn}_${index}`);
  const called = calls.map(({ tool, args }, index) => ({
    id: ids[index],
    type: "function",
    function: { name: tool, arguments: JSON.stringify(args) },
  }));
  const answer = { role: "assistant", content: said, ...(called.length === 0 ? {} : { tool_calls: called }) };
  return [
    { role: "user", content: asked },
    ...(said === null && called.length === 0 ? [] : [answer]),
    ...calls.map(({ result }, index) => ({ role: "tool", tool_call_id: ids[index], content: result })),
    ...(noted === null ? [] : [{ role: "system", content: noted }]),
  ];
}

const tools = fc.uniqueArray(
  fc
    .record(
      { name, description: words, parameters: schema, strict: fc.boolean() },
      { requiredKeys: ["name", "parameters"] },
    )
    .map((definition) => ({ type: "function", function: definition })),
  { minLength: 1, maxLength: 4, selector: (tool) => tool.function.name },
);
const choice = fc.oneof(
  fc.constantFrom("auto", "none", "required"),
  name.map((each) => ({ type: "function", function: { name: each } })),
);
const toolMembers = fc.oneof(
  fc.constant({}),
  fc.record({ tools, tool_choice: choice, parallel_tool_calls: fc.boolean() }, { requiredKeys: ["tools"] }),
);
const format = fc.oneof(
  fc.constant({ type: "json_object" }),
  fc
    .record({ name, schema, strict: fc.boolean() }, { requiredKeys: ["name", "schema"] })
    .map((each) => ({ type: "json_schema", json_schema: each })),
);
const settings = fc.record(
  {
    max_completion_tokens: fc.integer({ min: 1, max: 100_000 }),
    stop: fc.array(words, { minLength: 1, maxLength: 4 }),
    temperature: fc.constantFrom(0, 0.5, 2),
    top_p: fc.constantFrom(0, 0.5, 1),
    reasoning_effort: fc.constantFrom("none", "minimal", "low", "medium", "high", "xhigh"),
    response_format: format,
    prompt_cache_key: name,
  },
  { requiredKeys: [] },
);
const streaming = fc.constantFrom({}, { stream: true, stream_options: { include_usage: true } });

it("keeps every field of a request", () => {
  const request = fc.record({
    instructions: fc.option(words),
    steps: fc.array(step, { minLength: 1, maxLength: 4 }),
    toolMembers,
    settings,
    streaming,
  });
  fc.assert(
    fc.property(request, ({ instructions, steps, ...members }) => {
      const first = instructions === null ? [] : [{ role: "system", content: instructions }];
      const sent = {
        model: "acme/m",
        messages: [...first, ...steps.flatMap(messagesOf)],
        ...members.toolMembers,
        ...members.settings,
        ...members.streaming,
      };
      const { conversation, chatAlone } = readChatConversation(readRequest(Buffer.from(JSON.stringify(sent))));
      expect(chatAlone).toEqual([]);
      expect(JSON.parse(writeChatRequest(conversation).toString())).toEqual(sent);
    }),
  );
});
