import { CHAT_FORMAT } from "../formats/chat/chat-format.ts";
import { describe, expect, it } from "vitest";
import { countTokens, estimateAnswer, estimateInput } from "./estimate.ts";
import { readRequest } from "../request/read-request.ts";

const SENTENCE = "Explain in plain words how money is set aside. ";

function requestOf(content: string) {
  return readRequest(Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content }] })));
}

/**
 * The longest time in which no other work had a turn; the least of three tries, because garbage collection is not counted. Each
 * try gets its number: a try must not profit from the memory of the one before.
 */
async function longestBlock(work: (attempt: number) => Promise<unknown>): Promise<number> {
  const tries: number[] = [];
  for (let attempt = 0; attempt < 3; attempt += 1) tries.push(await longestBlockOf(() => work(attempt)));
  return Math.min(...tries);
}

/** Of one try, in milliseconds of this thread's own time. Others' load does not count. */
async function longestBlockOf(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = threadTime();
  let isOver = false;
  const turn = (): void => {
    const now = threadTime();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  await new Promise((resolve) => setImmediate(resolve));
  return longest;
}

function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

describe("an estimate", () => {
  it("is close to the tokens there are, also of text that is only sampled", async () => {
    const once = await countTokens(SENTENCE.repeat(20));
    const often = await countTokens(SENTENCE.repeat(20_000));
    expect(once).toBeGreaterThanOrEqual(20 * 10);
    expect(once).toBeLessThanOrEqual(20 * 11.5);
    expect(often / once).toBeGreaterThan(950);
    expect(often / once).toBeLessThan(1_050);
  });

  it("of a large body is made from its bytes, a quarter of the ASCII ones and half of the others", async () => {
    const request = requestOf("x".repeat(400_000) + "é".repeat(1_000));
    expect(await estimateInput(request)).toBe(Math.ceil(request.asciiBytes / 4 + request.otherBytes / 2) + 4);
    expect(await estimateAnswer(Buffer.alloc(400_000, "x"), CHAT_FORMAT)).toBe(100_000);
  });

  const longText = SENTENCE.repeat(100);
  const call = { id: "c", type: "custom", custom: { name: "say", input: longText } };
  it.each([
    ["tools", { tools: [{ type: "function", function: { name: "f", description: longText } }] }],
    ["functions", { functions: [{ name: "f", description: longText }] }],
    ["the schema of the answer", { response_format: { type: "json_schema", json_schema: { description: longText } } }],
    ["documents beside the messages", { documents: [{ title: "d", text: longText }] }],
    ["a system prompt of its own", { system: [{ type: "text", text: longText }] }],
    ["a template of the prompt", { chat_template: longText }],
    ["an unknown member", { of_tomorrow: { longText } }],
    [
      "thinking that a message repeats",
      { messages: [{ role: "assistant", content: "", thinking_blocks: [{ thinking: longText }] }] },
    ],
    [
      "a refusal among the parts",
      { messages: [{ role: "assistant", content: [{ type: "refusal", refusal: longText }] }] },
    ],
    ["calls of custom tools", { messages: [{ role: "assistant", tool_calls: [call] }] }],
  ])("of the input has %s in it", async (_name, more) => {
    const body = { model: "m", messages: [{ role: "user", content: "hi" }], ...more };
    const tokens = await estimateInput(readRequest(Buffer.from(JSON.stringify(body))));
    expect(tokens).toBeGreaterThan(950);
    expect(tokens).toBeLessThan(1_150);
  });

  it.each([
    ["stops", { stop: [longText] }],
    ["metadata", { metadata: { longText } }],
    ["the caller's name for a person", { user: longText }],
    ["how to reason", { reasoning: { effort: longText } }],
    ["a picture", { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: longText } }] }] }],
  ])("of the input has not %s in it, which no model reads as text", async (_name, more) => {
    const body = { model: "m", messages: [{ role: "user", content: "hi" }], ...more };
    expect(await estimateInput(readRequest(Buffer.from(JSON.stringify(body))))).toBeLessThan(20);
  });

  it("cannot be lowered by spaces where samples would be taken at fixed places", async () => {
    const dense = Array.from({ length: 40_000 }, (_, at) => String.fromCharCode(0x4e00 + ((at * 7_919) % 9_000)));
    const honest = await countTokens(dense.join(""));
    for (let slice = 0; slice < 64; slice += 1) dense.fill(" ", slice * 625, slice * 625 + 128);
    const holed = await countTokens(dense.join(""));
    // A fifth of it are spaces.
    expect(holed / honest).toBeGreaterThan(0.6);
    expect(holed / honest).toBeLessThan(1);
  });

  const answers = (more: object) =>
    Buffer.from(
      JSON.stringify({
        choices: Array.from({ length: 128 }, (_, index) => ({ index, ...more, finish_reason: "stop" })),
      }),
    );
  const message = { role: "assistant", content: SENTENCE.repeat(20) };
  const token = { token: " set", logprob: -0.1, bytes: [32, 115], top_logprobs: [{ token: " put", logprob: -3 }] };
  it.each<[string, object, number?]>([
    ["many short answers", { message }],
    ["answers with log probabilities", { message, logprobs: { content: Array.from({ length: 200 }, () => token) } }],
    ["answers of several parts", { message: { content: [{ type: "text", text: SENTENCE.repeat(20) }] } }],
    [
      "reasoning and its details",
      { message: { reasoning: message.content, reasoning_details: [{ text: message.content }] } },
    ],
    ["unknown members", { message: { thoughts: [message.content + message.content] } }, 2.4],
  ])("of a long answer has %s in it", async (_name, choice, most = 1.15) => {
    const json = answers(choice);
    expect(json.length).toBeGreaterThan(120_000);
    const filled = Buffer.concat([json, Buffer.alloc(20_000, " ")]);
    const tokens = await estimateAnswer(filled, CHAT_FORMAT);
    const there = 128 * 20 * 11;
    expect(tokens).toBeGreaterThan(there * 0.8);
    expect(tokens).toBeLessThan(there * most);
  });

  it("blocks no other work, however large or unbroken the text is", async () => {
    await countTokens("the tokenizer is loaded");
    const huge = requestOf(SENTENCE.repeat(500_000));
    const unbroken = (attempt: number) =>
      Array.from({ length: 40_000 }, (_, at) => String.fromCharCode(0x4e00 + ((at * (7_919 + 2 * attempt)) % 9_000)));
    expect(await longestBlock(() => estimateInput(huge))).toBeLessThan(100);
    expect(await longestBlock((attempt) => countTokens(unbroken(attempt).join("")))).toBeLessThan(100);
  });
});
