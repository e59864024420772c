import { CHAT_FORMAT } from "../formats/chat/chat-format.ts";
import { describe, expect, it } from "vitest";
import { estimateOutput } from "./estimate.ts";
import { RelayedOutput } from "./relayed-output.ts";

const WORDS = "saldo is kept in whole numbers and every request is paid from what was set aside for it before".split(
  " ",
);

function eventOf(delta: object): Buffer {
  const chunk = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta }],
  };
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
}
const role = eventOf({ role: "assistant", content: "" });
const empty = eventOf({ content: "" });
const word = (at: number) => eventOf({ content: ` ${WORDS[at % WORDS.length] ?? ""}` });
/** An event with so many words. */
const text = (words: number) =>
  eventOf({ content: Array.from({ length: words }, (_, at) => WORDS[at % WORDS.length]).join(" ") });
const many = (count: number, make: (at: number) => Buffer) => Array.from({ length: count }, (_, at) => make(at));
const call = eventOf({ tool_calls: [{ index: 0, function: { name: "write", arguments: "saldo ".repeat(3_700) } }] });

async function estimateOf(packets: readonly Buffer[]): Promise<number> {
  const output = new RelayedOutput(CHAT_FORMAT);
  for (const packet of packets) output.add(packet);
  const tokens = await output.estimateTokens();
  output.forget();
  return tokens;
}

async function tokensIn(packets: readonly Buffer[]): Promise<number> {
  return estimateOutput({ events: Buffer.concat(packets), scale: 1 }, CHAT_FORMAT);
}

describe("the tokens of what was relayed are estimated", () => {
  it.each([
    ["of a few words", many(5, word)],
    ["of more words than are kept", many(5_000, word)],
    ["when little comes first and much behind it", [...many(100, word), ...many(100, () => text(180))]],
    ["when much comes first and little behind it", [...many(100, () => text(180)), ...many(100, word)]],
    ["of two large events after one without text", [role, text(4_000), text(4_000)]],
    ["of a call of a tool in one event", [role, call]],
    ["of one large event and words behind it", [text(2_500), ...many(1_000, word)]],
    ["of words and one large event behind them", [...many(1_000, word), text(2_500)]],
    ["of packets of many events", [role, ...many(20, () => Buffer.concat(many(30, () => text(30))))]],
    ["of an empty event behind each word", many(3_000, (at) => (at % 2 === 0 ? text(8) : empty))],
    ["of an empty event before each word", many(3_000, (at) => (at % 2 === 1 ? text(8) : empty))],
    ["of words in every fourth event", many(4_000, (at) => (at % 4 === 2 ? text(8) : empty))],
    ["of packets of all sizes", many(400, (at) => (at % 7 === 0 ? text(150) : word(at)))],
  ])("%s", async (_, packets) => {
    const there = await tokensIn(packets);
    const estimate = await estimateOf(packets);
    expect(there).toBeGreaterThan(4);
    expect(estimate / there).toBeGreaterThan(0.85);
    expect(estimate / there).toBeLessThan(1.15);
  });

  it.each([0, 1, 2, 3])("roughly from a few of them, in whatever pattern they come: %i", async (turn) => {
    for (const count of [16, 64, 80, 3_000]) {
      const output = new RelayedOutput(CHAT_FORMAT);
      const packets = many(count, (at) => (at % 2 === turn % 2 ? text(8 + turn) : empty));
      for (const packet of packets) output.add(packet);
      const ratio = (await output.roughTokens()) / (await tokensIn(packets));
      expect(ratio).toBeGreaterThan(0.4);
      expect(ratio).toBeLessThan(1.8);
      const reported = Math.floor((await tokensIn(packets)) / 16);
      expect(output.mayExceedTwice(reported), `${reported} of ${count}`).toBe(true);
      output.forget();
    }
  });

  it("in parts, with the same sum", async () => {
    const packets = [...many(700, word), text(4_000), ...many(30, () => text(180))];
    const output = new RelayedOutput(CHAT_FORMAT);
    for (const [at, packet] of packets.entries()) {
      output.add(packet);
      if (at % 100 === 99) await output.estimateTokens();
    }
    const ratio = (await output.estimateTokens()) / (await tokensIn(packets));
    expect(ratio).toBeGreaterThan(0.85);
    expect(ratio).toBeLessThan(1.15);
    output.forget();
  });

  it("apart, when the memory of one stream is used by the next", async () => {
    const first = new RelayedOutput(CHAT_FORMAT);
    for (const packet of many(300, () => text(150))) first.add(packet);
    first.forget();
    first.forget();
    first.add(text(150));
    expect(await first.estimateTokens()).toBe(0);

    const [second, third] = [new RelayedOutput(CHAT_FORMAT), new RelayedOutput(CHAT_FORMAT)];
    for (const packet of many(40, word)) {
      second.add(packet);
      third.add(text(100));
    }
    const there = await tokensIn(many(40, word));
    expect(await second.estimateTokens()).toBe(there);
    expect(await third.estimateTokens()).toBeGreaterThan(there * 20);
    second.forget();
    third.forget();
  });
});
