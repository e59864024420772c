import { describe, expect, it } from "vitest";
import { readRequest } from "../../request/read-request.ts";
import { readChatConversation } from "./read-chat-conversation.ts";

const HI = { role: "user", content: "hi" };
const LOOK = { type: "function", function: { name: "look", parameters: { type: "object" } } };
const call = (id: string) => ({ id, type: "function", function: { name: "look", arguments: "{}" } });

/** The fields of a request that has them in place of, or beside, its least members. */
function fieldsOf(more: object): string[] {
  const request = readRequest(Buffer.from(JSON.stringify({ model: "acme/m", messages: [HI], ...more })));
  return readChatConversation(request).chatAlone.map(({ field }) => field);
}

describe("what only chat has", () => {
  it.each<[object, string[]]>([
    [{ n: 2 }, ["n"]],
    [{ n: 1, logprobs: false, logit_bias: {}, frequency_penalty: 0, modalities: ["text"] }, []],
    [{ n: null, logprobs: null }, []],
    [{ logprobs: true, logit_bias: { 1: 1 } }, ["logprobs", "logit_bias"]],
    [{ frequency_penalty: 0.1, presence_penalty: -1 }, ["frequency_penalty", "presence_penalty"]],
    [{ modalities: ["text", "image"] }, ["modalities"]],
    [{ response_format: { type: "grammar" } }, ["response_format.type"]],
    [{ tools: [LOOK], tool_choice: { type: "allowed_tools", allowed_tools: {} } }, ["tool_choice"]],
    [{ tools: [LOOK], tool_choice: "sometimes" }, ["tool_choice"]],
    [
      { messages: [{ role: "user", content: [{ type: "video_url", video_url: { url: "https://x.example/v" } }] }] },
      ["messages[0].content[0].type"],
    ],
    [
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "gs://bucket/i" } }] }] },
      ["messages[0].content[0].image_url.url"],
    ],
    [
      { messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "AA" } }] }] },
      ["messages[0].content[0].input_audio.format"],
    ],
    [
      { messages: [{ role: "system", content: [{ type: "image_url", image_url: { url: "https://x.example/i" } }] }] },
      ["messages[0].content"],
    ],
    [{ messages: [HI, { role: "tool", tool_call_id: "a", content: "1" }] }, ["messages[1].tool_call_id"]],
    [{ messages: [HI, { role: "function", name: "look", content: "1" }] }, ["messages[1].name"]],
    [
      { messages: [HI, { role: "assistant", tool_calls: [call("a"), call("a"), call("")] }] },
      ["messages[1].tool_calls[1].id", "messages[1].tool_calls[2].id"],
    ],
    [
      { messages: [HI, { role: "assistant", tool_calls: [{ id: "a", type: "computer" }] }] },
      ["messages[1].tool_calls[0].type"],
    ],
    [
      {
        messages: [
          HI,
          { role: "assistant", tool_calls: [call("a")] },
          {
            role: "tool",
            tool_call_id: "a",
            content: [{ type: "input_audio", input_audio: { data: "AA", format: "wav" } }],
          },
        ],
      },
      ["messages[2].content"],
    ],
  ])("is named in %o", (sent, fields) => {
    expect(fieldsOf(sent)).toEqual(fields);
  });

  it("is named up to twenty times", () => {
    const messages = Array.from({ length: 50 }, () => ({ role: "tool", tool_call_id: "a", content: "1" }));
    expect(fieldsOf({ messages })).toHaveLength(20);
  });
});
