// The same bounds as in meter.test.ts, with the real readers of what a client was given: of a stream and of a whole answer.

import { CHAT_FORMAT } from "../formats/chat/chat-format.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { outputTokensOf } from "../../billing/cost.ts";
import { RelayedOutput } from "./relayed-output.ts";
import { scanObject } from "../request/json-scan.ts";
import { eventOf } from "../stream/sse.ts";
import { meter } from "./meter.ts";
import type { RelayedTokens } from "./relayed-tokens.ts";
import { relayedAnswer } from "./relayed-answer.ts";
import { UsageSeen } from "./usage-seen.ts";

/** A token each by our tokenizer. */
const WORDS = [" the", " quick", " brown", " fox", " jumps", " over", " lazy", " dog", " and", " runs"];
const textOf = (tokens: number): string[] => Array.from({ length: tokens }, (_, at) => WORDS[at % 10] ?? "");
/** Our count of a text differs by so much at most: it is counted in slices, and of long text only some of them. */
const TOLERANCE = 0.08;

const READERS: Readonly<Record<string, (tokens: number, inEvent: number) => RelayedTokens>> = {
  "a stream": (tokens, inEvent) => {
    const output = new RelayedOutput(CHAT_FORMAT);
    const words = textOf(tokens);
    for (let at = 0; at < words.length; at += inEvent) {
      const content = words.slice(at, at + inEvent).join("");
      output.add(eventOf(JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })));
    }
    return output;
  },
  "a whole answer": (tokens) => {
    const message = { role: "assistant", content: textOf(tokens).join("") };
    const json = Buffer.from(JSON.stringify({ choices: [{ index: 0, message, finish_reason: "stop" }] }));
    return relayedAnswer({ json, output: scanObject(json).members.get("choices") }, CHAT_FORMAT);
  },
};

const played = fc.record({
  tokens: fc.oneof(fc.nat({ max: 100 }), fc.nat({ max: 6_000 })),
  inEvent: fc.integer({ min: 1, max: 40 }),
  reported: fc.oneof(fc.constant(null), fc.nat({ max: 200 }), fc.nat({ max: 12_000 })),
  bound: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 8_000 })),
  isComplete: fc.boolean(),
});

describe.each(Object.entries(READERS))("the output of %s that was really read", (_name, read) => {
  it("is billed between what was relayed and its bound, as far as bytes show it", async () => {
    await fc.assert(
      fc.asyncProperty(played, async ({ tokens, inEvent, reported, bound, isComplete }) => {
        const usage = { prompt_tokens: 10, ...(reported === null ? {} : { completion_tokens: reported }) };
        const { counts, isEstimated } = await meter(UsageSeen.of(usage, CHAT_FORMAT), {
          bounds: { input: 1_000, output: bound },
          isComplete,
          relayed: read(tokens, inEvent),
          estimateInput: () => Promise.resolve(10),
          assumeCached: () => 0,
        });
        const billed = outputTokensOf(counts);
        const most = Math.max(bound, tokens * (1 + TOLERANCE) + 16);
        // English has four and a half bytes for a token: a report is looked at from eight on, and used down to half of ours.
        const least = Math.min(tokens * (1 - TOLERANCE) - 64, bound);
        if (isEstimated) return billed <= most && billed >= least;
        return billed <= most && billed >= Math.min(reported ?? 0, bound) && billed >= tokens / 2 - 640;
      }),
      { numRuns: 300 },
    );
  });

  it("counts a text within the tolerance, however it was cut into events", async () => {
    for (const tokens of [50, 700, 6_000, 40_000]) {
      const counted = await read(tokens, 1 + (tokens % 7)).estimateTokens();
      expect(Math.abs(counted / tokens - 1), `${counted} of ${tokens}`).toBeLessThan(TOLERANCE);
    }
  });
});
