import { describe, expect, it } from "vitest";
import { countTokens, estimateAnswer, estimateInput } from "./estimate.ts";
import { readRequest } from "./request/read-request.ts";

const SENTENCE = "Explain in plain words how money is set aside. ";

function requestOf(content: string) {
  return readRequest(Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content }] })));
}

/**
 * The most work for which nobody else had a turn; the least of three tries, since it is not the work that collects garbage. Each try
 * is told which it is: what a try has remembered must not help the next.
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
    expect(await estimateAnswer(Buffer.alloc(400_000, "x"))).toBe(100_000);
  });

  it("keeps nobody waiting, however large or unbroken the text is", async () => {
    await countTokens("the tokenizer is loaded");
    const huge = requestOf(SENTENCE.repeat(500_000));
    const unbroken = (attempt: number) =>
      Array.from({ length: 40_000 }, (_, at) => String.fromCharCode(0x4e00 + ((at * (7_919 + 2 * attempt)) % 9_000)));
    expect(await longestBlock(() => estimateInput(huge))).toBeLessThan(100);
    expect(await longestBlock((attempt) => countTokens(unbroken(attempt).join("")))).toBeLessThan(100);
  });
});
