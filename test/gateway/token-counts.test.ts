// How close the free counts of tokens are to those of providers, and to an independent tokenizer: at most 2 % below and 15 % above.
// Agents decide by these counts when to shorten a conversation. `fixtures/token-counts.md` has the sources.

import { afterAll, expect, it } from "vitest";
import { countContents } from "../../src/gateway/conversation/gemini/count-contents.ts";
import { countMessages } from "../../src/gateway/conversation/messages/count-tokens.ts";
import { countResponsesInput } from "../../src/gateway/conversation/responses/count-input.ts";
import { COUNTED_TEXTS } from "./counted-texts.ts";
import { PUBLISHED_COUNTS, type PublishedCount } from "./published-counts.ts";

const LEAST = 0.98;
const MOST = 1.15;
/** Of a request with a dozen tokens these are more than the shares. */
const FEWER_TOKENS = 2;
const MORE_TOKENS = 5;

const rows: string[] = [];
afterAll(() => process.stdout.write(`${rows.join("\n")}\n`));

/** The least and the most that a count may be, with a line for the table. */
function rangeOf(name: string, counted: number, truth: number): { readonly least: number; readonly most: number } {
  rows.push(`${name.padEnd(56)} ${String(truth).padStart(6)} ${String(counted).padStart(6)}`);
  const least = Math.min(Math.floor(truth * LEAST), truth - FEWER_TOKENS);
  return { least, most: Math.max(Math.ceil(truth * MOST), truth + MORE_TOKENS) };
}

async function countOf({ protocol, body }: Pick<PublishedCount, "protocol" | "body">): Promise<number> {
  if (protocol === "gemini") return countContents(Buffer.from(JSON.stringify(body)), "acme/m");
  const bytes = Buffer.from(JSON.stringify({ model: "acme/m", ...body }));
  return protocol === "messages" ? countMessages(bytes) : (await countResponsesInput(bytes)).input_tokens;
}

it.each(PUBLISHED_COUNTS)(
  "a count is close to the published $tokens of $source",
  async ({ source, tokens, ...asked }) => {
    const counted = await countOf(asked);
    const { least, most } = rangeOf(source, counted, tokens);
    expect(counted).toBeGreaterThanOrEqual(least);
    expect(counted).toBeLessThanOrEqual(most);
  },
);

/** What is counted around the text of one turn. */
const AROUND = 7;

it.each(COUNTED_TEXTS)(
  "a count of $kind is close to that of an independent tokenizer",
  async ({ kind, text, tokens }) => {
    const body = { messages: [{ role: "user", content: text }] };
    const counted = (await countOf({ protocol: "messages", body })) - AROUND;
    const { least, most } = rangeOf(kind, counted, tokens);
    expect(counted).toBeGreaterThanOrEqual(least);
    expect(counted).toBeLessThanOrEqual(most);
  },
);

it("a count of a long conversation is close to the sum of its parts, the same each time", async () => {
  const texts = Array.from({ length: 20 }, () => COUNTED_TEXTS).flat();
  const truth = texts.reduce((sum, { tokens }) => sum + tokens, 0);
  const body = { messages: [{ role: "user", content: texts.map(({ text }) => ({ type: "text", text })) }] };
  const [counted = 0, ...others] = await Promise.all([1, 2, 3].map(() => countOf({ protocol: "messages", body })));
  expect(others).toEqual([counted, counted]);
  const { least, most } = rangeOf("all texts, twenty times", counted - AROUND, truth);
  expect(counted - AROUND).toBeGreaterThanOrEqual(least);
  expect(counted - AROUND).toBeLessThanOrEqual(most);
});
