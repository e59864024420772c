import { CHAT_FORMAT } from "../formats/chat/chat-format.ts";
import { describe, expect, it } from "vitest";
import { UsageSeen } from "./usage-seen.ts";

describe("UsageSeen", () => {
  it("keeps the last value of each field and never erases what a later object lacks", () => {
    const seen = new UsageSeen(CHAT_FORMAT);
    seen.add({
      prompt_tokens: 900,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: 800, audio_tokens: 0 },
    });
    seen.add({ completion_tokens: 7, prompt_tokens: null, prompt_tokens_details: { audio_tokens: 4 } });
    expect(seen.usage).toEqual({
      prompt_tokens: 900,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 800, audio_tokens: 4 },
    });
  });

  it("neither adds counts up nor keeps the larger one", () => {
    const seen = new UsageSeen(CHAT_FORMAT);
    seen.add({ input_tokens: 100, cache_read_input_tokens: 50, output_tokens: 9 });
    seen.add({ input_tokens: 50, cache_read_input_tokens: 50, output_tokens: 8 });
    expect(seen.usage).toEqual({ input_tokens: 50, cache_read_input_tokens: 50, output_tokens: 8 });
  });

  it("drops a total that belonged to older counts", () => {
    const seen = new UsageSeen(CHAT_FORMAT);
    seen.add({ prompt_tokens: 10, completion_tokens: 0, total_tokens: 110 });
    seen.add({ prompt_tokens: 10, completion_tokens: 5 });
    expect(seen.usage).toEqual({ prompt_tokens: 10, completion_tokens: 5 });
  });

  it("is stale while more of the answer came behind it, and nothing is stale before the first usage", () => {
    const seen = new UsageSeen(CHAT_FORMAT);
    seen.outputFollowed();
    expect(seen).toMatchObject({ usage: null, isStale: false });
    seen.add({ prompt_tokens: 1 });
    seen.outputFollowed();
    expect(seen.isStale).toBe(true);
    seen.add({ completion_tokens: 1 });
    expect(seen).toMatchObject({ isStale: false, usage: { prompt_tokens: 1, completion_tokens: 1 } });
  });

  it("takes a member by the name of the prototype for a member", () => {
    const seen = new UsageSeen(CHAT_FORMAT);
    seen.add(JSON.parse('{"__proto__":{"completion_tokens":9},"prompt_tokens":1}') as Record<string, unknown>);
    seen.add({ prompt_tokens: 2 });
    expect(seen.usage?.["completion_tokens"]).toBeUndefined();
    expect(Object.getPrototypeOf(seen.usage)).toBe(Object.prototype);
  });
});
