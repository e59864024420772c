import { describe, expect, it } from "vitest";
import { RateLimited, TooManyRequests } from "../../kernel/errors.ts";
import { COUNTED_BYTES_IN_A_MINUTE, COUNTS_IN_A_MINUTE, createCountWindows } from "./count-window.ts";

const AGENTS_PROMPT = 200 * 1_024;

describe("the windows of counts", () => {
  it("have 300 calls a minute for each key, also where all of them are of an agent's size", () => {
    let now = 0;
    const windows = createCountWindows({ clock: { now: () => now } });
    const count = (keyId: string) => {
      windows.takeCountSlot(keyId);
      windows.takeCountedBytes(keyId, AGENTS_PROMPT);
    };
    for (let call = 0; call < COUNTS_IN_A_MINUTE; call += 1) count("a");
    now = 59_001;
    expect(() => count("a")).toThrow(RateLimited);
    expect(() => count("a")).toThrow("This key allows 300 requests a minute. Try again in 1 seconds.");
    expect(() => count("b")).not.toThrow();
    now = 60_000;
    expect(() => count("a")).not.toThrow();
  });

  it("bound the bytes apart, and then refuse a call before it is read", () => {
    let now = 0;
    const windows = createCountWindows({ clock: { now: () => now } });
    const large = COUNTED_BYTES_IN_A_MINUTE / 2;
    windows.takeCountedBytes("a", large);
    windows.takeCountedBytes("a", large - 1);
    expect(() => windows.takeCountSlot("a")).not.toThrow();
    expect(() => windows.takeCountedBytes("a", 2)).toThrow(TooManyRequests);
    expect(() => windows.takeCountSlot("a")).toThrow(
      "Too many large prompts were counted with this key. Try again in 60 seconds.",
    );
    expect(() => windows.takeCountSlot("b")).not.toThrow();
    now = 60_000;
    expect(() => windows.takeCountSlot("a")).not.toThrow();
  });
});
