// What of a reply is written within a bound, in the order in which it is written: thoughts, text, calls. The name of a call counts.

import type { WrittenCall } from "./demo-answer.ts";
import type { DemoReply } from "./demo-request.ts";
import { countDemoTokens, demoTokens } from "./demo-tokens.ts";

export type WrittenReply = {
  readonly thoughts: readonly string[];
  readonly text: readonly string[];
  readonly calls: readonly WrittenCall[];
  readonly tokens: number;
  /** Whether the bound has left something out. */
  readonly isCut: boolean;
};

/** `most`: tokens. */
export function writtenWithin(reply: DemoReply, most: number): WrittenReply {
  const thoughts = reply.thoughts.slice(0, most);
  const text = reply.text.slice(0, most - thoughts.length);
  let tokens = thoughts.length + text.length;
  let isCut = tokens < reply.thoughts.length + reply.text.length;
  const calls: WrittenCall[] = [];
  for (const { name, arguments: input } of reply.calls) {
    const wanted = demoTokens(input);
    const nameTokens = countDemoTokens(name);
    const room = most - tokens;
    if (isCut || room < nameTokens) {
      isCut = true;
      break;
    }
    const pieces = wanted.slice(0, room - nameTokens);
    calls.push({ name, pieces });
    tokens += nameTokens + pieces.length;
    isCut = pieces.length < wanted.length;
  }
  return { thoughts, text, calls, tokens, isCut };
}
